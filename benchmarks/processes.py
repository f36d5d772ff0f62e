"""Finds the programs of a cluster on this machine, and reads what they have spent."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

METRICS_SERVER = "metrics-server"
_PROGRAMS = ("kube-apiserver", "etcd", "kube-controller-manager", "kube-scheduler", METRICS_SERVER)
_FLAG = re.compile(r"--([a-z-]+)[= ](\S+)")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")

CONTROLLER, KUBELET = "kwok-controller", "kwok-kubelet"


def programs(port: int) -> dict[str, int]:
    """Return the pids of the programs whose API server listens on this port of this machine.

    They are recognized by their flags, so it does not matter what has started them, or where.
    """
    running = list(_command_lines())
    found: dict[str, int] = {}
    etcd = ""
    for pid, words in running:
        flags = dict(_FLAG.findall(" ".join(words)))
        if _name(words) == "kube-apiserver" and flags.get("secure-port") == str(port):
            found["kube-apiserver"], etcd = pid, flags.get("etcd-servers", "")
    for pid, words in running:
        line = " ".join(words)
        name = _name(words)
        if name == "etcd" and etcd and etcd in line:
            found[name] = pid
        elif name != "etcd" and _talks_to(dict(_FLAG.findall(line)).get("kubeconfig", ""), port):
            if name in _PROGRAMS:
                found[name] = pid
            elif "kwokctl.kubelet" in line:
                found[KUBELET] = pid
            elif "controller" in line:
                found[CONTROLLER] = pid
    return found


def cpu_seconds(pid: int) -> float:
    """Return what a process has spent, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def resident_bytes(pid: int) -> int:
    """Return how much memory a process holds now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


def peak_bytes(pid: int) -> int:
    """Return how much memory a process has held at most."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def _name(words: list[str]) -> str:
    return Path(words[0]).name


def _command_lines() -> Iterator[tuple[int, list[str]]]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words[0]:
            yield int(folder.name), words[:-1]


def _talks_to(kubeconfig: str, port: int) -> bool:
    try:
        return bool(kubeconfig) and f":{port}" in Path(kubeconfig).read_text()
    except OSError:
        return False

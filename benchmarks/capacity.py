"""What clusters of some sizes need: etcd's file and the memory of each program.

    python -m benchmarks.capacity [--nodes 2000 5000 10000] [--pods 20000 50000 100000]

Prints, after each step, the figures beside those that `kwokctl plan` estimates, so that the constants
of `kwokctl/clusters/capacity.py` can be fitted again. A step is followed for half a minute, since
programs continue to write and collect after it; the largest figure counts.
"""

import argparse
import asyncio
import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.cluster import KWOKCTL
from benchmarks.processes import CONTROLLER, KUBELET, programs, resident_bytes
from benchmarks.report import Row, report
from benchmarks.scale import cluster_of_its_own
from kwokctl.clusters.capacity import Fleet
from kwokctl.etcd.etcd3_client import EtcdClient
from kwokctl.kube.kubeconfig.access import load_access

_FOLLOWED = 30.0
"""Seconds after a step."""
_SET = "capacity"


@dataclass(slots=True)
class Needs:
    """The largest figures of a step, in bytes."""

    etcd: int = 0
    apiserver: int = 0
    controller: int = 0
    kubelet: int = 0
    others: int = 0

    def include(self, sizes: dict[str, int], etcd: int) -> None:
        """Take note of one look."""
        known = {"kube-apiserver", CONTROLLER, KUBELET}
        others = sum(size for name, size in sizes.items() if name not in known)
        self.etcd = max(self.etcd, etcd)
        self.apiserver = max(self.apiserver, sizes["kube-apiserver"])
        self.controller = max(self.controller, sizes[CONTROLLER])
        self.kubelet = max(self.kubelet, sizes.get(KUBELET, 0))
        self.others = max(self.others, others)


async def _follow(kubeconfig: Path) -> Needs:
    running = programs(urlsplit(load_access(kubeconfig).server).port or 443)
    needs = Needs()
    end = time.monotonic() + _FOLLOWED
    async with EtcdClient(f"unix:{kubeconfig.parent}/run/etcd.sock") as etcd:
        while time.monotonic() < end:
            sizes = {name: resident_bytes(pid) for name, pid in running.items()}
            needs.include(sizes, (await etcd.status()).db_size)
            await asyncio.sleep(1)
    return needs


def _kwokctl(folder: Path, *words: str) -> str:
    command = ("env", f"KWOK_WORKDIR={folder}", *KWOKCTL, "--name=bench", *words)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _step(kubeconfig: Path, fleet: Fleet, words: tuple[str, ...]) -> None:
    folder = kubeconfig.parents[2]
    _kwokctl(folder, "scale", *words, "--wait=30m")
    needs = asyncio.run(_follow(kubeconfig))
    words = ("plan", f"--nodes={fleet.nodes}", f"--pods={fleet.pods}", "--placed", "-o", "json")
    estimated = json.loads(_kwokctl(folder, *words))
    figures = (
        ("etcd's file", needs.etcd, estimated["etcdBytes"]),
        ("memory: kube-apiserver", needs.apiserver, estimated["apiserverMemory"]),
        ("memory: kwok-controller", needs.controller, estimated["controllerMemory"]),
        ("memory: kwok-kubelet", needs.kubelet, estimated["kubeletMemory"]),
        ("memory: the others", needs.others, estimated["othersMemory"]),
    )
    rows = [Row(what, found / 1e6, "MB", goal=goal / 1e6) for what, found, goal in figures]
    report(f"{fleet.nodes:,} nodes and {fleet.pods:,} pods; the goal is the estimate", rows)


def main() -> None:
    """Make a cluster larger step by step."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, nargs="*", default=[2_000, 5_000, 10_000])
    parser.add_argument("--pods", type=int, nargs="*", default=[20_000, 50_000, 100_000])
    options = parser.parse_args()
    with cluster_of_its_own() as kubeconfig:
        for nodes in options.nodes:
            words = ("node", _SET, f"--replicas={nodes}")
            _step(kubeconfig, Fleet(nodes=nodes, pods=0), words)
        for pods in options.pods:
            fleet = Fleet(nodes=max(options.nodes, default=0), pods=pods)
            _step(kubeconfig, fleet, ("pod", _SET, f"--replicas={pods}", "--on-nodes="))


if __name__ == "__main__":
    main()

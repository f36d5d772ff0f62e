"""Faults of a real cluster that a test describes by what a node is to say of them: each is of a class of its own."""

from collections.abc import Sequence
from itertools import count
from typing import Any

from kwokctl.faults.overlays.open_entries import OPEN_FAULTS, OpenEntry
from tests.support.injected import phase
from tests.support.installed import Installed, until

_numbers = count()


def show(cluster: Installed, *entries: OpenEntry, on: str) -> None:
    """Let a node show these faults, beside those that it shows; without any, let no node show one."""
    if not entries:
        cluster.delete("faults", "--all")
        until("no node shows a fault", lambda: not _shown(cluster))
        return
    names = [f"f-{next(_numbers)}" for _ in entries]
    for name, entry in zip(names, entries, strict=True):
        cluster.create(_class(name, entry))
        cluster.create(_fault(name, entry, on))
    until("all are shown", lambda: {phase(cluster, each) for each in names} == {"Landed"})


def _shown(cluster: Installed) -> list[str]:
    return [
        each["metadata"]["name"]
        for each in cluster.objects("nodes")
        if OPEN_FAULTS in each["metadata"].get("annotations", {})
    ]


def _class(name: str, entry: OpenEntry) -> dict[str, Any]:
    return {
        "apiVersion": "kwokctl.dev/v1alpha1",
        "kind": "FaultClass",
        "metadata": {"name": name},
        "spec": {
            "summary": "A fault of a test",
            "layer": "node",
            "scope": "node" if entry.gpu is None else "device",
            "severity": "fatal",
            "causes": ["software"],
            "lifetime": "live",
            "clearedBy": ["cause-ends"],
            "effects": _effects(entry),
            "signals": {"dra": [{"deviceTaints": _taints(entry)}]} if entry.device_taints else {},
        },
    }


def _effects(entry: OpenEntry) -> dict[str, Any]:
    effects: dict[str, Any] = {}
    if entry.device is not None:
        effects["device"] = entry.device
    if (work := entry.workload) is not None:
        effects["workload"] = {
            "effect": work.effect, "exitCode": work.exit_code, "reason": work.reason,
            "message": work.message, "after": work.after, "factor": str(work.factor),
        }  # fmt: skip
    if (pod := entry.pod) is not None:
        code = "" if pod.exit_code is None else str(pod.exit_code)
        effects["pod"] = {
            "fails": pod.fails, "exitCode": code, "reason": pod.reason, "message": pod.message,
        }  # fmt: skip
    return effects


def _taints(entry: OpenEntry) -> Sequence[dict[str, str]]:
    return [
        {"key": each.key, "value": each.value, "effect": each.effect}
        for each in entry.device_taints
    ]


def _fault(name: str, entry: OpenEntry, on: str) -> dict[str, Any]:
    gang = {"gang": True} if entry.workload is not None and entry.workload.gang else {}
    parameters = {} if entry.gpu is None else {"parameters": {"gpu": entry.gpu}}
    return {
        "apiVersion": "kwokctl.dev/v1alpha1",
        "kind": "Fault",
        "metadata": {"name": name},
        "spec": {
            "class": name, "target": {"nodes": [on]}, "dialects": ["dra"], **parameters, **gang,
        },
    }  # fmt: skip

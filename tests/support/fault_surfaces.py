"""A cluster whose faults are injected and cleared by commands, and what its nodes and pods show of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kwokctl.clusters.launching.custom_resources import fault_definitions, install
from kwokctl.fleet.allocations import allocations_of
from kwokctl.fleet.devices import GPU, gpu_uuid
from kwokctl.kube.client import Client
from kwokctl.progress import Silent
from tests.support.direct import ask
from tests.support.installed import Installed, condition, until

ONE, TWO, THREE, DRA = "dgx-h100-000000", "dgx-h100-000001", "dgx-h100-000002", "dra-000000"
MINE = {"key": "mine.example/keep", "value": "yes", "effect": "NoSchedule"}
"""A taint that a client has added."""
USUAL = {
    "summary": "one of a test", "layer": "node", "scope": "node", "severity": "fatal",
    "causes": ["hardware"], "lifetime": "latched", "clearedBy": ["replace"],
}  # fmt: skip
SIGNAL: dict[str, Any] = {
    "pollInterval": "0s",
    "conditions": [{"type": "FanProblem", "reason": "FanIsBroken", "message": "a fan of {{.node}} stands"}],
    "taints": [{"key": "example.com/fan", "value": "bad", "effect": "NoSchedule"}, MINE | {"value": "no"}],
    "labels": {"example.com/fan": "bad"},
    "annotations": {"example.com/fan": "it stands"},
    "events": [{"reason": "FanStopped", "message": "a fan of {{.node}} stopped", "component": "fan-watcher"}],
}  # fmt: skip
FAILS = {"workload": {"effect": "fail", "exitCode": 134, "reason": "Ring"}}
CLASSES: dict[str, Any] = {
    "all-fields": USUAL | {"signals": {"npd": [SIGNAL]}},
    "gang-fails": USUAL | {"layer": "gpu", "scope": "device", "effects": FAILS},
}
DOCUMENTS = """\
kind: ClusterLogs
metadata: {name: every}
spec: {logs: [{generated: {template: "line {{.line}}", linesPerSecond: 1}}]}
---
kind: ClusterAttach
metadata: {name: every}
spec: {attaches: [{logsFile: /dev/null}]}
---
kind: Exec
metadata: {name: own, namespace: default}
spec: {execs: [{local: {envs: [{name: PATH, value: /nowhere}]}}]}
"""


def options(cluster: Installed) -> Sequence[str]:
    """Return how a cluster is created that knows the classes of these tests."""
    documents = cluster.folder / "classes.yaml"
    classes = [
        {"apiVersion": "kwokctl.dev/v1alpha1", "kind": "FaultClass", "metadata": {"name": name}, "spec": spec}
        for name, spec in CLASSES.items()
    ]  # fmt: skip
    documents.write_text("\n---\n".join([DOCUMENTS, *map(json.dumps, classes)]))
    return ("--stage", "pod-kubelet", "--node-proxy", "--config", str(documents))


def serve_faults(cluster: Installed) -> None:
    """Have the kinds of faults, as the first `fault inject` makes them."""

    async def serve(client: Client) -> None:
        await install(fault_definitions(), client, Silent())

    ask(cluster, serve)


def scale(cluster: Installed, nodes: int) -> None:
    """Make so many DGX nodes, whose GPUs a health check of azurehpc looks at."""
    dialects = '.dialects=["azurehpc"]'
    cluster.ok("scale", "dgx-h100", "--replicas", str(nodes), "--param", dialects, "--wait")


@contextmanager
def broken(cluster: Installed, found: str, *words: str, node: str = ONE) -> Iterator[str]:
    """Inject a fault with `fault inject`, yield its name, and clear it with `fault clear`."""
    config = ("--config", str(cluster.folder / "classes.yaml")) if found in CLASSES else ()
    name = f"{found}-1"
    target = ("--node", node, "--id", name, "--seed", "1", "--wait", "3m")
    cluster.ok(*config, "fault", "inject", found, *target, *words)
    try:
        yield name
    finally:
        cluster.ok("fault", "clear", name, "--wait", "3m")


def tidy(cluster: Installed) -> None:
    """Delete all pods and Jobs."""
    cluster.delete("jobs,pods", "--all", "--now")


def seen(cluster: Installed, name: str = ONE) -> dict[str, Any]:
    """Return what a node shows, without what changes by itself."""
    node = cluster.found("nodes", name)
    status = node["status"]
    return {
        "labels": node["metadata"]["labels"],
        "annotations": node["metadata"]["annotations"],
        "taints": node["spec"].get("taints", []),
        "capacity": status["capacity"],
        "allocatable": status["allocatable"],
        "conditions": {
            each["type"]: {**each, "lastHeartbeatTime": ""} for each in status["conditions"]
        },
    }


def untimed(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a node shows without the times of transitions."""
    conditions = found["conditions"].items()
    return {
        **found,
        "conditions": {kind: {**each, "lastTransitionTime": ""} for kind, each in conditions},
    }


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return part and key of all that differs between two nodes; of taints the part alone."""
    found: set[tuple[str, str]] = {("taints", "")} if before["taints"] != after["taints"] else set()
    for part in before.keys() - {"taints"}:
        one, two = before[part], after[part]
        found |= {(part, key) for key in one.keys() | two if one.get(key) != two.get(key)}
    return found


def gpus(cluster: Installed, name: str = ONE) -> str:
    found = seen(cluster, name)
    return f"{found['capacity'].get(GPU)}/{found['allocatable'].get(GPU)}"


def run(cluster: Installed, name: str, *, on: str = ONE, **given: Any) -> None:
    """Create a pod whose program runs for ever, and wait until it does; `given` are fields of its spec and annotations."""
    number, notes = given.pop("gpus", 0), given.pop("notes", {})
    starts = given.pop("starts", True)
    main: dict[str, Any] = {"name": "main", "image": "registry.example/x"}
    if number:
        main["resources"] = {"limits": {GPU: str(number)}}
    annotations = {"kwokctl.dev/program": "run=forever", **notes}
    metadata = {"name": name, "annotations": annotations, "labels": {"app": name}}
    spec = {"nodeName": on, "containers": [main], **given}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    cluster.create(body)
    if starts:
        until(f"{name} runs", lambda: phase(cluster, name) == "Running")


def pod(cluster: Installed, name: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.found("pods", name)
    return found


def phase(cluster: Installed, name: str) -> str:
    return str(pod(cluster, name)["status"].get("phase"))


def container(cluster: Installed, name: str, part: str = "containerStatuses") -> dict[str, Any]:
    statuses = pod(cluster, name)["status"].get(part) or [{"state": {}, "lastState": {}}]
    found: dict[str, Any] = statuses[0]
    return found


def waiting(cluster: Installed, name: str, part: str = "containerStatuses") -> str:
    state = container(cluster, name, part)["state"]
    return str(state.get("waiting", {}).get("reason"))


def last(cluster: Installed, name: str, part: str = "containerStatuses") -> dict[str, Any]:
    """Return the last end of a container; empty without one."""
    found = container(cluster, name, part)
    ends = (found[each].get("terminated") for each in ("state", "lastState"))
    return next((each for each in ends if each), {})


def first_gpu(cluster: Installed, name: str) -> int:
    """Return the index of a GPU that a pod has."""
    found = pod(cluster, name)
    ids = {each.device_id for each in allocations_of(found)}
    return next(n for n in range(8) if gpu_uuid(found["spec"]["nodeName"], n) in ids)


def events(cluster: Installed, reason: str) -> list[dict[str, Any]]:
    return [each for each in cluster.objects("events") if each["reason"] == reason]


def backs_off(cluster: Installed, name: str) -> bool:
    """Return whether a container of a pod has waited for its next start: its status says so for a moment only."""
    uid = pod(cluster, name)["metadata"]["uid"]
    return any(each["involvedObject"]["uid"] == uid for each in events(cluster, "BackOff"))


def tried(cluster: Installed, *words: str) -> str:
    done = cluster.run("kubectl", *words)
    return done.out + done.err


def ready(cluster: Installed, name: str) -> str:
    return condition(cluster.found("nodes", name), "Ready")


def names(cluster: Installed) -> set[str]:
    return {each["metadata"]["name"] for each in cluster.objects("pods")}

"""Faults as objects of a real cluster: each class injected and cleared, and the node compared before, during and after."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e]

NODE = "dgx-h100-000000"
ANNOTATIONS = ("kwokctl.dev/faults", "kwokctl.dev/open-faults", "kwokctl.dev/device-health")


@pytest.fixture(scope="module")
def cluster(as_on_kubelets: Installed) -> Installed:
    as_on_kubelets.ok(
        "scale",
        "dgx-h100",
        "--replicas",
        str(len(CLASSES)),
        "--wait",
        "--param",
        '.dialects=["aks","azurehpc","eks"]',
    )
    return as_on_kubelets


@pytest.fixture
def inject(cluster: Installed) -> Iterator[Callable[..., str]]:
    """Return what makes a Fault on the first node, and waits until it has landed; all are deleted afterwards."""

    def create(name: str, found: str, dialects: list[str], **spec: Any) -> str:
        target = spec.pop("target", {"nodes": [NODE]})
        apply(cluster, name, {"class": found, "dialects": dialects, "target": target, **spec})
        until(f"{name} has landed", lambda: phase(cluster, name) == "Landed")
        return name

    yield create
    cluster.delete("faults", "--all")


def apply(cluster: Installed, name: str, spec: Mapping[str, Any]) -> None:
    document = {
        "apiVersion": "kwokctl.dev/v1alpha1",
        "kind": "Fault",
        "metadata": {"name": name},
        "spec": spec,
    }
    cluster.apply(document)


def phase(cluster: Installed, name: str) -> str:
    return str(cluster.found("faults", name).get("status", {}).get("phase", ""))


def node(cluster: Installed, name: str = NODE) -> dict[str, Any]:
    found: dict[str, Any] = cluster.found("nodes", name)
    return found


def seen(cluster: Installed, name: str) -> dict[str, Any]:
    """Return what a node shows, without what changes by itself."""
    found = node(cluster, name)
    conditions = {
        each["type"]: (each["status"], each["reason"], each["message"])
        for each in found["status"]["conditions"]
    }
    return {
        "labels": found["metadata"]["labels"],
        "annotations": found["metadata"]["annotations"],
        "taints": found["spec"].get("taints", []),
        "conditions": conditions,
        "capacity": found["status"]["capacity"],
        "allocatable": found["status"]["allocatable"],
    }


CLASSES: Mapping[str, tuple[Sequence[str], Mapping[str, Any]]] = {
    "not-ready": ([], {"conditions": {"Ready": "False"}}),
    "unreachable": ([], {"kubelet": "silent"}),
    "silent": ([], {"kubelet": "silent"}),
    "reboot": ([], {"kubelet": "rebooting"}),
    "gpu-missing": (
        ["aks", "device-plugin"],
        {"conditions": {"GPUMissing": "True"}, "gpus": "7/7"},
    ),
    "gpu-lost": (["nvsentinel", "device-plugin"], {}),
    "xid-13": (["nvsentinel"], {}),
    "xid-31": (["nvsentinel"], {}),
    "xid-48": (["eks", "device-plugin"], {"conditions": {"AcceleratedHardwareReady": "False"}}),
    "xid-63": (["nvsentinel"], {}),
    "xid-74": (["eks"], {"conditions": {"AcceleratedHardwareReady": "False"}}),
    "xid-79": (["eks", "device-plugin"], {"conditions": {"AcceleratedHardwareReady": "False"}}),
    "xid-94": (["nvsentinel", "device-plugin"], {}),
    "xid-95": (["nvsentinel", "device-plugin"], {}),
    "xid-109": (["nvsentinel", "device-plugin"], {}),
    "xid-119": (["nvsentinel", "device-plugin"], {}),
    "ib-port-down": (["nvsentinel", "azurehpc"], {}),
    "ib-link-flap": (["aks"], {"conditions": {"IBLinkFlapping": "True"}}),
    "memory-pressure": ([], {"conditions": {"MemoryPressure": "True"}}),
    "disk-pressure": ([], {"conditions": {"DiskPressure": "True"}}),
    "maintenance": (["gke"], {}),
}
"""The dialects of each class, and some of what its node must show."""


def test_each_class_is_shown_on_its_node_and_undone_exactly(cluster: Installed) -> None:
    """All at once, a node for each: agents look every minute at the most, whether one fault is open or twenty."""
    on = {found: f"dgx-h100-{number:06}" for number, found in enumerate(CLASSES)}
    before = {found: seen(cluster, node) for found, node in on.items()}
    for found, node in on.items():
        spec = {"class": found, "dialects": [*CLASSES[found][0]], "target": {"nodes": [node]}}
        apply(cluster, found, {**spec, "seed": 1, "for": "1h"})
    until("all have landed", lambda: {phase(cluster, each) for each in on} == {"Landed"})

    for found, node in on.items():
        shows = CLASSES[found][1]
        until(f"{found} is shown", partial(_shows, cluster, node, shows))
        assert seen(cluster, node) != before[found], found
    cluster.delete("faults", "--all")

    for found, node in on.items():
        until(f"{found} is undone", partial(_is_as, cluster, node, before[found]))


HOSTILE: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "endless-number": ({"target": {"where": f"{'9' * 9000} > gpus"}}, "has more than 64 bits"),
    "endless-loop": (
        {"target": {"where": "[1,2,3,4,5,6,7,8].all(a, " * 7 + "a > 0" + ")" * 7}},
        "it takes more than 100,000 steps",
    ),
    "nested": ({"target": {"where": "(" * 4900 + "true" + ")" * 4900}}, "nested too deeply"),
    "large-expression": (
        {"target": {"where": "'x'.matches('(((a{100}){10}){10}){10}')"}},
        "is not a CEL expression",
    ),
    "large-text": (
        {"class": "admission-error", "target": {"count": 1}, "parameters": {"message": "m" * 10**6}},
        "has 1,000,000 characters, more than 4,096",
    ),
    "many": ({"target": {"count": 10**6}}, "1000000 nodes are wanted"),
    "slow-clock": ({"target": {"nodes": [NODE]}, "timeScale": 5e-324}, ""),
}  # fmt: skip
"""Faults that are to stop the controller: the spec, and what the Fault says about it; nothing where it is legal."""


def test_a_fault_of_a_stranger_does_not_stop_the_controller(
    cluster: Installed, inject: Callable[..., str]
) -> None:
    before = controller(cluster)
    for name, (spec, _) in HOSTILE.items():
        apply(cluster, name, {"class": "not-ready", "at": "0s", **spec})
    for name, (_, message) in HOSTILE.items():
        until(f"{name} is judged", partial(_says, cluster, name, message))

    inject("honest", "not-ready", [])
    assert controller(cluster) == before


def controller(cluster: Installed) -> list[int]:
    return [pid for pid, words in cluster.processes().items() if "kwokctl.controller" in words]


def _says(cluster: Installed, name: str, message: str) -> bool:
    status = cluster.found("faults", name).get("status", {})
    said = [each["message"] for each in status.get("conditions", ())]
    return bool(said) and any(message in each for each in said)


def _is_as(cluster: Installed, node: str, before: Mapping[str, Any]) -> bool:
    return seen(cluster, node) == before


def _shows(cluster: Installed, node: str, shows: Mapping[str, Any]) -> bool:
    """Return whether a node shows what it must."""
    during = seen(cluster, node)
    statuses = shows.get("conditions", {})
    is_kubelet = "kubelet" not in shows or shows["kubelet"] in during["annotations"].get(
        "kwokctl.dev/open-faults", ""
    )
    is_gpus = "gpus" not in shows or numbers(during) == shows["gpus"]
    return (
        is_gpus
        and is_kubelet
        and all(during["conditions"][kind][0] == status for kind, status in statuses.items())
    )


def numbers(found: Mapping[str, Any]) -> str:
    return f"{found['capacity']['nvidia.com/gpu']}/{found['allocatable']['nvidia.com/gpu']}"


def boots(cluster: Installed) -> set[str]:
    return {each["status"]["nodeInfo"]["bootID"] for each in cluster.objects("nodes")}


def test_a_rack_that_has_power_again_has_booted(
    cluster: Installed, inject: Callable[..., str]
) -> None:
    before = boots(cluster)

    inject("power", "rack-power", [], target={"unit": "dgx-h100-rack-0000"})
    assert boots(cluster) == before
    cluster.delete("fault", "power")

    until("all four have booted", lambda: len(boots(cluster) - before) == 4)
    until(
        "their kubelets say so",
        lambda: len({e["involvedObject"]["name"] for e in rebooted(cluster)}) == 4,
    )


def rebooted(cluster: Installed) -> list[dict[str, Any]]:
    return [each for each in cluster.objects("events") if each["reason"] == "Rebooted"]

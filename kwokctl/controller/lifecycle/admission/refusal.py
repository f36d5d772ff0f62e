"""Why a node does not take a pod, in the words of kubelet 1.36.

Source: pkg/kubelet/lifecycle/predicate.go, and Admit in pkg/kubelet/eviction/eviction_manager.go.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from kwokctl.controller.lifecycle.admission.affinity import is_for
from kwokctl.controller.lifecycle.admission.quality import is_best_effort, is_critical
from kwokctl.controller.lifecycle.admission.requests import Amounts, requests_of

_NATIVE = ("cpu", "memory", "ephemeral-storage")
_PRESSURE = "node.kubernetes.io/memory-pressure"
_ELSEWHERE = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"

Refusal = tuple[str, str]
"""The reason and the message."""


class NodeState(msgspec.Struct, frozen=True, kw_only=True):
    """What decides whether a node takes one more pod."""

    name: str = ""
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    allocatable: Mapping[str, int] = msgspec.field(default_factory=dict)
    """What it has; a resource that is not in it is not counted."""
    used: Mapping[str, int] = msgspec.field(default_factory=dict)
    """What its pods request already; under "pods" how many they are."""
    pressures: tuple[str, ...] = ()
    """Its conditions of pressure, such as "MemoryPressure"."""


def refusal_of(
    pod: Mapping[str, Any], node: NodeState, requests: Amounts | None = None
) -> Refusal | None:
    """Return why a node refuses a pod; None if it takes it. A caller passes the requests that it knows."""
    if node.pressures and (refusal := _under_pressure(pod, node.pressures)):
        return refusal
    spec = pod["spec"]
    if requests is None:
        requests = requests_of(spec)
    if not is_for(spec, node.name, node.labels):
        lacking = next(_lacking(requests, node), None)
        return lacking or ("NodeAffinity", _ELSEWHERE)
    return next(_lacking(requests, node), None)


def _under_pressure(pod: Mapping[str, Any], pressures: tuple[str, ...]) -> Refusal | None:
    if is_critical(pod):
        return None
    if pressures == ("MemoryPressure",):
        is_tolerated = any(_tolerates(each) for each in pod["spec"].get("tolerations") or ())
        if is_tolerated or not is_best_effort(pod["spec"]):
            return None
    return "Evicted", f"The node had condition: [{' '.join(pressures)}]. "


def _tolerates(toleration: Mapping[str, Any]) -> bool:
    key, effect = toleration.get("key"), toleration.get("effect")
    if effect not in (None, "", "NoSchedule"):
        return False
    if toleration.get("operator") == "Exists":
        return key in (None, "", _PRESSURE)
    return key == _PRESSURE and not toleration.get("value")


def _lacking(requested: Amounts, node: NodeState) -> Iterator[Refusal]:
    """Yield what the node has too little of, in the order in which a kubelet looks at it."""
    requests = dict(requested)
    others = sorted(requests.keys() - {*_NATIVE})
    asked = {"pods": 1, **{name: requests.get(name, 0) for name in (*_NATIVE, *others)}}
    for name, amount in asked.items():
        capacity, used = node.allocatable.get(name), node.used.get(name, 0)
        if capacity is not None and amount and amount > capacity - used:
            amounts = f"requested: {amount}, used: {used}, capacity: {capacity}"
            yield f"OutOf{name}", f"Node didn't have enough resource: {name}, {amounts}"

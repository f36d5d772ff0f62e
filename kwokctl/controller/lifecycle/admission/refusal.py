"""Decides why a node refuses a pod, in the words of kubelet 1.36.

Sources: pkg/kubelet/lifecycle/predicate.go, and Admit in pkg/kubelet/eviction/eviction_manager.go;
https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/ and .../taint-and-toleration/.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kwokctl.controller.lifecycle.admission.claims import Claims, HostPorts, are_free, claims_of
from kwokctl.controller.lifecycle.admission.quality import is_best_effort, is_critical
from kwokctl.kube.pod_requests import Amounts


def is_for(spec: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> bool:
    """Return whether a pod with this spec may be on the node with this name and these labels."""
    selector: Mapping[str, str] = spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    fields = {"metadata.name": name}
    return any(_matches(term, labels, fields) for term in required.get("nodeSelectorTerms") or ())


def _matches(term: Mapping[str, Any], labels: Mapping[str, str], fields: Mapping[str, str]) -> bool:
    asked = [
        *((each, labels) for each in term.get("matchExpressions") or ()),
        *((each, fields) for each in term.get("matchFields") or ()),
    ]
    return bool(asked) and all(_holds(each, of) for each, of in asked)


def _holds(asked: Mapping[str, Any], of: Mapping[str, str]) -> bool:
    found, values = of.get(asked["key"]), asked.get("values") or ()
    test = _TESTS.get(asked["operator"])
    return test is not None and test(found, values)


def _compared(found: str | None, values: Sequence[str], sign: int) -> bool:
    if found is None or not found.removeprefix("-").isdecimal():
        return False
    return sign * int(found) > sign * int(values[0])


_TESTS: Mapping[str, Callable[[str | None, Sequence[str]], bool]] = {
    "In": lambda found, values: found in values,
    "NotIn": lambda found, values: found not in values,
    "Exists": lambda found, _: found is not None,
    "DoesNotExist": lambda found, _: found is None,
    "Gt": lambda found, values: _compared(found, values, 1),
    "Lt": lambda found, values: _compared(found, values, -1),
}
"""The test of each operator on the value of a label, None if the label is missing."""


def tolerates(toleration: Mapping[str, Any], key: str, value: str, effect: str) -> bool:
    """Return whether a toleration is for a taint."""
    if toleration.get("effect") not in (None, "", effect):
        return False
    own = toleration.get("key")
    if toleration.get("operator") == "Exists":
        return own in (None, "", key)
    return own == key and (toleration.get("value") or "") == value


def tolerates_all(
    tolerations: Iterable[Mapping[str, Any]], taints: Iterable[tuple[str, str]], effect: str
) -> bool:
    """Return whether there is a toleration for each taint, a key and a value, with this effect."""
    known = list(tolerations)
    return all(any(tolerates(each, *taint, effect) for each in known) for taint in taints)


_NATIVE = ("cpu", "memory", "ephemeral-storage")
_PRESSURE = "node.kubernetes.io/memory-pressure"
_OS_LABEL = "kubernetes.io/os"
_ELSEWHERE = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
_PORTS = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
_TAINTS = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
_OTHER_LABEL = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"
_OTHER_OS = "Failed to admit pod as the OS field doesn't match node OS"

Refusal = tuple[str, str]
"""The reason and the message."""


class NodeState(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a node that decide whether it takes one more pod."""

    name: str = ""
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    allocatable: Mapping[str, int] = msgspec.field(default_factory=dict)
    """The node's allocatable resources; a resource that it lacks is not counted."""
    used: Mapping[str, int] = msgspec.field(default_factory=dict)
    """The resources that its pods request already; under "pods" their number."""
    pressures: tuple[str, ...] = ()
    """Its conditions of pressure, such as "MemoryPressure"."""
    ports: HostPorts = ()
    """Those that its pods have."""
    taints: tuple[tuple[str, str], ...] = ()
    """Key and value of those with the effect NoExecute."""
    operating_system: str = "linux"
    shortage: Refusal | None = None
    """The refusal of a pod for which there are not enough devices."""


def refusal_of(
    pod: Mapping[str, Any], node: NodeState, claims: Claims | None = None
) -> Refusal | None:
    """Return why a node refuses a pod; None if it admits it. A caller passes the claims that it knows."""
    if node.pressures and (refusal := _under_pressure(pod, node.pressures)):
        return refusal
    if node.shortage is not None:
        return node.shortage
    if refusal := _of_another_system(pod, node.operating_system):
        return refusal
    return next(_reasons(pod["spec"], node, claims or claims_of(pod["spec"])), None)


def _of_another_system(pod: Mapping[str, Any], system: str) -> Refusal | None:
    label = (pod["metadata"].get("labels") or {}).get(_OS_LABEL)
    if label is not None and label != system:
        return "PodOSSelectorNodeLabelDoesNotMatch", _OTHER_LABEL
    if (named := pod["spec"].get("os")) and named.get("name") != system:
        return "PodOSNotSupported", _OTHER_OS
    return None


def _reasons(spec: Mapping[str, Any], node: NodeState, claims: Claims) -> Iterator[Refusal]:
    """Yield why a node refuses a pod, in the order in which a kubelet looks."""
    yield from _lacking(claims.requests, node)
    if not is_for(spec, node.name, node.labels):
        yield "NodeAffinity", _ELSEWHERE
    if not are_free(claims.ports, node.ports):
        yield "NodePorts", _PORTS
    if node.taints and not tolerates_all(spec.get("tolerations") or (), node.taints, "NoExecute"):
        yield "TaintToleration", _TAINTS


def _under_pressure(pod: Mapping[str, Any], pressures: tuple[str, ...]) -> Refusal | None:
    if is_critical(pod):
        return None
    if pressures == ("MemoryPressure",):
        tolerations = pod["spec"].get("tolerations") or ()
        is_tolerated = any(tolerates(each, _PRESSURE, "", "NoSchedule") for each in tolerations)
        if is_tolerated or not is_best_effort(pod["spec"]):
            return None
    return "Evicted", f"The node had condition: [{' '.join(pressures)}]. "


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

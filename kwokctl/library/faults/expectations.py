"""The states that nodes are expected to have once a fault has hit them."""

from collections.abc import Callable, Iterator, Mapping

from kwokctl.clusters.faults.node_wait import NodeExpectation, ObservedNode
from kwokctl.json_value import Json

NodePredicate = Callable[[Mapping[str, Json]], bool]
"""A function of a node's JSON."""
Expected = NodeExpectation | NodePredicate
_UNKNOWN = "not there"
_NAMED = 2
"""So many pods are named."""


def expectation(expected: Expected) -> NodeExpectation:
    """Return an expectation as it is, and make one of a function of a node's JSON, which is called after that."""
    if isinstance(expected, NodeExpectation):
        return expected
    words = getattr(expected, "__name__", "<lambda>").replace("<lambda>", "as expected")
    return _of_node(words, expected, _in_short)


def no_longer(expected: Expected) -> NodeExpectation:
    """Expect the opposite; a node that is gone meets none but that of `gone`."""
    of = expectation(expected)
    is_gone = of is gone
    return NodeExpectation(
        words=f"no longer {of.words}",
        holds=lambda hit: (is_gone or hit.node is not None) and not of.holds(hit),
        shows=of.shows,
        sees_pods=of.sees_pods,
    )


def tainted(key: str, effect: str = "") -> NodeExpectation:
    """Expect a taint with this key, and with this effect if one is given."""

    def holds(node: Mapping[str, Json]) -> bool:
        return any(each["key"] == key and effect in ("", each["effect"]) for each in _taints(node))

    return _of_node(f"tainted with {key}{effect and ':'}{effect}", holds, _taints_shown)


def condition(kind: str, status: str = "True") -> NodeExpectation:
    """Expect a condition of this type with this status: `condition("Ready", "Unknown")`."""

    def shows(node: Mapping[str, Json]) -> str:
        found = _condition(node, kind)
        if found is None:
            return f"it has no condition {kind}"
        return f"{kind}={found['status']} {found.get('reason', '')}".rstrip()

    def holds(node: Mapping[str, Json]) -> bool:
        found = _condition(node, kind)
        return found is not None and found["status"] == status

    return _of_node(f"{kind}={status}", holds, shows)


def labelled(key: str, value: str | None = None) -> NodeExpectation:
    """Expect a label, and this value of it if one is given."""

    def found(node: Mapping[str, Json]) -> str | None:
        label: str | None = (node["metadata"].get("labels") or {}).get(key)
        return label

    def holds(node: Mapping[str, Json]) -> bool:
        label = found(node)
        return label is not None and value in (None, label)

    def shows(node: Mapping[str, Json]) -> str:
        return f"{key}={found(node)}" if found(node) is not None else f"it has no label {key}"

    return _of_node(f"labelled {key}{'' if value is None else f'={value}'}", holds, shows)


def _of_node(
    words: str, holds: NodePredicate, shows: Callable[[Mapping[str, Json]], str]
) -> NodeExpectation:
    """Return an expectation of a node that exists, and not of its pods."""
    return NodeExpectation(
        words=words,
        holds=lambda hit: hit.node is not None and bool(holds(hit.node)),
        shows=lambda hit: _UNKNOWN if hit.node is None else shows(hit.node),
    )


def _is_cordoned(node: Mapping[str, Json]) -> bool:
    return bool(node["spec"].get("unschedulable"))


def _taints(node: Mapping[str, Json]) -> list[dict[str, str]]:
    return node["spec"].get("taints") or []


def _condition(node: Mapping[str, Json], kind: str) -> dict[str, str] | None:
    found = (node.get("status") or {}).get("conditions") or ()
    return next((each for each in found if each["type"] == kind), None)


def _taints_shown(node: Mapping[str, Json]) -> str:
    names = [f"{each['key']}:{each['effect']}" for each in _taints(node)]
    return f"taints {', '.join(names)}" if names else "no taints"


def _in_short(node: Mapping[str, Json]) -> str:
    ready = _condition(node, "Ready")
    is_ready = f"Ready={ready['status']}" if ready else "no condition Ready"
    cordon = "cordoned" if _is_cordoned(node) else "schedulable"
    return f"{cordon}, {is_ready}, {_taints_shown(node)}"


def _stays(pod: Mapping[str, Json]) -> bool:
    """Return whether a pod does not count for a drain: it has ended, is of a DaemonSet, or is a mirror of a file."""
    meta = pod["metadata"]
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return True
    if "kubernetes.io/config.mirror" in (meta.get("annotations") or {}):
        return True
    return any(each["kind"] == "DaemonSet" for each in meta.get("ownerReferences") or ())


def _left(hit: ObservedNode) -> Iterator[str]:
    """Yield the pods that a drain would have to move."""
    for pod in hit.pods:
        if not _stays(pod):
            yield f"{pod['metadata'].get('namespace', '')}/{pod['metadata']['name']}"


def _is_drained(hit: ObservedNode) -> bool:
    return hit.node is not None and _is_cordoned(hit.node) and not any(_left(hit))


def _drain_shown(hit: ObservedNode) -> str:
    if hit.node is None:
        return _UNKNOWN
    cordon, pods = "cordoned" if _is_cordoned(hit.node) else "schedulable", sorted(_left(hit))
    if not pods:
        return f"{cordon}, no pods left"
    more = f" and {len(pods) - _NAMED} more" if len(pods) > _NAMED else ""
    return f"{cordon}, pods left: {', '.join(pods[:_NAMED])}{more}"


cordoned = _of_node("cordoned", _is_cordoned, _in_short)
"""Expect that no pod can be scheduled to it: `spec.unschedulable`."""
drained = NodeExpectation(words="drained", holds=_is_drained, shows=_drain_shown, sees_pods=True)
"""Expect that it is cordoned, and that no pods are on it but those of DaemonSets and those that have ended."""
ready = condition("Ready")
"""Expect that it is Ready."""
gone = NodeExpectation(
    words="gone",
    holds=lambda hit: hit.node is None,
    shows=lambda hit: "gone" if hit.node is None else _in_short(hit.node),
)
"""Expect that it was deleted, or replaced by another node of its name."""

"""The resources that nodes have left for pods: decides whether they take one more.

The sum for the pods of each node is kept as pods come and go.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import lru_cache

import msgspec
import orjson

from kwokctl.controller.lifecycle.admission.claims import Claims, HostPorts, claims_of
from kwokctl.controller.lifecycle.admission.refusal import NodeState, Refusal, refusal_of
from kwokctl.controller.nodes.facts import NO_FACTS, NodeFacts, pressures_of
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.kube.pod_requests import Amounts, amounts
from kwokctl.kube.stored_json import ObjectInJson


class _NodePods(msgspec.Struct):
    """The pods of one node, and their sum."""

    requests: dict[str, Amounts] = msgspec.field(default_factory=dict)
    """By the uid of the pod."""
    used: Counter[str] = msgspec.field(default_factory=Counter)
    ports: dict[str, HostPorts] = msgspec.field(default_factory=dict)
    """Of those that take ports of the node."""

    def add(self, uid: str, claims: Claims) -> None:
        self.requests[uid] = claims.requests
        self.used.update(_counted(claims.requests))
        if claims.ports:
            self.ports[uid] = claims.ports

    def remove(self, uid: str) -> None:
        self.ports.pop(uid, None)
        requests = self.requests.pop(uid, None)
        if requests is not None:
            self.used.subtract(_counted(requests))


class Commitments:
    """The resources that admitted pods take from their nodes."""

    def __init__(self) -> None:
        self._nodes: defaultdict[str, _NodePods] = defaultdict(_NodePods)

    def take(self, node: str, uid: str, claims: Claims) -> None:
        """Count a pod, or count it again."""
        pods = self._nodes[node]
        pods.remove(uid)
        pods.add(uid, claims)

    def counts(self, node: str, uid: str) -> bool:
        """Return whether a pod is counted."""
        return node in self._nodes and uid in self._nodes[node].requests

    def release(self, node: str, uid: str) -> None:
        """Do not count a pod any more."""
        pods = self._nodes.get(node)
        if pods is None:
            return
        pods.remove(uid)
        if not pods.requests:
            del self._nodes[node]

    def ports(self, node: str, *, without: str) -> HostPorts:
        """Return the ports that the pods of a node take, without one of them."""
        pods = self._nodes.get(node)
        if pods is None or not pods.ports:
            return ()
        return tuple(port for uid, own in pods.ports.items() if uid != without for port in own)

    def used(self, node: str, *, without: str) -> dict[str, int]:
        """Return what the pods of a node request, without one of them, and under "pods" their number."""
        pods = self._nodes.get(node)
        if pods is None:
            return {}
        total = pods.used.copy()
        own = pods.requests.get(without)
        if own is not None:
            total.subtract(_counted(own))
        return total


def _counted(requests: Amounts) -> dict[str, int]:
    return {"pods": 1, **dict(requests)}


def node_state(
    name: str, facts: NodeFacts, used: Mapping[str, int], ports: HostPorts = ()
) -> NodeState:
    """Return what decides about one more pod; `used` and `ports` are what the others have."""
    return NodeState(
        name=name,
        labels=orjson.loads(facts.labels),
        allocatable=_allocatable(facts.allocatable),
        used=used,
        pressures=pressures_of(facts),
        ports=ports,
        taints=facts.taints,
        operating_system=facts.operating_system,
    )


@lru_cache(maxsize=256)
def _allocatable(encoded: bytes) -> Mapping[str, int]:
    return amounts(orjson.loads(encoded) or {})


class NodeRoom:
    """The pods that live as on a kubelet, counted on their nodes."""

    def __init__(self, nodes: NodeRegistry) -> None:
        self._nodes = nodes
        self._commitments = Commitments()

    def refusal(self, node: str, uid: str, pod: ObjectInJson, claims: Claims) -> Refusal | None:
        """Return why a node refuses a pod that takes so much; None if it admits it, which is then counted."""
        known = self._nodes.get(node)
        facts = NO_FACTS if known is None else known.facts
        used = self._commitments.used(node, without=uid)
        ports = self._commitments.ports(node, without=uid) if claims.ports else ()
        refusal = refusal_of(pod, node_state(node, facts, used, ports), claims)
        if refusal is None:
            self._commitments.take(node, uid, claims)
        return refusal

    def note(self, node: str, uid: str, pod: ObjectInJson) -> None:
        """Count a pod that the node has taken before; count it again if its spec has changed."""
        meta = pod["metadata"]
        is_changed = meta.get("generation") != pod["status"].get("observedGeneration")
        if is_changed or not self._commitments.counts(node, uid):
            self._commitments.take(node, uid, claims_of(pod["spec"]))

    def release(self, node: str, uid: str) -> None:
        """Do not count a pod any more."""
        self._commitments.release(node, uid)

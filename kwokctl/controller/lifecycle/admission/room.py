"""The resources that nodes have left for pods: decides whether they take one more.

The sum for the pods of each node is kept as pods come and go.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

import msgspec
import orjson

from kwokctl.controller.lifecycle.admission.claimed_devices import drivers_of
from kwokctl.controller.lifecycle.admission.claims import Claims, HostPorts, claims_of
from kwokctl.controller.lifecycle.admission.device_claims import ShortageError
from kwokctl.controller.lifecycle.admission.device_table import (
    Devices,
    DeviceTable,
    LostDevice,
    unexpected,
)
from kwokctl.controller.lifecycle.admission.refusal import NodeState, Refusal, refusal_of
from kwokctl.controller.lifecycle.ends import UNEXPECTED
from kwokctl.controller.lifecycle.moments import written_moment
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
    name: str,
    facts: NodeFacts,
    used: Mapping[str, int],
    ports: HostPorts = (),
    shortage: Refusal | None = None,
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
        shortage=shortage,
    )


@lru_cache(maxsize=256)
def _allocatable(encoded: bytes) -> Mapping[str, int]:
    return amounts(orjson.loads(encoded) or {})


class NodeRoom:
    """The pods that live as on a kubelet, counted on their nodes."""

    def __init__(self, nodes: NodeRegistry) -> None:
        self._nodes = nodes
        self._commitments = Commitments()
        self._devices = DeviceTable()

    def refusal(
        self, node: str, uid: str, pod: ObjectInJson, claims: Claims, now: float
    ) -> Refusal | None:
        """Return why a node refuses a pod that takes so much; None if it admits it, which is then counted."""
        facts = self.facts(node)
        used = self._commitments.used(node, without=uid)
        ports = self._commitments.ports(node, without=uid) if claims.ports else ()
        shortage = self._shortage(node, uid, claims, now) if claims.devices else None
        refusal = refusal_of(pod, node_state(node, facts, used, ports, shortage), claims)
        if refusal is None:
            self._commitments.take(node, uid, claims)
        elif claims.devices:
            self._devices.release(node, uid)
        return refusal

    def note(
        self, node: str, uid: str, pod: ObjectInJson, opened: Callable[[], ObjectInJson]
    ) -> Sequence[LostDevice]:
        """Count a pod that the node has taken before; count it again if its spec has changed.

        `opened` returns the pod itself, where `pod` is one of those that are like it. Returns the pods that claim a
        device of an older one.
        """
        meta = pod["metadata"]
        is_changed = meta.get("generation") != pod["status"].get("observedGeneration")
        if is_changed or not self._commitments.counts(node, uid):
            claims = claims_of(pod["spec"])
            self._commitments.take(node, uid, claims)
            if claims.devices and not self._devices.has(node, uid):
                return list(self._devices.note(node, uid, opened(), claims.devices))
        return ()

    def release(self, node: str, uid: str) -> None:
        """Do not count a pod any more."""
        self._commitments.release(node, uid)
        self._devices.release(node, uid)

    def has_devices(self, node: str, uid: str) -> bool:
        """Return whether it is known what devices a pod has, which may be none."""
        return self._devices.has(node, uid)

    def devices(self, node: str, uid: str) -> Devices:
        """Return the devices of a pod, with their present health."""
        return self._devices.of(node, uid, self.facts(node))

    def drivers(self, node: str) -> Collection[str]:
        """Return the DRA drivers for which the controller stands in on a node."""
        drivers = self.facts(node).dra_drivers
        return drivers_of(drivers) if drivers else ()

    def facts(self, node: str) -> NodeFacts:
        """Return what is known of a node."""
        known = self._nodes.get(node)
        return NO_FACTS if known is None else known.facts

    def restore_devices(self, node: str, uid: str, claims: Claims, now: float) -> None:
        """Give devices to a pod that runs, and does not say that it has any; nothing if there are too few."""
        if self._shortage(node, uid, claims, now) is not None:
            self._devices.go_without(node, uid)

    def are_devices_well(self, node: str) -> bool:
        """Return whether nothing is said of the devices of a node."""
        return not self.facts(node).device_health

    def _shortage(self, node: str, uid: str, claims: Claims, now: float) -> Refusal | None:
        try:
            self._devices.give(node, uid, self.facts(node), claims.devices, written_moment(now))
        except ShortageError as e:
            return UNEXPECTED, unexpected(str(e))
        return None

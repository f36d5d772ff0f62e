"""The pods that have the devices of nodes.

Nothing is stored for it: what pods that have started say of themselves is the table, so any controller has the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
import orjson

from kwokctl.controller.lifecycle.admission.device_claims import DeviceClaims, allocated
from kwokctl.controller.nodes.facts import NodeFacts
from kwokctl.errors import ExpressionError
from kwokctl.fleet.allocations import HEALTHY, UNHEALTHY, Allocation, allocations_of
from kwokctl.fleet.device_health import (
    MOST,
    DeviceHealth,
    NodeDevices,
    all_devices,
    devices_of,
    read_health,
    read_inventory,
)
from kwokctl.kube.pod_requests import amounts
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.replacing import replace

Devices = tuple[Allocation, ...]


def unexpected(problem: str) -> str:
    """Return the message about a pod that cannot get its devices."""
    return f"Allocate failed due to {problem}, which is unexpected"


class _Holding(NamedTuple):
    """The devices of a pod."""

    devices: Devices
    since: str
    """The start of the pod: of two that claim one device the younger fails."""


class LostDevice(NamedTuple):
    """A pod that claims a device that an older one has."""

    uid: str
    message: str


class _Offer(NamedTuple):
    """The devices of a node, computed from what is known of it."""

    facts: NodeFacts
    devices: Mapping[str, NodeDevices]


class _NodeTable(msgspec.Struct):
    """The devices of one node that pods have."""

    pods: dict[str, _Holding] = msgspec.field(default_factory=dict)
    taken: dict[str, str] = msgspec.field(default_factory=dict)
    """The uid of the pod by the identifier of the device."""
    offer: _Offer | None = None


class DeviceTable:
    """The devices of nodes, and the pods that have them."""

    def __init__(self) -> None:
        self._nodes: dict[str, _NodeTable] = {}

    def has(self, node: str, uid: str) -> bool:
        """Return whether it is known what devices a pod has, which may be none."""
        table = self._nodes.get(node)
        return table is not None and uid in table.pods

    def of(self, node: str, uid: str, facts: NodeFacts) -> Devices:
        """Return the devices of a pod, with their present health."""
        table = self._nodes.get(node)
        holding = None if table is None else table.pods.get(uid)
        if table is None or holding is None:
            return ()
        if not facts.device_health:
            return holding.devices
        offer = _offered(node, table, facts)
        sick = {id_ for each in offer.values() for id_ in each.unhealthy}
        return tuple(
            replace(each, health=UNHEALTHY) if each.device_id in sick else each
            for each in holding.devices
        )

    def give(self, node: str, uid: str, facts: NodeFacts, claims: DeviceClaims, since: str) -> None:
        """Give a pod devices unless it has them already; ShortageError if there are too few."""
        table = self._nodes.setdefault(node, _NodeTable())
        if uid in table.pods:
            return
        devices = allocated(claims, _offered(node, table, facts), table.taken)
        self._hold(table, uid, _Holding(devices, since))

    def go_without(self, node: str, uid: str) -> None:
        """Note that a pod that runs has no devices, though it asks for some."""
        self._nodes.setdefault(node, _NodeTable()).pods[uid] = _Holding((), "")

    def note(
        self, node: str, uid: str, pod: ObjectInJson, claims: DeviceClaims
    ) -> Iterator[LostDevice]:
        """Note the devices that a pod that has started says that it has; yield the pods that cannot have theirs."""
        asked = {(claim.container, claim.resource) for claim in claims}
        devices = tuple(
            dict.fromkeys(
                replace(each, health=HEALTHY)
                for each in allocations_of(pod)
                if (each.container, each.resource) in asked
            )
        )
        if not devices:
            return
        table = self._nodes.setdefault(node, _NodeTable())
        own = _Holding(devices, pod["status"].get("startTime") or "")
        for device in devices:
            other = table.taken.get(device.device_id)
            if other is None or other == uid:
                continue
            younger = max((own.since, uid), (table.pods[other].since, other))[1]
            amount = "Requested: 1, Available: 0"
            problem = f"requested number of devices unavailable for {device.resource}. {amount}"
            yield LostDevice(younger, unexpected(problem))
            if younger == uid:
                own = own._replace(
                    devices=tuple(e for e in own.devices if e.device_id != device.device_id)
                )
        self._hold(table, uid, own)

    def release(self, node: str, uid: str) -> None:
        """Note that a pod has no devices any more."""
        table = self._nodes.get(node)
        holding = None if table is None else table.pods.pop(uid, None)
        if table is None or holding is None:
            return
        for each in holding.devices:
            if table.taken.get(each.device_id) == uid:
                del table.taken[each.device_id]
        if not table.pods:
            del self._nodes[node]

    @staticmethod
    def _hold(table: _NodeTable, uid: str, holding: _Holding) -> None:
        table.pods[uid] = holding
        for each in holding.devices:
            table.taken[each.device_id] = uid


def _offered(node: str, table: _NodeTable, facts: NodeFacts) -> Mapping[str, NodeDevices]:
    if table.offer is None or table.offer.facts is not facts:
        table.offer = _Offer(facts, _devices(node, facts))
    return table.offer.devices


def _devices(node: str, facts: NodeFacts) -> dict[str, NodeDevices]:
    """Return the devices that a node offers now, by resource."""
    labels = orjson.loads(facts.labels)
    capacity, allocatable = (
        amounts(orjson.loads(each) or {}) for each in (facts.capacity or facts.allocatable, facts.allocatable)
    )  # fmt: skip
    counts = all_devices(capacity, read_inventory(facts.device_inventory))
    health = _health(facts)
    return {
        name: _offered_now(devices_of(node, labels, counts, name, health), allocatable.get(name, number))
        for name, number in counts.items()
        if number <= MOST
    }  # fmt: skip


def _health(facts: NodeFacts) -> DeviceHealth:
    try:
        return read_health(facts.device_health)
    except ExpressionError:  # of which the writer of the node's status warns
        return DeviceHealth()


def _offered_now(found: NodeDevices, allocatable: int) -> NodeDevices:
    """Return devices of which the node makes no more than this number allocatable: the first ones."""
    healthy: Sequence[str] = found.healthy
    if len(healthy) <= allocatable:
        return found
    kept = {*healthy[:allocatable]} | found.unhealthy
    return NodeDevices([each for each in found.listed if each in kept], found.unhealthy)

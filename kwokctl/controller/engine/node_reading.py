"""Reads what is kept of a node from its object."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from sys import intern

import orjson

from kwokctl.controller.engine.decoded import DecodedNode, Taint
from kwokctl.controller.nodes.facts import DOWN, REASONS, NodeFacts
from kwokctl.faults.journal import JOURNAL, overlaid_conditions
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS
from kwokctl.fleet.claimed_devices import DRA_DRIVERS
from kwokctl.fleet.device_health import DEVICE_HEALTH, DEVICE_INVENTORY
from kwokctl.fleet.tree import PLACE

PRESSURE = "kwokctl.dev/pressure"
"""An annotation of a node with the resources that it lacks, such as `memory` or `memory,disk`."""
_NOTHING: Mapping[str, str] = {}


def says_ready(seen: DecodedNode) -> bool:
    """Return whether a node's own condition says that it is Ready."""
    conditions = seen.status.conditions or ()
    return any(each.type == "Ready" and each.status == "True" for each in conditions)


def is_down(seen: DecodedNode) -> bool:
    """Return whether the kubelet of a node counts as down.

    The condition does not suffice: a kubelet that reports its node as not Ready still runs its pods.
    """
    labels = seen.metadata.labels or _NOTHING
    return labels.get(DOWN) == "true" and not says_ready(seen)


def boot_of(seen: DecodedNode) -> int:
    boot_id = seen.status.node_info.boot_id
    return hash(boot_id) if boot_id else 0


def facts_of(seen: DecodedNode) -> NodeFacts:
    conditions = seen.status.conditions or ()
    annotations = seen.metadata.annotations or _NOTHING
    capacity, allocatable = bytes(seen.status.capacity), bytes(seen.status.allocatable)
    return NodeFacts(
        labels=orjson.dumps(seen.metadata.labels or _NOTHING),
        allocatable=_shared(allocatable or b"{}"),
        capacity=_shared(capacity),
        lacks=_lacks(capacity, allocatable),
        taints=_driving_out(seen.spec.taints or ()),
        operating_system=seen.status.node_info.operating_system or "linux",
        pressure=annotations.get(PRESSURE, ""),
        device_health=annotations.get(DEVICE_HEALTH, ""),
        device_inventory=annotations.get(DEVICE_INVENTORY, ""),
        place=intern(annotations.get(PLACE, "")),
        dra_drivers=intern(annotations.get(DRA_DRIVERS, "")),
        open_faults=annotations.get(OPEN_FAULTS, ""),
        faulty_version=(seen.metadata.resource_version if JOURNAL in annotations else ""),
        conditions=_kept(tuple([each.type for each in conditions if each.status == "True"])),
        reported=_kept(tuple([each.type for each in conditions if each.reason in REASONS])),
        shown=overlaid_conditions(annotations.get(JOURNAL, "")),
    )


def _driving_out(taints: Sequence[Taint]) -> tuple[tuple[str, str], ...]:
    return tuple([(each.key, each.value) for each in taints if each.effect == "NoExecute"])


@lru_cache(maxsize=256)
def _lacks(capacity: bytes, allocatable: bytes) -> bool:
    """Return whether `capacity` has a resource that `allocatable`, if present, lacks."""
    if capacity == allocatable or not capacity or not allocatable:
        return False
    return bool((orjson.loads(capacity) or {}).keys() - (orjson.loads(allocatable) or {}).keys())


@lru_cache(maxsize=256)
def _shared(resources: bytes) -> bytes:
    """Return what nodes with equal resources share, to save memory."""
    return resources


@lru_cache(maxsize=64)
def _kept(conditions: tuple[str, ...]) -> tuple[str, ...]:
    """Return a tuple that nodes with equal conditions share, to save memory."""
    return conditions


def addresses_of(seen: DecodedNode) -> tuple[str, ...]:
    """Return a node's addresses: internal ones first, then external ones."""
    found = seen.status.addresses or ()
    return tuple(
        [
            item.address
            for kind in ("InternalIP", "ExternalIP")
            for item in found
            if item.type == kind
        ]
    )

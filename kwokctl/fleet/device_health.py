"""The health of a node's devices, and the numbers that its kubelet reports of them then. Pure.

An annotation of the node says it in words separated by spaces, such as `unhealthy=0,3` or `gone=nvidia.com/gpu`. The
numbers are those of a kubelet: the capacity counts the devices that the plugin lists, and allocatable are the healthy
ones (`GetCapacity` in pkg/kubelet/cm/devicemanager of Kubernetes 1.36). Source of the rest:
https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import format_time, parse_duration, parse_time
from kwokctl.fleet.devices import device_ids, gpu_of, is_device
from kwokctl.json_value import Json

DEVICE_HEALTH = "kwokctl.dev/device-health"
"""The annotation of a node that says which of its devices are not healthy."""
DEVICE_INVENTORY = "kwokctl.dev/device-inventory"
"""The annotation in which the controller keeps how many devices a node has while some are not healthy."""
GRACE = 300.0
"""Seconds after the end of a device plugin in which a kubelet still counts its devices in the capacity."""
MOST = 1024
"""The most devices of a resource of a node: more are an amount, of which no pod has certain ones."""
_EVERY = "all"
_HINT = (
    "give words with spaces between them: 'unhealthy=0,3', 'missing=rdma/ib:1' (numbers or identifiers of devices), "
    "'gone=nvidia.com/gpu' (resources, or 'all') or 'delay=30s'"
)
Amounts = Mapping[str, int]


class DeviceHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of the annotation."""

    unhealthy: tuple[str, ...] = ()
    """Devices: the number of a GPU, `RESOURCE:NUMBER`, or an identifier."""
    missing: tuple[str, ...] = ()
    """Devices that the plugin does not list since it was started again."""
    gone: tuple[str, ...] = ()
    """Resources whose plugin is gone; `all` are all of them."""
    delay: float = 0.0
    """Seconds from the creation of the node until its plugins have registered."""

    def is_gone(self, resource: str) -> bool:
        """Return whether the plugin of a resource is gone."""
        return resource in self.gone or _EVERY in self.gone


@lru_cache(maxsize=256)
def read_health(text: str) -> DeviceHealth:
    """Read the annotation; ExpressionError if it cannot be read."""
    found: dict[str, tuple[str, ...] | float] = {}
    for part in text.split():
        word, equals, value = part.partition("=")
        read = _WORDS.get(word)
        if read is None or not equals or word in found:
            raise ExpressionError(f"'{part}' is not understood", hint=_HINT)
        found[word] = read(value)
    return msgspec.convert(found, DeviceHealth)


def _listed(text: str) -> tuple[str, ...]:
    each = tuple(part.strip() for part in text.split(","))
    if not all(each):
        raise ExpressionError(f"'{text}' is not a list", hint=_HINT)
    return each


def _delay(text: str) -> float:
    seconds = parse_duration(text)
    if seconds < 0:
        raise ExpressionError(f"the delay '{text}' is negative", hint=_HINT)
    return seconds


_WORDS: Mapping[str, Callable[[str], tuple[str, ...] | float]] = {
    "unhealthy": _listed, "missing": _listed, "gone": _listed, "delay": _delay,
}  # fmt: skip


class NodeDevices(NamedTuple):
    """The devices of one resource of a node."""

    listed: Sequence[str]
    """Those that the plugin lists, in the order in which pods get them."""
    unhealthy: frozenset[str]
    """Those that are not healthy, whether they are listed or not."""

    @property
    def healthy(self) -> Sequence[str]:
        """Those that a pod can get."""
        if not self.unhealthy:
            return self.listed
        return [each for each in self.listed if each not in self.unhealthy]


def devices_of(
    node: str, labels: Mapping[str, str], counts: Amounts, resource: str, health: DeviceHealth
) -> NodeDevices:
    """Return the devices of a resource; `counts` are what the node has of each resource if all is well."""
    ids = device_ids(node, labels, counts, resource)
    if health.is_gone(resource):
        return NodeDevices(ids, frozenset(ids))

    def named(words: Sequence[str]) -> frozenset[str]:
        return frozenset(
            each
            for number, each in enumerate(ids)
            if each in words
            or f"{resource}:{number}" in words
            or ((gpu := gpu_of(node, labels, counts, each)) is not None and str(gpu) in words)
        )

    missing = named(health.missing) if health.missing else ()
    listed = [each for each in ids if each not in missing] if missing else ids
    return NodeDevices(listed, named(health.unhealthy) if health.unhealthy else frozenset())


class Inventory(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state that is kept about a node with devices that are not healthy: the second annotation."""

    devices: dict[str, int] = msgspec.field(default_factory=dict)
    """The number of devices by resource, if all is well."""
    gone: dict[str, str] = msgspec.field(default_factory=dict)
    """Since when the plugin of a resource has been gone."""


@lru_cache(maxsize=256)
def read_inventory(text: str) -> Inventory:
    """Read the annotation; what cannot be read is empty."""
    try:
        return _inventory(text) if text else Inventory()
    except msgspec.DecodeError:
        return Inventory()


_inventory = msgspec.json.Decoder(Inventory).decode


def all_devices(capacity: Amounts, inventory: Inventory) -> Amounts:
    """Return the number of devices that a node has of each resource if all is well."""
    found = {name: number for name, number in capacity.items() if number and is_device(name)}
    return {**found, **inventory.devices} if inventory.devices else found


class DeviceReport(NamedTuple):
    """The part of a node's status that is about devices, and what is remembered."""

    capacity: Amounts
    allocatable: Amounts
    inventory: str | None
    """The annotation with the inventory; None if the node has none."""
    due: float | None
    """The time at which it is another, as a POSIX time stamp."""


def report_of(node: Json, capacity: Amounts, now: float) -> DeviceReport | None:
    """Return what the kubelet of a node reports of its devices; None if the annotations ask for nothing.

    `capacity` are the numbers in the node's capacity. Raises ExpressionError for an annotation that cannot be read.
    """
    meta = node["metadata"]
    annotations = meta.get("annotations") or {}
    text, kept = annotations.get(DEVICE_HEALTH, ""), annotations.get(DEVICE_INVENTORY)
    inventory = read_inventory(kept or "")
    counts = all_devices(capacity, inventory)
    if not text.strip():
        return None if kept is None else DeviceReport(counts, counts, None, None)
    health = read_health(text)
    since = {
        name: inventory.gone.get(name) or format_time(int(now))
        for name in counts
        if health.is_gone(name)
    }
    written = msgspec.json.encode(Inventory({**counts}, since)).decode()
    begin = parse_time(meta["creationTimestamp"]) + health.delay if health.delay else 0.0
    if now < begin:
        none = dict.fromkeys(counts, 0)
        return DeviceReport(none, none, written, begin)
    ends = {name: parse_time(at) + GRACE for name, at in since.items()}
    numbers = {
        name: (0 if now >= ends[name] else number, 0)
        if name in ends
        else _numbers(meta, counts, name, health)
        for name, number in counts.items()
    }
    return DeviceReport(
        {name: listed for name, (listed, _) in numbers.items()},
        {name: healthy for name, (_, healthy) in numbers.items()},
        written,
        min((end for end in ends.values() if end > now), default=None),
    )


def _numbers(meta: Json, counts: Amounts, resource: str, health: DeviceHealth) -> tuple[int, int]:
    number = counts[resource]
    if number > MOST:
        return number, number
    found = devices_of(meta["name"], meta.get("labels") or {}, counts, resource, health)
    return len(found.listed), len(found.healthy)


def unknown_words(node: Json, capacity: Amounts) -> Iterator[str]:
    """Yield the words of the annotation, which can be read, that name nothing of the node."""
    meta = node["metadata"]
    annotations, labels = meta.get("annotations") or {}, meta.get("labels") or {}
    counts = all_devices(capacity, read_inventory(annotations.get(DEVICE_INVENTORY, "")))
    health = read_health(annotations.get(DEVICE_HEALTH, ""))
    yield from (each for each in health.gone if each != _EVERY and each not in counts)
    few = [name for name, number in counts.items() if number <= MOST]
    for word in dict.fromkeys((*health.unhealthy, *health.missing)):
        asked = DeviceHealth(unhealthy=(word,))
        if not any(devices_of(meta["name"], labels, counts, each, asked).unhealthy for each in few):
            yield word

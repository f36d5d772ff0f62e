"""Foresees the writes of a fault on a node, and their times, before it is injected. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kwokctl.faults.journal import NodeField
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.faults.overlays.fault_course import ClassDefinition, InjectedFault, course_of
from kwokctl.faults.overlays.fault_events import fault_events
from kwokctl.faults.overlays.node_fields import fields_of, gpus_of
from kwokctl.faults.overlays.open_entries import OpenEntry, entries_of
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.json_value import Json

_ADDED = "timeAdded"


class ForeseenWrite(msgspec.Struct, frozen=True, kw_only=True):
    """All that changes on a node at one time."""

    after: float
    """Seconds after the start of the fault."""
    changes: tuple[str, ...]
    """Fields with their values before and after, and Events."""


def foreseen_writes(
    node: Mapping[str, Json],
    definition: ClassDefinition,
    fault: InjectedFault,
    units: Sequence[FaultUnit],
) -> list[ForeseenWrite]:
    """Return what a fault writes on a node, which is whole, as JSON; `units` are those that it hits there.

    Other faults that the node shows now are ignored.
    """
    beneath = overlay(node, (), fault.since)
    gpus, pods = gpus_of(beneath), [each.pod_uid for each in units if each.pod]
    hit = [FaultUnit(node=units[0].node, node_uid=units[0].node_uid)] if pods else units
    courses = [course_of(definition, fault, each, gpus=gpus, pods=pods) for each in hit]
    writes: list[ForeseenWrite] = []
    before = beneath
    for time in sorted({time for course in courses for time in course.times}):
        opened = [each for course in courses for each in course.at(time)]
        # What is shown already has its place in the node before, so an Event comes once.
        events = [
            f"Event {event.type} {event.reason}: {event.message}"
            for event in fault_events(before, opened)
        ]
        after = overlay(before, opened, fault.since + time)
        if changes := (*_effects(before, after), *_changes(before, after), *events):
            writes.append(ForeseenWrite(after=time, changes=changes))
        before = after
    return writes


def _effects(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[str]:
    """Yield the effects that begin and are not fields of the node: of kubelet, devices, programs, kernel log and metrics."""
    known = {each.key for each in entries_of(before)}
    for entry in entries_of(after):
        if entry.key not in known:
            yield from _of_entry(entry)
        yield from _device_taints(entry, before)


def _of_entry(entry: OpenEntry) -> Iterator[str]:
    if entry.order:
        yield f"{entry.class_name} follows{'' if entry.gpu is None else f' on GPU {entry.gpu}'}"
    if entry.device is not None:
        yield f"GPU {entry.gpu} is {entry.device}"
    if entry.kubelet is not None:
        yield f"the kubelet is {entry.kubelet}"
    if entry.workload is not None:
        gang = ", and those of its gang" if entry.workload.gang else ""
        yield f"pods that use it{gang}: {entry.workload.effect}"
    if entry.pod is not None:
        yield f"pods that are hit: {entry.pod.fails} fails"
    yield from (f"kernel log: {line}" for line in entry.kernel_log)
    for metric in entry.metrics:
        yield f"metric {metric.name}: {metric.change} {metric.value}".rstrip()


def _device_taints(entry: OpenEntry, before: Mapping[str, Json]) -> Iterator[str]:
    had = next((each.device_taints for each in entries_of(before) if each.key == entry.key), ())
    for taint in entry.device_taints[len(had) :]:
        value = f"={taint.value}" if taint.value else ""
        yield f"taint of GPU {entry.gpu} in its ResourceSlice: {taint.key}{value}:{taint.effect}"


def _changes(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[str]:
    old, new = fields_of(before), fields_of(after)
    for field in {**old, **new}:
        was, is_ = old.get(field), new.get(field)
        if was != is_:
            yield f"{field.surface}[{field.name}]: {_text(field, was)} -> {_text(field, is_)}"


def _text(field: NodeField, value: Json) -> str:
    if value is None:
        return "none"
    if field.surface == "taints":
        value = {key: each for key, each in value.items() if key != _ADDED}
    return json.dumps(value, ensure_ascii=False)

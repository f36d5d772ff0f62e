"""The conditions, taints, labels and devices that open faults show, in the words of the agents. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from kwokctl.faults.classes.catalogue import FaultDialect
from kwokctl.faults.classes.class_schema import (
    ConditionStatus,
    DeviceSignal,
    DeviceState,
    FaultCondition,
    FaultDialectSpec,
    FaultEffects,
    FaultSignal,
    FaultTaint,
)
from kwokctl.faults.classes.message_texts import HitNode, context, rendered
from kwokctl.faults.overlays.open_entries import FaultIdentity, OpenEntry, entry_of
from kwokctl.json_value import Json


class DueSignal(NamedTuple):
    """A signal that an agent shows by now."""

    dialect: FaultDialect
    signal: FaultSignal


class OpenFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault of a node, as far as it is shown."""

    parameters: Mapping[str, Json]
    device: DeviceState | None
    """The state of the GPU that it hits."""
    due: tuple[DueSignal, ...]
    effects: FaultEffects = FaultEffects()
    """The effects that do not depend on which agents look at the node."""
    identity: FaultIdentity | None = None
    """The fault, class and start; None for an example."""

    @property
    def gpu(self) -> int | None:
        """The index of the GPU that it hits."""
        return self.parameters.get("gpu")


class ShownCondition(msgspec.Struct, frozen=True, kw_only=True):
    """A condition in the words of an agent."""

    type: str
    status: ConditionStatus
    reason: str
    message: str
    separator: str | None


class NodeEffects(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one fault shows on its node."""

    conditions: tuple[ShownCondition, ...]
    taints: tuple[FaultTaint, ...]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    devices: frozenset[DeviceSignal]
    gpu: int | None
    entry: OpenEntry | None
    """Its entry in the annotation of open faults; None for an example."""


def effects_of(node: HitNode, faults: Sequence[OpenFault]) -> Iterator[NodeEffects]:
    """Yield what each fault shows, in the order of the faults."""
    for fault, values in zip(faults, signal_values(node, faults), strict=True):
        devices = frozenset(each.signal.devices for each in fault.due if each.signal.devices)
        yield NodeEffects(
            conditions=tuple(_conditions(fault, values)),
            taints=tuple(_taints(fault, values)),
            labels=_texts((each.signal.labels for each in fault.due), values),
            annotations=_texts((each.signal.annotations for each in fault.due), values),
            devices=devices,
            gpu=fault.gpu,
            entry=_entry(fault, values),
        )


def signal_values(node: HitNode, faults: Sequence[OpenFault]) -> Iterator[dict[str, Json]]:
    """Yield the values of the templates of each fault, in the order of the faults.

    Messages count the GPUs that are missing by the fault and by those before it.
    """
    missing: set[int] = set()
    for fault in faults:
        if fault.device == "missing" and fault.gpu is not None:
            missing.add(fault.gpu)
        yield context(node, fault.parameters, missing=len(missing))


def _entry(fault: OpenFault, values: Mapping[str, Json]) -> OpenEntry | None:
    if fault.identity is None:
        return None
    taints = [taint for each in fault.due for taint in each.signal.device_taints]
    return entry_of(fault.identity, fault.effects, len(fault.due), taints, values)


def _conditions(fault: OpenFault, values: Mapping[str, Json]) -> Iterator[ShownCondition]:
    for dialect, signal in fault.due:
        for each in signal.conditions:
            yield shown_condition(each, dialect.spec, values)


def shown_condition(
    condition: FaultCondition, dialect: FaultDialectSpec, values: Mapping[str, Json]
) -> ShownCondition:
    """Return a condition as a dialect shows it."""
    return ShownCondition(
        type=condition.type,
        status=condition.status or dialect.bad_status,
        reason=rendered(condition.reason, values),
        message=rendered(condition.message, values)[: dialect.longest_message],
        separator=dialect.separator,
    )


def _taints(fault: OpenFault, values: Mapping[str, Json]) -> Iterator[FaultTaint]:
    for _, signal in fault.due:
        for each in signal.taints:
            yield FaultTaint(key=each.key, value=rendered(each.value, values), effect=each.effect)


def _texts(parts: Iterator[Mapping[str, str]], values: Mapping[str, Json]) -> Mapping[str, str]:
    return {key: rendered(text, values) for each in parts for key, text in each.items()}

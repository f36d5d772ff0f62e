"""Explains a class of faults: what each dialect shows and when, what Kubernetes does about it, and what clears it. Pure."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kwokctl.expr.duration import format_duration, parse_nanoseconds
from kwokctl.faults.classes.catalogue import FaultClass, FaultDialect
from kwokctl.faults.classes.class_parameters import parameters_of, usual_values
from kwokctl.faults.classes.class_schema import Cure, FaultCascade, FaultEffects, FaultWorkload
from kwokctl.faults.classes.message_texts import context, rendered
from kwokctl.faults.explaining.api_words import api_words
from kwokctl.faults.explaining.example_node import example_node
from kwokctl.faults.explaining.reactions import reactions
from kwokctl.faults.journal import journal_of
from kwokctl.faults.overlays.effects import DueSignal, OpenFault, shown_condition
from kwokctl.faults.overlays.node_fields import facts_of, fields_of
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.fleet.device_health import report_of
from kwokctl.json_value import Json

_NOW = 1767268800.0
"""The POSIX time at which the example is hit; the explanation does not show it."""


class ExplainedParameter(msgspec.Struct, frozen=True, kw_only=True):
    """A value that a fault of the class may be given."""

    name: str
    about: str
    type: str
    default: Json
    """None if it is drawn."""


class ShownSignal(msgspec.Struct, frozen=True, kw_only=True):
    """All that an agent shows at one time."""

    dialect: str
    earliest: str
    latest: str
    shows: tuple[str, ...]
    note: str


class ShownChange(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the node, before and while there is the fault."""

    field: str
    before: Json
    shown: Json


class FaultExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known of a class."""

    name: str
    summary: str
    layer: str
    scope: str
    severity: str
    causes: tuple[str, ...]
    lifetime: str
    unit: str | None
    cleared_by: tuple[Cure, ...]
    clearing_odds: Mapping[Cure, float]
    """With which probability some of `cleared_by` end it; the others always do."""
    parameters: tuple[ExplainedParameter, ...]
    effects: tuple[str, ...]
    follows: tuple[str, ...]
    signals: tuple[ShownSignal, ...]
    blind: tuple[str, ...]
    remarks: tuple[str, ...]
    """The notes on the dialects that show it."""
    reactions: tuple[str, ...]
    changes: tuple[ShownChange, ...]


def explain(
    found: FaultClass, dialects: Sequence[FaultDialect], followers: Sequence[FaultClass] = ()
) -> FaultExplanation:
    """Return the explanation of a class for some dialects; `followers` are the classes that follow from it."""
    spec = found.spec
    due = [*_due(found, dialects)]
    values = usual_values(spec)
    before = example_node(each for each in dialects if each.name in spec.signals)
    missing = int(spec.effects.device == "missing")
    texts = context(facts_of(before, fields_of(before)), values, missing=missing)
    fault = OpenFault(parameters=values, device=spec.effects.device, due=tuple(due))
    return FaultExplanation(
        name=found.name,
        summary=spec.summary,
        layer=spec.layer,
        scope=spec.scope,
        severity=spec.severity,
        causes=spec.causes,
        lifetime=spec.lifetime,
        unit=spec.unit,
        cleared_by=spec.cleared_by,
        clearing_odds=spec.clearing_odds,
        parameters=tuple(
            ExplainedParameter(name=name, about=each.about, type=each.type, default=each.default)
            for name, each in parameters_of(spec).items()
        ),
        effects=tuple(_effects(found.spec.effects, texts)),
        follows=tuple(map(_follows, spec.cascades)),
        signals=tuple(_signal(each, texts) for each in due),
        blind=tuple(each.name for each in dialects if each.name not in spec.signals),
        remarks=tuple(
            f"{each.name}: {each.spec.note}"
            for each in dialects
            if each.spec.note and each.name in spec.signals
        ),
        reactions=tuple(_reactions([found, *followers], dialects)) or ("nothing",),
        changes=tuple(_changes(before, overlay(before, [fault], _NOW))),
    )


def _due(found: FaultClass, dialects: Sequence[FaultDialect]) -> Iterator[DueSignal]:
    """Yield all signals of a class, as when the last one has come."""
    for each in dialects:
        yield from (DueSignal(each, signal) for signal in found.spec.signals.get(each.name, ()))


def _reactions(found: Sequence[FaultClass], dialects: Sequence[FaultDialect]) -> Iterator[str]:
    every = (
        reaction
        for each in found
        for reaction in reactions(each.spec, [due.signal for due in _due(each, dialects)])
    )
    yield from dict.fromkeys(every)


def _effects(effects: FaultEffects, texts: Mapping[str, Json]) -> Iterator[str]:
    if effects.device is not None:
        yield f"the GPU is {effects.device}"
    if effects.kubelet is not None:
        every = rendered(effects.renews_every, texts)
        yield f"the kubelet is {effects.kubelet}" + (
            f": it renews its Lease every {every}" if every else ""
        )
    if effects.workload is not None:
        yield _workload(effects.workload, texts)
    if effects.pod is not None:
        pod = effects.pod
        words = (pod.fails, pod.exit_code and f"exit code {pod.exit_code}", pod.reason, pod.message)
        shown = (rendered(each, texts) for each in words)
        yield f"fails: {', '.join(each for each in shown if each)}"
    if effects.api is not None:
        yield from api_words(effects.api, texts)
    for line in effects.kernel_log:
        yield f"kernel log: {rendered(line, texts)}"
    for metric in effects.metrics:
        yield f"metric {metric.name}: {metric.change} {rendered(metric.value, texts)}".rstrip()


def _workload(workload: FaultWorkload, texts: Mapping[str, Json]) -> str:
    after = "" if parse_nanoseconds(workload.after) == 0 else f" after {workload.after}"
    match workload.effect:
        case "fail":
            reason = f", {workload.reason}" if workload.reason else ""
            return f"programs that use it fail{after}: exit code {workload.exit_code}{reason}"
        case "hang":
            return f"programs that use it hang{after}"
        case "slow":
            return f"programs that use it take {rendered(workload.factor, texts)} times as long"
        case "corrupt":
            return "programs that use it compute wrong results"


def _follows(cascade: FaultCascade) -> str:
    given = ", ".join(f"{name}={value}" for name, value in cascade.parameters.items())
    after = "at once" if parse_nanoseconds(cascade.after) == 0 else f"after {cascade.after}"
    return f"{cascade.class_name} on {_HIT[cascade.hits]}, {after}{f' ({given})' if given else ''}"


_HIT = {
    "device": "the same GPU", "node": "the node", "node-gpus": "all GPUs of the node",
    "nvlink-peers": "its peers of NVLink", "unit-nodes": "all nodes of the unit",
}  # fmt: skip
_DEVICES = {
    "unhealthy": "the GPU is in the capacity and not allocatable",
    "missing": "the GPU is neither in the capacity nor allocatable",
    "plugin-gone": "no GPU is allocatable, and after 5 minutes none is in the capacity",
}


def _signal(due: DueSignal, texts: Mapping[str, Json]) -> ShownSignal:
    dialect, signal = due.dialect.spec, due.signal
    delay = parse_nanoseconds(signal.delay)
    poll = signal.poll_interval if signal.poll_interval is not None else dialect.poll_interval
    return ShownSignal(
        dialect=due.dialect.name,
        earliest=format_duration(delay),
        latest=format_duration(delay + parse_nanoseconds(poll)),
        shows=tuple(_shown(due, texts)),
        note=signal.note,
    )


def _shown(due: DueSignal, texts: Mapping[str, Json]) -> Iterator[str]:
    signal = due.signal
    for each in signal.conditions:
        words = shown_condition(each, due.dialect.spec, texts)
        yield f"condition {words.type}={words.status} {words.reason}{_quoted(words.message)}"
    for event in signal.events:
        reason, message = rendered(event.reason, texts), rendered(event.message, texts)
        message = message[: due.dialect.spec.longest_message]
        source = event.component or due.dialect.spec.component
        yield f"Event {event.type} {reason}{_quoted(message)}{f' from {source}' if source else ''}"
    for kind, taints in (("taint", signal.taints), ("device taint", signal.device_taints)):
        for taint in taints:
            value = f"={rendered(taint.value, texts)}" if taint.value else ""
            yield f"{kind} {taint.key}{value}:{taint.effect}"
    for kind, values in (("label", signal.labels), ("annotation", signal.annotations)):
        for key, text in values.items():
            yield f"{kind} {key}={rendered(text, texts)}"
    if signal.devices is not None:
        yield _DEVICES[signal.devices]


def _quoted(message: str) -> str:
    return f" '{message}'" if message else ""


def _changes(before: Mapping[str, Json], node: Mapping[str, Json]) -> Iterator[ShownChange]:
    """Yield what the journal of a node says: each field that is shown, and what lies beneath."""
    for field, each in journal_of(node).items():
        yield ShownChange(
            field=f"{field.surface}[{field.name}]", before=each.base, shown=each.shown
        )
    yield from _reported(before, node)


def _reported(before: Mapping[str, Json], node: Mapping[str, Json]) -> Iterator[ShownChange]:
    """Yield the numbers of devices that the controller reports by the annotation of their health."""
    report = report_of(node, facts_of(before, fields_of(before)).capacity, _NOW)
    for part in ("capacity", "allocatable") if report is not None else ():
        for resource, number in getattr(report, part).items():
            if (old := before["status"][part][resource]) != str(number):
                yield ShownChange(field=f"{part}[{resource}]", before=old, shown=str(number))

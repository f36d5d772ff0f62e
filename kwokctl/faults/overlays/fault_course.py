"""The course of a fault on a unit: what follows from it, and when each agent shows it. Pure.

All of it is computed from the seed of the fault and the names of class, unit and agent, so it is the same on every
controller, after a restart, and whatever else is injected. An agent that looks every 60 s finds a fault within
60 s, at a time that is drawn.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

import msgspec

from kwokctl.draws.streams import DrawStream
from kwokctl.expr.duration import parse_duration
from kwokctl.faults.classes.catalogue import FaultClass, FaultDialect
from kwokctl.faults.classes.class_parameters import parameters_of
from kwokctl.faults.classes.class_schema import FaultCascade, FaultParameter
from kwokctl.faults.objects.fault_schema import FaultSpec
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.faults.overlays.effects import DueSignal, OpenFault
from kwokctl.faults.overlays.open_entries import FaultIdentity, OpenEntry
from kwokctl.json_value import Json
from kwokctl.replacing import replace

_NODES = frozenset({"node", "unit-nodes"})
"""The words for the node itself: a fault of a unit has a row for each node of it."""
_DEEPEST = 4
"""The longest chain of faults that follow from each other: classes of a user may follow in a circle."""


class ClassDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A class with all that follow from it, and the dialects that show them, in the order of what they show."""

    found: FaultClass
    classes: Mapping[str, FaultClass]
    dialects: Sequence[FaultDialect]


class InjectedFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that has begun."""

    name: str
    uid: str
    seed: int
    parameters: Mapping[str, Json]
    gang: bool = False
    since: float
    """The clock of faults at its start."""
    time_scale: float = 1.0
    """Delays are shorter by this factor."""


def injected_fault(spec: FaultSpec, *, name: str, uid: str, since: float) -> InjectedFault:
    """Return a fault that began at a time on the clock of faults; an empty `uid` stands for one that is only foreseen."""
    return InjectedFault(
        name=name,
        uid=uid,
        seed=spec.seed,
        parameters=spec.parameters,
        gang=spec.gang,
        since=since,
        time_scale=spec.time_scale,
    )


class CoursePart(msgspec.Struct, frozen=True, kw_only=True):
    """The fault itself on a unit, or one that follows from it."""

    identity: FaultIdentity
    found: FaultClass
    parameters: Mapping[str, Json]
    begins: float
    """Seconds after the start of the fault."""
    signals: tuple[tuple[float, DueSignal], ...]
    """By their times, in seconds after the start of the fault; those of one time in the order of the dialects."""

    @property
    def key(self) -> tuple[str, int | None, int]:
        """The key of its entry on the node."""
        return self.identity.uid, self.parameters.get("gpu"), self.identity.order


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """All that a unit shows of a fault, and when."""

    parts: tuple[CoursePart, ...]
    times: tuple[float, ...]
    """The times at which something more is shown, ascending, in seconds after the start."""

    def at(self, age: float) -> Iterator[OpenFault]:
        """Yield what is open by now, the fault itself first; `age` is in seconds after the start."""
        for part in self.parts:
            if part.begins <= age:
                yield OpenFault(
                    parameters=part.parameters,
                    device=part.found.spec.effects.device,
                    due=tuple(due for time, due in part.signals if time <= age),
                    effects=part.found.spec.effects,
                    identity=part.identity,
                )

    def is_complete(self, entries: Sequence[OpenEntry]) -> bool:
        """Return whether a node with these entries shows everything that is to come."""
        shown = {each.key: each.shown for each in entries}
        return all(shown.get(part.key, -1) >= len(part.signals) for part in self.parts)

    def late(self, before: Sequence[OpenEntry], entries: Sequence[OpenEntry], age: float) -> float:
        """Return how many seconds late the latest signal is that a node shows now and did not show before; 0 without one."""
        old, new = ({each.key: each.shown for each in some} for some in (before, entries))
        dues = (
            time
            for part in self.parts
            for time, _ in part.signals[old.get(part.key, 0) : new.get(part.key, 0)]
        )
        return max((age - time for time in dues), default=0.0)

    def next(self, age: float) -> float | None:
        """Return the time at which more is shown than at an age; None if that was all."""
        return next((time for time in self.times if time > age), None)


def course_of(
    definition: ClassDefinition,
    fault: InjectedFault,
    unit: FaultUnit,
    *,
    gpus: int,
    pods: Sequence[str] = (),
) -> Course:
    """Return the course of a fault on a unit.

    `gpus` is the number of GPUs of the node, all of them peers; `pods` are the uids of those of its pods that are hit.
    """
    stream = DrawStream.of(fault.seed, definition.found.name, unit.name)
    values = _drawn(definition.found, fault.parameters, unit.gpu, stream)
    identity = FaultIdentity(
        fault=fault.name,
        uid=fault.uid,
        class_name=definition.found.name,
        since=fault.since,
        pods=tuple(pods),
        gang=fault.gang,
    )
    first = _part(definition, identity, definition.found, values, 0.0, stream)
    parts = [first, *_following(definition, identity, first, gpus, stream, depth=1)]
    numbered = tuple(
        _hastened(replace(part, identity=replace(part.identity, order=order)), fault)
        for order, part in enumerate(parts)
    )
    times = {part.begins for part in numbered} | {
        time for part in numbered for time, _ in part.signals
    }
    return Course(parts=numbered, times=tuple(sorted(times)))


def _hastened(part: CoursePart, fault: InjectedFault) -> CoursePart:
    """Return a part on the clock of the fault."""
    scale = fault.time_scale
    if scale == 1.0:
        return part
    begins = part.begins / scale
    return replace(
        part,
        identity=replace(part.identity, since=fault.since + begins),
        begins=begins,
        signals=tuple((time / scale, due) for time, due in part.signals),
    )


def class_length(definition: ClassDefinition, spec: FaultSpec) -> float | None:
    """Return after how many seconds a fault ends because its class says so; None if nothing but its spec, or a deletion, ends it."""
    lasts = definition.found.spec.lasts
    return parse_duration(lasts) / spec.time_scale if lasts else None


def _following(
    definition: ClassDefinition,
    identity: FaultIdentity,
    part: CoursePart,
    gpus: int,
    stream: DrawStream,
    depth: int,
) -> Iterator[CoursePart]:
    """Yield the faults that follow from one, and those that follow from these."""
    if depth > _DEEPEST:
        return
    for number, cascade in enumerate(part.found.spec.cascades):
        found = definition.classes[cascade.class_name]
        for gpu in _hit(cascade, part.parameters.get("gpu"), gpus):
            own = stream.below(f"{depth}/{number}/{gpu}")
            values = _drawn(found, cascade.parameters, gpu, own)
            begins = part.begins + parse_duration(cascade.after)
            of_class = replace(identity, class_name=found.name)
            follower = _part(definition, of_class, found, values, begins, own)
            yield follower
            yield from _following(definition, identity, follower, gpus, own, depth + 1)


def _hit(cascade: FaultCascade, gpu: int | None, gpus: int) -> Sequence[int | None]:
    """Return the GPUs that are hit; None stands for the node."""
    if cascade.hits in _NODES:
        return [None]
    if cascade.hits == "device":
        return [gpu]
    peers = [each for each in range(gpus) if each != gpu]
    return peers if cascade.hits == "nvlink-peers" else [*range(gpus)]


def _part(
    definition: ClassDefinition,
    identity: FaultIdentity,
    found: FaultClass,
    values: Mapping[str, Json],
    begins: float,
    stream: DrawStream,
) -> CoursePart:
    signals = [
        (begins + _delay(due, stream.below(f"signal/{due.dialect.name}/{number}")), due)
        for dialect in definition.dialects
        for number, due in enumerate(
            DueSignal(dialect, signal) for signal in found.spec.signals.get(dialect.name, ())
        )
    ]
    return CoursePart(
        identity=replace(identity, since=identity.since + begins),
        found=found,
        parameters=values,
        begins=begins,
        signals=tuple(sorted(signals, key=itemgetter(0))),
    )


def _delay(due: DueSignal, stream: DrawStream) -> float:
    """Return the seconds after which an agent shows a fault: its delay, and the rest until its next look."""
    signal, dialect = due.signal, due.dialect.spec
    poll = signal.poll_interval if signal.poll_interval is not None else dialect.poll_interval
    return parse_duration(signal.delay) + stream.at(0) * parse_duration(poll)


def _drawn(
    found: FaultClass,
    given: Mapping[str, Json],
    gpu: int | None,
    stream: DrawStream,
) -> dict[str, Json]:
    """Return a value for each parameter: the given one, the default, or one that is drawn."""
    values: dict[str, Json] = {}
    for name, parameter in parameters_of(found.spec).items():
        if name == "gpu":
            values[name] = gpu
        elif name in given:
            values[name] = given[name]
        elif parameter.default is not None:
            values[name] = parameter.default
        else:
            values[name] = _draw(parameter, stream.below(f"parameter/{name}").at(0))
    return values


def _draw(parameter: FaultParameter, chance: float) -> Json:
    """Return a value of a parameter by a number between 0 and 1."""
    if parameter.choices:
        return parameter.choices[int(chance * len(parameter.choices))]
    least = parameter.minimum or 0
    most = parameter.maximum if parameter.maximum is not None else least
    match parameter.type:
        case "integer":
            return int(least + chance * (most - least + 1))
        case "number":
            return least + chance * (most - least)
        case "duration":
            return f"{least + chance * (most - least):.3f}s"
        case "text":
            return ""

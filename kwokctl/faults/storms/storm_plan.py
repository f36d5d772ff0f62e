"""The plan of a storm: every fault with its unit, time and length, before anything happens. Pure.

Equal schedules on equal fleets have equal plans, whatever reacts to the faults. A plan knows nothing of limits and of nodes that
are already broken: what cannot be injected when its time has come is suppressed then, and no other fault takes its place.
"""

from collections.abc import Iterator, Sequence

import msgspec

from kwokctl.draws.streams import DrawStream
from kwokctl.expr.duration import parse_duration
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.storms.fault_times import DIGITS, fixed_times, length, unit_times
from kwokctl.faults.storms.schedule_schema import FaultProcess, FaultScheduleSpec
from kwokctl.faults.storms.storm_units import StormUnit, storm_units
from kwokctl.faults.targets.candidates import CandidateNode
from kwokctl.json_value import Json

_PROCESS, _LEMON, _PICK, _SEED = "process", "lemon", "pick", "seed"
_SEEDS = 2**31


class PlannedFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that is to come."""

    at: float
    """Seconds after the start of the storm, on the clock of its schedule."""
    process: str
    class_name: str = msgspec.field(name="class")
    unit: str
    """The name of what it hits."""
    level: str | None
    """The level of the fleet, for a unit that fails as a whole."""
    nodes: tuple[str, ...]
    gpu: int | None
    lasts: float | None = msgspec.field(name="for")
    """Seconds from its start to its end; None where its class, or a client that clears it, ends it."""
    seed: int
    """The seed of what the fault itself draws: its parameters, and the delays of its signals."""
    parameters: dict[str, Json] = msgspec.field(default_factory=dict)
    gang: bool = False
    racks: tuple[str, ...] = ()
    lemon: bool = False
    """Whether a node of the unit fails more often than others."""


class StormPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All faults of a storm, in the order of their times."""

    horizon: float
    """Seconds, on the clock of the schedule."""
    faults: tuple[PlannedFault, ...]
    lemons: tuple[str, ...]
    """The names of the nodes that fail more often, sorted."""
    empty: tuple[str, ...]
    """The processes that have no unit on these nodes."""


def storm_plan(
    spec: FaultScheduleSpec,
    processes: Sequence[FaultProcess],
    catalogue: FaultCatalogue,
    nodes: Sequence[CandidateNode],
) -> StormPlan:
    """Return the plan of a schedule on the nodes of its target; `processes` are those of its profile and its own.

    The schedule has passed `check_schedule`.
    """
    horizon = parse_duration(spec.horizon)
    lemons = _lemons(spec, nodes)
    faults: list[PlannedFault] = []
    empty: list[str] = []
    for process in processes:
        units = storm_units(process, catalogue.find(process.class_name), nodes)
        if not units:
            empty.append(process_name(process))
        faults += _of_process(spec, process, units, lemons, horizon)
    return StormPlan(
        horizon=horizon,
        faults=tuple(sorted(faults, key=lambda each: (each.at, each.process, each.unit))),
        lemons=tuple(sorted(lemons)),
        empty=tuple(empty),
    )


def process_name(process: FaultProcess) -> str:
    """Return the name of a process."""
    return process.name or process.class_name


def _lemons(spec: FaultScheduleSpec, nodes: Sequence[CandidateNode]) -> frozenset[str]:
    if spec.lemons is None:
        return frozenset()
    stream, fraction = DrawStream.of(spec.seed, _LEMON), spec.lemons.fraction
    return frozenset(each.name for each in nodes if stream.below(each.name).at(0) < fraction)


def _of_process(
    spec: FaultScheduleSpec,
    process: FaultProcess,
    units: Sequence[StormUnit],
    lemons: frozenset[str],
    horizon: float,
) -> Iterator[PlannedFault]:
    stream = DrawStream.of(spec.seed, _PROCESS, process_name(process))
    every = process.every
    if (gap := every.poisson or every.weibull) is not None:
        for unit in units:
            own, is_lemon = stream.below(unit.name), not lemons.isdisjoint(unit.nodes)
            factor = spec.rate_factor * (spec.lemons.factor if spec.lemons and is_lemon else 1.0)
            for number, at in enumerate(unit_times(gap, factor, horizon, own)):
                yield _planned(process, unit, at, number, own, is_lemon=is_lemon)
        return
    for number, (at, name) in enumerate(_given(process, horizon)):
        hit = _unit(units, name, stream.below(_PICK).at(number)) if units else None
        if hit is not None:
            is_lemon = not lemons.isdisjoint(hit.nodes)
            yield _planned(process, hit, at, number, stream, is_lemon=is_lemon)


def _given(process: FaultProcess, horizon: float) -> Iterator[tuple[float, str]]:
    """Yield the times of a process that does not go by units, each with the name of its unit, or an empty one."""
    if process.every.fixed is not None:
        for at in fixed_times(process.every.fixed, horizon):
            yield at, ""
    for each in process.every.trace or ():
        if (at := round(parse_duration(each.at), DIGITS)) < horizon:
            yield at, each.unit


def _unit(units: Sequence[StormUnit], name: str, drawn: float) -> StormUnit | None:
    if name:
        return next((each for each in units if each.name == name), None)
    return units[int(drawn * len(units))]


def _planned(
    process: FaultProcess,
    unit: StormUnit,
    at: float,
    number: int,
    stream: DrawStream,
    *,
    is_lemon: bool,
) -> PlannedFault:
    return PlannedFault(
        at=at,
        process=process_name(process),
        class_name=process.class_name,
        unit=unit.name,
        level=unit.level,
        nodes=unit.nodes,
        gpu=unit.gpu,
        lasts=length(process.lasts, number, stream),
        seed=int(stream.below(_SEED).at(number) * _SEEDS),
        parameters=process.parameters,
        gang=process.gang,
        racks=unit.racks,
        lemon=is_lemon,
    )

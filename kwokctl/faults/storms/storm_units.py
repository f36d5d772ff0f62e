"""The units of a cluster that can fail in a storm, as a process names them: GPUs, nodes, or units of the fleet. Pure."""

from collections.abc import Sequence

import msgspec

from kwokctl.faults.classes.catalogue import FaultClass
from kwokctl.faults.classes.class_parameters import GPU_PARAMETER, parameters_of
from kwokctl.faults.storms.schedule_schema import FaultProcess
from kwokctl.faults.targets.candidates import CandidateNode


class StormUnit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit that can fail as a whole."""

    name: str
    """Its name in plans: `n-3`, `n-3/gpu-1`, or that of a rack or a leaf."""
    nodes: tuple[str, ...]
    """The names of its nodes, sorted: one for a node and for a GPU."""
    racks: tuple[str, ...] = ()
    """The racks in which it is, sorted; none for nodes without a place."""
    gpu: int | None = None
    level: str | None = None
    """The level of a unit of the fleet; None for a node or a GPU."""


def level_of(process: FaultProcess, found: FaultClass) -> str | None:
    """Return the level of the fleet whose units a process hits as a whole; None if it hits nodes or GPUs."""
    return process.unit or found.spec.unit


def has_gpus(found: FaultClass) -> bool:
    """Return whether faults of a class hit one GPU each."""
    return GPU_PARAMETER in parameters_of(found.spec)


def storm_units(
    process: FaultProcess, found: FaultClass, nodes: Sequence[CandidateNode]
) -> Sequence[StormUnit]:
    """Return the units that a process can hit, sorted by their names; `nodes` are those of its schedule's target."""
    level = level_of(process, found)
    if level is not None:
        return _fleet_units(level, nodes)
    given = process.parameters.get(GPU_PARAMETER)
    units = [
        unit
        for node in nodes
        for unit in (_gpus(node, given) if has_gpus(found) else [_unit(node)])
    ]
    return sorted(units, key=lambda each: each.name)


def _gpus(node: CandidateNode, given: int | None) -> list[StormUnit]:
    indices = range(node.gpus) if given is None else [given] if given < node.gpus else []
    return [_unit(node, gpu) for gpu in indices]


def _unit(node: CandidateNode, gpu: int | None = None) -> StormUnit:
    name = node.name if gpu is None else f"{node.name}/gpu-{gpu}"
    return StormUnit(name=name, nodes=(node.name,), racks=_racks([node]), gpu=gpu)


def _fleet_units(level: str, nodes: Sequence[CandidateNode]) -> Sequence[StormUnit]:
    members: dict[str, list[CandidateNode]] = {}
    for node in nodes:
        if level in node.place:
            members.setdefault(node.place[level], []).append(node)
    return [
        StormUnit(
            name=name,
            nodes=tuple(sorted(node.name for node in some)),
            racks=_racks(some),
            level=level,
        )
        for name, some in sorted(members.items())
    ]


def _racks(nodes: Sequence[CandidateNode]) -> tuple[str, ...]:
    return tuple(sorted({node.place["rack"] for node in nodes if "rack" in node.place}))

"""Reads a FaultSchedule, and says which field of it is wrong."""

from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from kwokctl import assets
from kwokctl.config.config_documents import Document, FieldError, load_documents, only_document
from kwokctl.config.document_kinds import FAULT_SCHEDULE
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ExpressionError
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.classes.document_errors import read, read_duration
from kwokctl.faults.fault_checks import check_fault
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultTarget
from kwokctl.faults.storms.fault_times import time_texts
from kwokctl.faults.storms.schedule_schema import (
    FaultProcess,
    FaultScheduleShape,
    FaultScheduleSpec,
)
from kwokctl.faults.storms.storm_plan import process_name
from kwokctl.faults.targets.node_expressions import compile_where

_PROFILES = "faults/profiles"
_MOST = 1_000_000
"""The most faults of one process at fixed times: a gap of a nanosecond would never end."""


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule, read and checked."""

    name: str
    spec: FaultScheduleSpec
    processes: tuple[FaultProcess, ...]
    """Those of its profile, then its own."""


@cache
def profile_names() -> Sequence[str]:
    """Return the names of the profiles."""
    return sorted(path.stem for path in assets.path(_PROFILES).glob("*.yaml"))


def read_schedule(document: Document, catalogue: FaultCatalogue) -> Schedule:
    """Return a schedule; ConfigError, with file, document and field, for one that makes no sense."""
    spec = read(document, document.body, FaultScheduleShape).spec
    _check_spec(document, spec, catalogue)
    processes = (*_of_profile(document, spec), *spec.processes)
    if not processes:
        raise document.fault(
            "spec.processes",
            "is empty",
            hint=f"give some, or a 'profile': {', '.join(profile_names())}",
        )
    names = [process_name(each) for each in processes]
    for name in names:
        if names.count(name) > 1:
            raise document.fault(
                "spec.processes",
                f"has several with the name '{name}'",
                hint="give each a 'name' of its own",
            )
    return Schedule(name=document.name, spec=spec, processes=processes)


def schedule_of(documents: Sequence[Document], source: str) -> Document:
    """Return the one document of the kind; ConfigError if there is another number of them in the file `source`."""
    return only_document(documents, FAULT_SCHEDULE, source)


def _of_profile(document: Document, spec: FaultScheduleSpec) -> tuple[FaultProcess, ...]:
    if not spec.profile:
        return ()
    if spec.profile not in profile_names():
        all_of_them = f"there are: {', '.join(profile_names())}"
        near = did_you_mean(spec.profile, profile_names())
        hint = f"{near} {all_of_them}" if near else all_of_them
        raise document.fault("spec.profile", f"is '{spec.profile}', no profile", hint=hint)
    path = assets.path(f"{_PROFILES}/{spec.profile}.yaml")
    (found,) = load_documents([str(path)])
    return read(found, found.body, FaultScheduleShape).spec.processes


def _check_spec(document: Document, spec: FaultScheduleSpec, catalogue: FaultCatalogue) -> None:
    horizon = read_duration(document, "spec.horizon", spec.horizon)
    if spec.target.where:
        try:
            compile_where(spec.target.where)
        except ExpressionError as e:
            raise document.fault("spec.target.where", f"cannot be used: {e}", hint=e.hint) from e
    for number, process in enumerate(spec.processes):
        place = f"spec.processes[{number}]"
        _check_class(document, place, process, spec.dialects, catalogue)
        _check_level(document, place, process, catalogue)
        for field, text in _durations(process):
            seconds = read_duration(document, f"{place}.{field}", text, may_be_zero=field in _ZERO)
            if field == "every.fixed.gap" and horizon / seconds > _MOST:
                raise document.fault(f"{place}.{field}", f"is '{text}': more than {_MOST:,} faults")


_ZERO = frozenset({"every.fixed.first"})


def _durations(process: FaultProcess) -> Iterator[tuple[str, str]]:
    """Yield the fields of a process that are durations, with their texts."""
    every = process.every
    if every.poisson is not None and every.poisson.mean:
        yield "every.poisson.mean", every.poisson.mean
    if every.weibull is not None:
        yield "every.weibull.scale", every.weibull.scale
    if every.fixed is not None:
        yield "every.fixed.gap", every.fixed.gap
        if every.fixed.first:
            yield "every.fixed.first", every.fixed.first
    for number, each in enumerate(every.trace or ()):
        yield f"every.trace[{number}].at", each.at
    yield from time_texts("for", process.lasts)


def _check_class(
    document: Document,
    place: str,
    process: FaultProcess,
    dialects: Sequence[str],
    catalogue: FaultCatalogue,
) -> None:
    """Check a process as the fault that it injects."""
    spec = FaultSpec(
        class_name=process.class_name,
        target=FaultTarget(percent=100),
        dialects=tuple(dialects),
        parameters=process.parameters,
        gang=process.gang,
    )
    try:
        check_fault(spec, catalogue, document.source)
    except FieldError as e:
        field = e.field.removeprefix("spec.")
        where = f"spec.{field}" if field.startswith("dialects") else f"{place}.{field}"
        raise document.fault(where, e.problem, hint=e.hint) from e


def _check_level(
    document: Document, place: str, process: FaultProcess, catalogue: FaultCatalogue
) -> None:
    found = catalogue.find(process.class_name)
    if found.spec.scope == "pod":
        raise document.fault(
            f"{place}.class",
            f"is '{found.name}', which hits pods: which there are then is not known before",
            hint=f"inject it by hand: kwokctl fault inject {found.name}",
        )
    if process.unit is None:
        return
    if found.spec.unit is not None and found.spec.unit != process.unit:
        raise document.fault(
            f"{place}.unit",
            f"is '{process.unit}', and '{found.name}' hits a {found.spec.unit}",
            hint="leave it out",
        )
    if found.spec.scope == "device":
        raise document.fault(
            f"{place}.unit",
            f"is given, and '{found.name}' hits one GPU",
            hint="leave it out, or take a class whose scope is 'node'",
        )

"""The objects of a storm: the Fault that a planned fault becomes when its time has come, and the pages of its plan. Pure."""

from collections.abc import Sequence

import msgspec

from kwokctl.expr.duration import format_duration
from kwokctl.faults.classes.class_parameters import GPU_PARAMETER
from kwokctl.faults.objects.fault_bodies import fault_body
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultTarget, ObjectMeta, OwnerReference
from kwokctl.faults.storms.schedule_schema import FaultScheduleSpec
from kwokctl.faults.storms.stored_schedule import SCHEDULE_LABEL
from kwokctl.faults.storms.storm_plan import PlannedFault
from kwokctl.json_value import Json
from kwokctl.kube.resource import FAULT_PAGES, FAULT_SCHEDULES

_MOST_NAMES = 10_000
"""The most nodes that a Fault names; a larger unit of the fleet is named instead of its nodes."""
_NANOS = 1_000_000_000
_DIGITS = 6


def storm_fault(
    schedule: ObjectMeta,
    spec: FaultScheduleSpec,
    planned: PlannedFault,
    number: int,
    nodes: Sequence[str],
) -> dict[str, Json]:
    """Return the Fault of a planned fault; `nodes` are those of its unit that exist."""
    body = fault_body(_spec(spec, planned, nodes), fault_name(schedule.name, number))
    body["metadata"] |= _owned(schedule.name, schedule.uid)
    return body


def fault_name(schedule: str, number: int) -> str:
    """Return the name of the Fault with a number in the plan of a schedule."""
    return f"{schedule}-{number:0{_DIGITS}d}"


def owning_schedule(fault: ObjectMeta) -> OwnerReference | None:
    """Return the schedule that has brought a Fault; None for one that another client has made."""
    return next((e for e in fault.owner_references if e.kind == FAULT_SCHEDULES.kind), None)


def page_body(name: str, schedule: ObjectMeta, number: int, rows: Sequence[str]) -> bytes:
    """Return a page of a schedule, as JSON."""
    return msgspec.json.encode(
        {
            "apiVersion": FAULT_PAGES.api_version,
            "kind": FAULT_PAGES.kind,
            "metadata": {"name": name, **_owned(schedule.name, schedule.uid)},
            "spec": {"schedule": schedule.uid, "number": number, "rows": rows},
        }
    )


def _spec(spec: FaultScheduleSpec, planned: PlannedFault, nodes: Sequence[str]) -> FaultSpec:
    target = FaultTarget(nodes=tuple(nodes))
    if len(nodes) > _MOST_NAMES:
        target = FaultTarget(unit=planned.unit, where=spec.target.where)
    gpu = {} if planned.gpu is None else {GPU_PARAMETER: planned.gpu}
    lasts = "" if planned.lasts is None else _duration(planned.lasts / spec.time_scale)
    return FaultSpec(
        class_name=planned.class_name,
        target=target,
        dialects=spec.dialects,
        parameters={**planned.parameters, **gpu},
        seed=planned.seed,
        lasts=lasts,
        gang=planned.gang,
        time_scale=spec.time_scale,
    )


def _duration(seconds: float) -> str:
    return format_duration(max(round(seconds * _NANOS), 1))


def _owned(name: str, uid: str) -> dict[str, Json]:
    owner = {
        "apiVersion": FAULT_SCHEDULES.api_version,
        "kind": FAULT_SCHEDULES.kind,
        "name": name,
        "uid": uid,
    }
    return {"labels": {SCHEDULE_LABEL: name}, "ownerReferences": [owner]}

"""Explains what each Stage does with an object: whether it matches, how likely, when, what it writes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from kwokctl.clusters.stage_tools.rules import first_broken_rule
from kwokctl.controller.engine import stage_patches
from kwokctl.controller.stages.compiled_stage import (
    ApplyStep,
    DeleteStep,
    EventStep,
    FinalizersStep,
    PatchStep,
    Stage,
    Step,
)
from kwokctl.controller.stages.patch_root import rooted
from kwokctl.controller.stages.stage_choice import seconds_range, unread_delay, weight_of
from kwokctl.embedded.silence import KUBELET, is_silent
from kwokctl.errors import ExpressionError
from kwokctl.expr.gotemplate.template import Functions
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.replacing import replace

_BILLION = 1_000_000_000


class StageVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one Stage for an object."""

    stage: str
    broken_rule: str = ""
    """The first rule that does not hold; empty if the Stage is for the object."""
    weight: int | None = None
    """None for a weight that cannot be read: such a Stage is chosen only among its like."""
    delay: tuple[int, int] = (0, 0)
    """Least and most, in nanoseconds."""
    remarks: tuple[str, ...] = ()
    """Remarks on probable mistakes of the author of the object or of the Stage."""
    next: tuple[Mapping[str, Json], ...] = ()
    """Its steps."""
    error: str = ""
    """Why there are no steps: a template fails."""


def explain(
    stages: Iterable[Stage], value: Json, functions: Functions, now: float
) -> list[StageVerdict]:
    """Return what each Stage does with an object; `now` is a POSIX time stamp."""
    return [_verdict(stage, value, functions, now) for stage in stages]


def standstill(value: Json) -> str:
    """Return why no Stage is played on an object for now, whatever matches; empty if there is no reason."""
    metadata = value.get("metadata") or {}
    if value.get("kind") != "Node" or not is_silent(metadata.get("annotations")):
        return ""
    return (
        f"no Stage is played: the annotation '{KUBELET}' silences the kubelet of the node; "
        f"'kwokctl kubectl annotate node {metadata.get('name')} {KUBELET}-' ends that"
    )


def as_tested(value: Json, verdicts: Sequence[StageVerdict]) -> dict[str, Json]:
    """Return the object's name and the matching Stages, in the shape of the original's tests."""
    metadata = value.get("metadata") or {}
    names = {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}
    return {
        "apiGroup": value["apiVersion"],
        "kind": value["kind"],
        **names,
        "stages": [_entry(each) for each in verdicts if not each.broken_rule],
    }


def _entry(verdict: StageVerdict) -> dict[str, Json]:
    weight = {} if verdict.weight is None else {"weight": verdict.weight}
    return {
        "stage": verdict.stage,
        **weight,
        "delay": list(verdict.delay),
        **({"error": verdict.error} if verdict.error else {"next": list(verdict.next)}),
    }


def _verdict(stage: Stage, value: Json, functions: Functions, now: float) -> StageVerdict:
    if broken := first_broken_rule(stage, value):
        return StageVerdict(stage=stage.name, broken_rule=broken)
    remarks: list[str] = []

    def unread(field: str, found: Json) -> None:
        remarks.append(f"{stage.place(field)} {unread_delay(found)}")

    try:
        weight = weight_of(stage, value)
        least, most = seconds_range(stage.delay, value, now, unread)
    except ExpressionError as e:
        return StageVerdict(stage=stage.name, broken_rule=str(e))
    verdict = StageVerdict(
        stage=stage.name,
        weight=weight,
        delay=(round(least * _BILLION), round(most * _BILLION)),
        remarks=tuple(remarks),
    )
    try:
        return replace(verdict, next=tuple(_steps(stage, value, functions)))
    except ExpressionError as e:
        return replace(verdict, error=str(e))


def _steps(stage: Stage, value: Json, functions: Functions) -> Iterator[dict[str, Json]]:
    for step in stage.steps:
        yield _step(step, value, functions)
    if stage.immediate_next:
        yield {"kind": "immediate"}


def _step(step: Step, value: Json, functions: Functions) -> dict[str, Json]:
    match step:
        case EventStep():
            words = {"type": step.type, "reason": step.reason, "message": step.message}
            return {"kind": "event", **words}
        case DeleteStep():
            return {"kind": "delete"}
        case FinalizersStep():
            return {"kind": "patch", "type": str(PatchType.MERGE), "data": _finalizers(step, value)}
        case PatchStep():
            document = step.template.render_object(value, functions)
            return _write("patch", step, rooted(document, step.root, step.type))
        case ApplyStep():
            return _write("apply", step, step.template.render_object(value, functions))


def _write(kind: str, step: PatchStep | ApplyStep, data: Json) -> dict[str, Json]:
    more = {"subresource": step.subresource, "impersonation": step.as_user}
    given = {key: word for key, word in more.items() if word}
    return {"kind": kind, "type": str(step.type), **given, "data": data}


def _finalizers(step: FinalizersStep, value: Json) -> dict[str, Json]:
    current = value["metadata"].get("finalizers") or []
    wanted = stage_patches.finalizers_after(
        current, add=step.add, remove=step.remove, empty=step.empty
    )
    return {"metadata": {"finalizers": wanted}}

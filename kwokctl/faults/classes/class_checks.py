"""Checks of a class of faults that go beyond the shape of its document."""

import re
from collections.abc import Iterator, Mapping, Sequence

from kwokctl.config.config_documents import Document
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ExpressionError
from kwokctl.faults.classes.class_parameters import (
    is_duration,
    parameters_of,
    usual_values,
    value_problem,
)
from kwokctl.faults.classes.class_schema import FaultClassSpec, FaultPart
from kwokctl.faults.classes.message_texts import FACTS, HitNode, context, rendered
from kwokctl.faults.journal import JOURNAL
from kwokctl.fleet.devices import GPU

_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_UNITS_OF_NODES = "unit-nodes"
_NO_VALUE = "<no value>"
"""The text of a template for a value that it is not given."""
_EXAMPLE = HitNode(name="node", labels={}, capacity={GPU: 8})


def check_class(
    document: Document, spec: FaultClassSpec, classes: Sequence[str], dialects: Sequence[str]
) -> None:
    """Raise ConfigError, with the field, for a class that names what is unknown or cannot be rendered."""
    _check_parameters(document, spec)
    for name, signals in spec.signals.items():
        _check_known(document, f"spec.signals.{name}", name, dialects, "dialect")
        if any(JOURNAL in each.annotations for each in signals):
            raise document.fault(f"spec.signals.{name}", f"has the annotation '{JOURNAL}'")
    for number, each in enumerate(spec.cascades):
        place = f"spec.cascades[{number}]"
        _check_known(document, f"{place}.class", each.class_name, classes, "class of faults")
        if (each.hits == _UNITS_OF_NODES) is not (spec.unit is not None):
            raise document.fault(
                f"{place}.hits", "is 'unit-nodes' for classes with a 'unit', and for no other"
            )
    _check_scope(document, spec)
    for cure in spec.clearing_odds:
        if cure not in spec.cleared_by:
            known = ", ".join(spec.cleared_by)
            raise document.fault(
                f"spec.clearingOdds.{cure}", "is not in 'clearedBy'", hint=f"there are: {known}"
            )
    for place, text in _durations(spec):
        if not is_duration(text):
            raise document.fault(place, f"is '{text}', not a duration", hint="for example: 1m30s")
    _check_texts(document, spec)


def _check_scope(document: Document, spec: FaultClassSpec) -> None:
    if (spec.scope == "fabric") is not (spec.unit is not None):
        raise document.fault("spec.unit", "is needed for the scope 'fabric', and for no other")
    if (spec.scope == "api") is not (spec.effects.api is not None):
        raise document.fault("spec.effects.api", "is needed for the scope 'api', and for no other")


def _check_parameters(document: Document, spec: FaultClassSpec) -> None:
    for name, each in parameters_of(spec).items():
        place = f"spec.parameters.{name}"
        if not _NAME.fullmatch(name):
            raise document.fault(
                place, "cannot be used in templates", hint="use letters and digits"
            )
        if name in FACTS:
            raise document.fault(
                place, "has the name of a fact of the node", hint="choose another name"
            )
        if each.default is not None and (problem := value_problem(each, each.default)):
            raise document.fault(f"{place}.default", problem)


def _check_known(
    document: Document, place: str, name: str, known: Sequence[str], kind: str
) -> None:
    if name not in known:
        hint = did_you_mean(name, known) or f"there are: {', '.join(known)}"
        raise document.fault(place, f"is '{name}', and there is no such {kind}", hint=hint)


def _durations(spec: FaultClassSpec) -> Iterator[tuple[str, str]]:
    for name, signals in spec.signals.items():
        for number, each in enumerate(signals):
            place = f"spec.signals.{name}[{number}]"
            yield f"{place}.delay", each.delay
            yield f"{place}.pollInterval", each.poll_interval or "0s"
    if spec.lasts:
        yield "spec.lasts", spec.lasts
    for number, cascade in enumerate(spec.cascades):
        yield f"spec.cascades[{number}].after", cascade.after
    if spec.effects.workload is not None:
        yield "spec.effects.workload.after", spec.effects.workload.after


def _check_texts(document: Document, spec: FaultClassSpec) -> None:
    """Raise ConfigError for a template that is not one, or that names a value which no fault has."""
    values = context(_EXAMPLE, usual_values(spec), missing=0)
    for place, text in _texts(spec, "spec"):
        try:
            shown = rendered(text, values)
        except ExpressionError as e:
            raise document.fault(place, f"is no template: {e}", hint=e.hint) from e
        if _NO_VALUE in shown:
            known = ", ".join(f".{name}" for name in values)
            raise document.fault(
                place, "names a value that no fault has", hint=f"there are: {known}"
            )


def _texts(part: object, place: str) -> Iterator[tuple[str, str]]:
    """Yield the templates in a part of a class, and their places."""
    if isinstance(part, str):
        if "{{" in part:
            yield place, part
    elif isinstance(part, FaultPart):
        names = zip(part.__struct_fields__, part.__struct_encode_fields__, strict=True)
        for name, written in names:
            yield from _texts(getattr(part, name), f"{place}.{written}")
    elif isinstance(part, Mapping):
        for name, each in part.items():
            yield from _texts(each, f"{place}.{name}")
    elif isinstance(part, tuple):
        for number, each in enumerate(part):
            yield from _texts(each, f"{place}[{number}]")

"""Checks of a Fault that need the catalogue, and no cluster. Pure."""

from collections.abc import Callable, Sequence
from functools import partial

from kwokctl.config.config_documents import FieldError
from kwokctl.config.nearest import did_you_mean
from kwokctl.embedded.selection import requirements
from kwokctl.errors import ExpressionError, UsageError
from kwokctl.expr.duration import parse_duration, parse_time
from kwokctl.faults.classes.catalogue import FaultCatalogue, FaultClass
from kwokctl.faults.classes.class_parameters import is_duration, parameters_of, value_problem
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultTarget
from kwokctl.faults.overlays.definitions import dialects_of
from kwokctl.faults.targets.node_expressions import compile_where
from kwokctl.faults.targets.target_selection import API

_Wrong = Callable[..., FieldError]
"""Makes the error about a field: it takes the field, what is wrong with it, and `hint`."""


def check_fault(spec: FaultSpec, catalogue: FaultCatalogue, source: str = "the fault") -> None:
    """Raise ConfigError, with the field, for a fault that names what is unknown or contradicts itself.

    Messages begin with `source`, the place where it was read. A class or a dialect whose own document is not valid raises
    the ConfigError of `FaultCatalogue.find`.
    """
    wrong: _Wrong = partial(FieldError, source)
    found = _class(spec, catalogue, wrong)
    _check_dialects(spec, catalogue, wrong)
    _check_parameters(spec, found, wrong)
    _check_target(spec.target, found, wrong)
    _check_times(spec, wrong)
    if spec.gang and not any(each.spec.effects.workload for each in _whole(found, catalogue)):
        problem = f"is true, and '{found.name}' has no effect on programs of pods"
        raise wrong("spec.gang", problem, hint="leave it out")


def notices(spec: FaultSpec, catalogue: FaultCatalogue) -> list[str]:
    """Return warnings about what may surprise: dialects that are blind to the class. `spec` has passed the check."""
    found = catalogue.find(spec.class_name)
    whole = _whole(found, catalogue)
    seeing = [
        name
        for name in catalogue.dialect_names
        if any(each.spec.signals.get(name) for each in whole)
    ]
    known = f"these show it: {', '.join(seeing)}" if seeing else "no dialect shows it"
    if spec.dialects:
        blind = [name for name in dict.fromkeys(spec.dialects) if name not in seeing]
        return [f"the dialect '{name}' is blind to '{found.name}'; {known}" for name in blind]
    usual = dialects_of(catalogue, ())
    if seeing and not set(seeing) & set(usual):
        shown = ", ".join(usual)
        return [f"the usual dialects ({shown}) are all blind to '{found.name}'; {known}"]
    return []


def _whole(found: FaultClass, catalogue: FaultCatalogue) -> Sequence[FaultClass]:
    """Return a class and those that follow from it."""
    return [found, *catalogue.followers(found)]


def _class(spec: FaultSpec, catalogue: FaultCatalogue, wrong: _Wrong) -> FaultClass:
    _check_known("spec.class", spec.class_name, "class of faults", catalogue.names, wrong)
    return catalogue.find(spec.class_name)


def _check_dialects(spec: FaultSpec, catalogue: FaultCatalogue, wrong: _Wrong) -> None:
    known = catalogue.dialect_names
    for number, name in enumerate(spec.dialects):
        _check_known(f"spec.dialects[{number}]", name, "dialect of faults", known, wrong)
        catalogue.dialect(name)


def _check_known(place: str, name: str, kind: str, known: Sequence[str], wrong: _Wrong) -> None:
    if name not in known:
        hint = did_you_mean(name, known) or f"there are: {', '.join(known)}"
        raise wrong(place, f"is '{name}', and there is no such {kind}", hint=hint)


def _check_parameters(spec: FaultSpec, found: FaultClass, wrong: _Wrong) -> None:
    known = parameters_of(found.spec)
    for name, value in spec.parameters.items():
        place = f"spec.parameters.{name}"
        if name not in known:
            there_are = f"there are: {', '.join(known)}" if known else "it has none"
            near = did_you_mean(name, known)
            hint = f"{near} {there_are}" if near else there_are
            raise wrong(place, f"is no parameter of '{found.name}'", hint=hint)
        if problem := value_problem(known[name], value):
            raise wrong(place, problem, hint=f"it is {known[name].about}")


def _check_target(target: FaultTarget, found: FaultClass, wrong: _Wrong) -> None:
    if target.count is not None and target.percent is not None:
        raise wrong("spec.target", "has 'count' and 'percent'", hint="give one of them")
    if target.pods is not None:
        _check_pods(target, found, wrong)
    if found.spec.scope == API or target.api:
        _check_api(target, found, wrong)
        return
    if not _is_given(target):
        raise wrong(
            "spec.target",
            "says of no node that it is hit",
            hint="give 'nodes', 'unit', 'where', 'count' or 'percent'; 'percent: 100' means all nodes",
        )
    if target.usage != "any" and found.spec.scope == "pod":
        problem = f"is '{target.usage}', and '{found.name}' hits pods"
        raise wrong("spec.target.usage", problem, hint="choose pods with 'pods'")
    if target.where:
        try:
            compile_where(target.where)
        except ExpressionError as e:
            raise wrong("spec.target.where", f"cannot be used: {e}", hint=e.hint) from e


def _check_pods(target: FaultTarget, found: FaultClass, wrong: _Wrong) -> None:
    if target.pods is None:
        return
    if found.spec.scope != "pod":
        problem = (
            f"is given, and '{found.name}' does not hit pods: its scope is '{found.spec.scope}'"
        )
        raise wrong("spec.target.pods", problem, hint="choose nodes, for example with 'where'")
    try:
        requirements(target.pods.selector)
    except UsageError as e:
        raise wrong("spec.target.pods.selector", f"cannot be used: {e}", hint=e.hint) from e


def _check_api(target: FaultTarget, found: FaultClass, wrong: _Wrong) -> None:
    if found.spec.scope != API:
        problem = (
            f"is true, and '{found.name}' does not hit the API: its scope is '{found.spec.scope}'"
        )
        raise wrong("spec.target.api", problem, hint="choose nodes, for example with 'where'")
    if target != FaultTarget(api=True):
        raise wrong(
            "spec.target",
            f"is not 'api: true' alone, and '{found.name}' hits the API",
            hint="choose requests with the parameters userAgent, user, verb and resource",
        )


def _is_given(target: FaultTarget) -> bool:
    """Return whether a target selects something, and does not only limit a selection."""
    pods = target.pods
    has_pods = pods is not None and bool(pods.namespace or pods.selector)
    numbers = target.count, target.percent
    return has_pods or bool(target.nodes or target.unit or target.where) or any(numbers)


def _check_times(spec: FaultSpec, wrong: _Wrong) -> None:
    for field, text in (("at", spec.at), ("for", spec.lasts)):
        if text and not is_duration(text):
            raise wrong(f"spec.{field}", f"is '{text}', not a duration", hint="for example: 1m30s")
    if not spec.at:
        raise wrong("spec.at", "is empty", hint="leave it out, or give a duration such as 30s")
    if spec.lasts and not parse_duration(spec.lasts):
        raise wrong("spec.for", f"is '{spec.lasts}', no time at all", hint="for example: 10m")
    if spec.until:
        try:
            parse_time(spec.until)
        except ExpressionError as e:
            raise wrong("spec.until", f"is wrong: {e}", hint=e.hint) from e

"""Compiles the CEL expressions of metrics and usages, and evaluates them for a chosen moment.

Nodes, pods and containers are as in the API, with the fields that are kept of them. The conversions of results are
those of https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/utils/cel/environment.go.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from functools import cache
from math import inf

from kwokctl.errors import ExpressionError
from kwokctl.expr.cel import CelProgram, usage_environment
from kwokctl.expr.cel.environments import Measured, MeasuredObject
from kwokctl.expr.cel.values.cel_times import CelTime
from kwokctl.expr.cel.values.quantities import CelQuantity
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kubelet.fleet.views import ContainerView, NodeView, PodView
from kwokctl.kubelet.usage.curves import NO_USE, Curve, constant_curve

KEPT: Mapping[str, Collection[str]] = {
    "Container": ("name", "resources"),
    "Node": ("metadata", "status"),
    "NodeStatus": ("addresses", "capacity"),
    "ObjectMeta": (
        "annotations", "creationTimestamp", "labels", "name", "namespace", "uid",
    ),
    "Pod": ("metadata", "spec", "status"),
    "PodSpec": ("containers", "initContainers", "nodeName"),
    "PodStatus": ("phase", "startTime"),
    "ResourceRequirements": ("requests",),
}  # fmt: skip
"""The known fields of structs that are only kept in part."""


def node_object(node: NodeView, measured: Measured) -> MeasuredObject:
    """Return a node as the API has it."""
    addresses = [{"type": "InternalIP", "address": address} for address in node.addresses]
    return MeasuredObject(
        {
            "metadata": _metadata(node),
            "status": {"capacity": node.capacity, "addresses": addresses},
        },
        measured,
    )


def pod_object(pod: PodView, measured: Measured) -> MeasuredObject:
    """Return a pod as the API has it."""
    usual = [each for each in pod.containers if not (each.is_init or each.is_ephemeral)]
    return MeasuredObject(
        {
            "metadata": {"namespace": pod.namespace, **_metadata(pod)},
            "spec": {
                "nodeName": pod.node,
                "containers": [container_object(each) for each in usual],
                "initContainers": [container_object(c) for c in pod.containers if c.is_init],
            },
            "status": {"phase": pod.phase, **_time("startTime", pod.start_time)},
        },
        measured,
    )


def container_object(container: ContainerView) -> Mapping[str, Json]:
    """Return a container as the API has it."""
    return {"name": container.name, "resources": {"requests": container.requests}}


def _metadata(of: NodeView | PodView) -> dict[str, Json]:
    return {
        "name": of.name,
        "uid": of.uid,
        "labels": of.labels,
        "annotations": of.annotations,
        **_time("creationTimestamp", of.created),
    }


def _time(field: str, seconds: float) -> dict[str, str]:
    return {field: format_time(seconds)} if seconds else {}


_NUMBERS = frozenset({"bool", "double", "duration", "dyn", "int", "quantity", "uint"})
_TEXTS = frozenset({"dyn", "string"})
_MOST_COMPLAINTS = 1000
"""Different ones: what is wrong with a pod is found again with each scrape."""

log = logging.getLogger(__name__)


class UsageLanguage:
    """The expressions of one server; `moment` is the time that they see, in nanoseconds."""

    def __init__(self, started: Callable[[str], float] = lambda _: 0.0) -> None:
        """Let expressions ask `started` how many containers a node has started."""
        self.moment = 0
        self._environment = usage_environment(lambda: self.moment, started)
        self._programs: dict[str, CelProgram] = {}
        self._complaints: set[str] = set()

    def compile(self, source: str) -> CelProgram:
        """Return the program for an expression; raise ExpressionError if it is invalid."""
        found = self._programs.get(source)
        if found is None:
            found = self._programs[source] = CelProgram(source, self._environment)
        return found

    def complain(self, problem: str) -> None:
        """Log what is wrong, once."""
        if problem not in self._complaints and len(self._complaints) < _MOST_COMPLAINTS:
            self._complaints.add(problem)
            log.warning("%s (logged once)", problem)


@cache
def _any_language() -> UsageLanguage:
    return UsageLanguage()


def check_amount(source: str) -> None:
    """Raise ValueError for an expression that cannot give a number."""
    _check(source, _NUMBERS, "a number")


def check_text(source: str) -> None:
    """Raise ValueError for an expression that cannot give a text."""
    _check(source, _TEXTS, "a string")


def _check(source: str, wanted: frozenset[str], title: str) -> None:
    try:
        program = _any_language().compile(source)
    except ExpressionError as e:
        raise ValueError(str(e)) from e
    for struct, name in program.fields():
        if name not in KEPT.get(struct, (name,)):
            raise ValueError(f"'{source}' reads '{name}', which is not kept of a {struct}")
    found = program.type
    if found.kind not in wanted:
        raise ValueError(f"'{source}' gives a value of the type {found}, not {title}")


def number(program: CelProgram, *values: Json) -> float:
    """Evaluate to a number; raise ExpressionError for any other result."""
    found = program.evaluate(*values)
    if type(found) is float:
        return found
    if isinstance(found, int | float | CelQuantity) and not isinstance(found, CelTime):
        return float(found)
    raise ExpressionError(f"CEL '{program.source}' gives '{found}', not a number")


def text(program: CelProgram, *values: Json) -> str:
    """Evaluate to a text; raise ExpressionError for any other result."""
    found = program.evaluate(*values)
    if isinstance(found, str):
        return found
    raise ExpressionError(f"CEL '{program.source}' gives '{found}', not a string")


_SAMPLES = 8
"""Places at which an expression that changes with time is evaluated for an integral."""


def expression_curve(
    language: UsageLanguage,
    source: str,
    started: float,
    values: tuple[Json, ...],
    most: float = inf,
) -> Curve:
    """Return the curve of a container's usage, for an expression whose variables are `values`.

    An expression that asks for neither time nor chance is evaluated once. Results above `most` count as that.
    """
    program = language.compile(source)
    changing = ExpressionCurve(language, program, started, values, most)
    return constant_curve(changing.at(0.0)) if program.is_repeatable else changing


class ExpressionCurve:
    """The value of an expression, evaluated whenever it is requested."""

    __slots__ = ("_language", "_most", "_program", "_started", "_values")

    def __init__(
        self,
        language: UsageLanguage,
        program: CelProgram,
        started: float,
        values: tuple[Json, ...],
        most: float = inf,
    ) -> None:
        self._language = language
        self._program = program
        self._started = started
        self._values = values
        self._most = most

    def at(self, age: float) -> float:
        """Return the use at an age; 0 where the expression fails."""
        now = self._language.moment
        self._language.moment = round((self._started + age) * 1e9)
        try:
            return min(max(number(self._program, *self._values), 0.0), self._most)
        except ExpressionError as e:
            self._language.complain(f"{e}; the usage counts as 0")
            return NO_USE.value
        finally:
            self._language.moment = now

    def between(self, start: float, end: float) -> float:
        """Return the integral of the use between two ages, from samples at regular distances."""
        width = (end - start) / _SAMPLES
        return width * sum(self.at(start + width * (n + 0.5)) for n in range(_SAMPLES))

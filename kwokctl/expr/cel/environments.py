"""The environments of expressions: which variables and functions those of Stages have, and those of metrics.

A Stage has `self`, a metric or a usage `node`, `pod` and `container`:
https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/kwok/metrics/evaluator.go
`StartSecond` is ours: the container itself, which kwok's expressions see, does not tell its start.
"""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from random import random
from time import time_ns
from typing import Literal, Protocol

from kwokctl.expr.cel.cel_errors import CelValueError
from kwokctl.expr.cel.cel_program import CelEnvironment, CelProgram
from kwokctl.expr.cel.cel_types import DOUBLE, DYN, STRING, CelType, map_of, nullable, struct
from kwokctl.expr.cel.functions.kwok import kwok_functions
from kwokctl.expr.cel.functions.operators import OPERATORS
from kwokctl.expr.cel.functions.overload import Overload, methods
from kwokctl.expr.cel.functions.standard import STANDARD
from kwokctl.expr.cel.values.structs import StructValue
from kwokctl.json_value import Json
from kwokctl.replacing import replace

StructKind = Literal["Node", "Pod"]


def stage_environment(
    kind: StructKind | None,
    clock: Callable[[], int] = time_ns,
    chance: Callable[[], float] = random,
) -> CelEnvironment:
    """Return the environment for a kind: `self` is a struct for nodes and pods, else a map."""
    self_type = map_of(STRING, DYN) if kind is None else nullable(struct(kind))
    functions = (*OPERATORS, *STANDARD, *kwok_functions(clock, chance))
    return CelEnvironment({"self": self_type}, functions)


_environment = cache(stage_environment)


@lru_cache(maxsize=1024)
def compile_cel(source: str, kind: StructKind | None = None) -> CelProgram:
    """Return the program for an expression of a Stage, the same one each time.

    Raises ExpressionError, with the line and the column, if it is invalid.
    """
    return CelProgram(source, _environment(kind))


_NODE, _POD = nullable(struct("Node")), nullable(struct("Pod"))


class Measured(Protocol):
    """Knows what a pod or a node uses; an empty text as container means all of them."""

    def usage(self, resource: str, container: str = "") -> float:
        """Return what is used now."""
        ...

    def cumulative_usage(self, resource: str, container: str = "") -> float:
        """Return what has been used so far, times the seconds for which it was."""
        ...

    def started_at(self, container: str) -> float:
        """Return when a container that runs was started, as a POSIX time stamp."""
        ...

    def started_containers(self) -> float:
        """Return how many containers have been started."""
        ...


class MeasuredObject(dict[str, Json]):
    """A pod or a node as the API has it, whose usage an expression may ask for."""

    __slots__ = ("measured",)

    def __init__(self, fields: Mapping[str, Json], measured: Measured) -> None:
        super().__init__(fields)
        self.measured = measured


def usage_environment(
    clock: Callable[[], int],
    started: Callable[[str], float],
    chance: Callable[[], float] = random,
) -> CelEnvironment:
    """Return the environment; `started` tells how many containers a node has started."""
    functions = (
        *OPERATORS,
        *STANDARD,
        *_with_old_names(kwok_functions(clock, chance)),
        *_usages("Usage", _usage),
        *_usages("CumulativeUsage", _cumulative_usage),
        Overload(
            name="StartSecond", takes=(_POD, STRING), gives=DOUBLE, does=_started_at, is_method=True
        ),
        *_with_old_names(
            methods(
                _changing("StartedContainersTotal", (STRING,), started),
                _changing("StartedContainersTotal", (_NODE,), _started),
            )
        ),
    )
    variables = {"node": _NODE, "pod": _POD, "container": nullable(struct("Container"))}
    return CelEnvironment(variables, functions)


_OLD_NAMES = {"Now": "now", "StartedContainersTotal": "startedContainersTotal"}


def _with_old_names(functions: tuple[Overload, ...]) -> tuple[Overload, ...]:
    old = [replace(f, name=_OLD_NAMES[f.name]) for f in functions if f.name in _OLD_NAMES]
    return (*functions, *old)


def _usages(name: str, does: Callable[..., float]) -> tuple[Overload, ...]:
    takes = ((_POD, STRING, STRING), (_POD, STRING), (_NODE, STRING))
    return tuple(replace(_changing(name, each, does), is_method=True) for each in takes)


def _changing(name: str, takes: tuple[CelType, ...], does: Callable[..., float]) -> Overload:
    return Overload(name=name, takes=takes, gives=DOUBLE, does=does, is_steady=False)


def _usage(of: Json, resource: str, container: str = "") -> float:
    return _measured(of).usage(resource, container)


def _cumulative_usage(of: Json, resource: str, container: str = "") -> float:
    return _measured(of).cumulative_usage(resource, container)


def _started_at(pod: Json, container: str) -> float:
    return _measured(pod).started_at(container)


def _started(node: Json) -> float:
    return _measured(node).started_containers()


def _measured(of: Json) -> Measured:
    """Return what knows the use of an object, which is a struct of its own if its type was open."""
    found = of.fields if type(of) is StructValue else of
    if isinstance(found, MeasuredObject):
        return found.measured
    raise CelValueError("there is no pod or node to ask what it uses")

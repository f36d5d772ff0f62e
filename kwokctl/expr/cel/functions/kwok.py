"""The functions that kwok adds: times, chance and quantities.

https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/utils/cel/default.go
"""

from collections.abc import Callable
from functools import partial

from kwokctl.expr.cel.cel_types import DOUBLE, QUANTITY, STRING, TIME, CelType, nullable, struct
from kwokctl.expr.cel.functions.overload import Overload, methods
from kwokctl.expr.cel.values.cel_times import SECOND, ZERO, CelTime, parse_instant
from kwokctl.expr.cel.values.quantities import parse_quantity
from kwokctl.json_value import Json

_HALF = 2**63


def _seconds(time: CelTime) -> float:
    """Return the seconds since 1970; like Go, of nanoseconds that have 64 bits."""
    return float((time + _HALF) % (2 * _HALF) - _HALF) / SECOND


def kwok_functions(clock: Callable[[], int], chance: Callable[[], float]) -> tuple[Overload, ...]:
    """Return the functions; `clock` gives the nanoseconds since 1970, `chance` a float below 1."""
    return methods(
        _changing("Now", (), TIME, lambda: CelTime(clock())),
        _changing("Rand", (), DOUBLE, chance),
        _changing("SinceSecond", (nullable(struct("Node")),), DOUBLE, partial(_age, clock)),
        _changing("SinceSecond", (nullable(struct("Pod")),), DOUBLE, partial(_age, clock)),
        Overload(name="UnixSecond", takes=(TIME,), gives=DOUBLE, does=_seconds),
        Overload(name="Quantity", takes=(STRING,), gives=QUANTITY, does=parse_quantity),
    )


def _changing(
    name: str, takes: tuple[CelType, ...], gives: CelType, does: Callable[..., object]
) -> Overload:
    """Return a function that gives another value each time."""
    return Overload(name=name, takes=takes, gives=gives, does=does, is_steady=False)


def _age(clock: Callable[[], int], resource: Json) -> float:
    """Return the seconds since an object was created."""
    created = (resource.get("metadata") or {}).get("creationTimestamp")
    return (clock() - (parse_instant(created) if created else ZERO)) / SECOND

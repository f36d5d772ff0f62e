"""The environment of the expressions of Stages: the variable `self`, and kwok's functions."""

from collections.abc import Callable
from functools import cache, lru_cache
from random import random
from time import time_ns
from typing import Literal

from kwokctl.expr.cel.functions.kwok import kwok_functions
from kwokctl.expr.cel.functions.operators import OPERATORS
from kwokctl.expr.cel.functions.standard import STANDARD
from kwokctl.expr.cel.kinds.cel_type import DYN, STRING, map_of, nullable
from kwokctl.expr.cel.kinds.structs import struct
from kwokctl.expr.cel.program import CelEnvironment, CelProgram

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

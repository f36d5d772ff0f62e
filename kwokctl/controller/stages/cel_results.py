"""Converts the results of CEL expressions for Stages.

The conversions are those of
https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/utils/cel/environment.go: an integer is a
weight, and as a delay it has nanoseconds.
"""

import logging
from collections.abc import Iterable, Sequence
from datetime import timedelta

from kwokctl.controller.stages.stage_places import FieldEvaluationError, StagePlace
from kwokctl.errors import ExpressionError
from kwokctl.expr.budget import BudgetError
from kwokctl.expr.cel import CelProgram, StructKind, analysis, compile_cel
from kwokctl.expr.cel.values.cel_times import CelDuration, CelTime
from kwokctl.expr.duration import parse_nanoseconds
from kwokctl.json_value import Json

log = logging.getLogger(__name__)

_BOOLEAN = frozenset({"bool", "dyn"})
_INTEGER = frozenset({"bool", "double", "duration", "dyn", "int", "uint"})
_DELAY = frozenset({"double", "duration", "dyn", "int", "string", "uint"})
"""The types of expressions that may give what is wanted; for `dyn` only the evaluation shows."""


class CelCondition:
    """A condition of a Stage's selector."""

    __slots__ = ("_place", "_program")

    def __init__(self, program: CelProgram, place: StagePlace) -> None:
        self._program = program
        self._place = place

    @property
    def source(self) -> str:
        """The expression as its author wrote it."""
        return self._program.source

    def holds(self, value: Json) -> bool:
        """Return whether it holds; raise ExpressionError if it cannot be evaluated."""
        try:
            found = self._program.evaluate(value)
            if found is True or found is False:
                return found is True
            raise _unfit(self._program, found, "true or false")
        except ExpressionError as e:
            raise FieldEvaluationError(e, self._place.field) from e

    def fixed_truth(self) -> bool | None:
        """Return whether it holds for every object; None if that depends on the object."""
        return analysis.fixed_truth(self._program)

    def equalities(self) -> Iterable[tuple[str, str]]:
        """Return the fields that must equal a text for it to hold, as jq writes them, and the texts."""
        return analysis.equalities(self._program)


class CelWeight:
    """The weight of a Stage."""

    __slots__ = ("_place", "_program")

    def __init__(self, program: CelProgram, place: StagePlace) -> None:
        self._program = program
        self._place = place

    def values(self, value: Json) -> Sequence[Json]:
        """Return the weight alone; raise ExpressionError if there is none."""
        try:
            found = self._program.evaluate(value)
            if isinstance(found, CelTime) or not isinstance(found, int | float):
                raise _unfit(self._program, found, "a number")
            return [_whole(self._program, found)]
        except ExpressionError as e:
            raise FieldEvaluationError(e, self._place.field) from e


class CelDelay:
    """The delay of a Stage, or its upper bound."""

    __slots__ = ("_is_logged", "_place", "_program")

    def __init__(self, program: CelProgram, place: StagePlace) -> None:
        self._program = program
        self._place = place
        self._is_logged = False

    def values(self, value: Json) -> Sequence[Json]:
        """Return the delay alone, which is 0 if the program fails; ExpressionError if it takes too long."""
        try:
            return [self._delay(self._program.evaluate(value))]
        except BudgetError as e:
            raise FieldEvaluationError(e, self._place.field) from e
        except ExpressionError as e:
            if not self._is_logged:
                log.warning("%s: %s; there is no delay then (logged once)", self._place, e)
            self._is_logged = True
            return [timedelta()]

    def _delay(self, found: Json) -> timedelta:
        if isinstance(found, str):
            return timedelta(microseconds=parse_nanoseconds(found) / 1000)
        if isinstance(found, bool | CelTime) or not isinstance(found, int | float):
            raise _unfit(self._program, found, "a duration")
        return timedelta(microseconds=_whole(self._program, found) / 1000)


class CelExpressions:
    """Compiles the expressions of a Stage; ExpressionError for one that cannot give what is wanted."""

    def __init__(self, struct: StructKind | None) -> None:
        """Compile for objects of a kind that CEL knows as a struct, None for all others."""
        self._struct = struct

    def condition(self, source: str, place: StagePlace) -> CelCondition:
        """Return a condition of a selector."""
        return CelCondition(self._program(source, _BOOLEAN), place)

    def weight(self, source: str, place: StagePlace) -> CelWeight:
        """Return a weight."""
        return CelWeight(self._program(source, _INTEGER), place)

    def delay(self, source: str, place: StagePlace) -> CelDelay:
        """Return a delay or its upper bound."""
        return CelDelay(self._program(source, _DELAY), place)

    def _program(self, source: str, wanted: frozenset[str]) -> CelProgram:
        program = compile_cel(source, self._struct)
        if program.type.kind not in wanted:
            types = ", ".join(sorted(wanted - {"dyn"}))
            raise ExpressionError(
                f"it gives a value of the type {program.type}, not one of {types}"
            )
        return program


def _whole(program: CelProgram, found: float) -> int:
    try:
        return max(min(int(found), 2**63 - 1), -(2**63))
    except (ValueError, OverflowError) as e:
        raise _unfit(program, found, "a finite number") from e


def _unfit(program: CelProgram, found: Json, wanted: str) -> ExpressionError:
    shown = "a duration" if isinstance(found, CelDuration) else f"'{found}'"
    return ExpressionError(f"CEL '{program.source}' gives {shown}, not {wanted}")

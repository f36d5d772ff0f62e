"""Compiles expressions, and evaluates them for a moment that is chosen.

The conversions of results are those of
https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/utils/cel/environment.go.
"""

import logging
from collections.abc import Callable
from functools import cache

from kwokctl.errors import ExpressionError
from kwokctl.expr.cel import CelProgram, usage_environment
from kwokctl.expr.cel.values.cel_times import CelTime
from kwokctl.expr.cel.values.quantities import CelQuantity
from kwokctl.json_value import Json
from kwokctl.kubelet.usage.expressions.objects import KEPT

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

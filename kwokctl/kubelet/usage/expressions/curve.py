"""A use that an expression gives."""

from kwokctl.errors import ExpressionError
from kwokctl.expr.cel import CelProgram
from kwokctl.json_value import Json
from kwokctl.kubelet.usage.curves.curve import NO_USE, Curve, constant_curve
from kwokctl.kubelet.usage.expressions.language import UsageLanguage, number

_SAMPLES = 8
"""Places at which an expression that changes with time is evaluated for an integral."""


def expression_curve(
    language: UsageLanguage, source: str, started: float, values: tuple[Json, ...]
) -> Curve:
    """Return the curve of a container's usage, for an expression whose variables are `values`.

    An expression that asks for neither time nor chance is evaluated once.
    """
    program = language.compile(source)
    changing = ExpressionCurve(language, program, started, values)
    return constant_curve(changing.at(0.0)) if program.is_repeatable else changing


class ExpressionCurve:
    """The value of an expression, evaluated whenever it is requested."""

    __slots__ = ("_language", "_program", "_started", "_values")

    def __init__(
        self, language: UsageLanguage, program: CelProgram, started: float, values: tuple[Json, ...]
    ) -> None:
        self._language = language
        self._program = program
        self._started = started
        self._values = values

    def at(self, age: float) -> float:
        """Return the use at an age; 0 where the expression fails."""
        now = self._language.moment
        self._language.moment = round((self._started + age) * 1e9)
        try:
            return max(number(self._program, *self._values), 0.0)
        except ExpressionError as e:
            self._language.complain(f"{e}; the usage counts as 0")
            return NO_USE.value
        finally:
            self._language.moment = now

    def between(self, start: float, end: float) -> float:
        """Return the integral of the use between two ages, from samples at regular distances."""
        width = (end - start) / _SAMPLES
        return width * sum(self.at(start + width * (n + 0.5)) for n in range(_SAMPLES))

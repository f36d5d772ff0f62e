"""Names places in the Stages of a user, for messages."""

from typing import NamedTuple

from kwokctl.errors import ExpressionError
from kwokctl.expr.budget import BudgetError


class StagePlace(NamedTuple):
    """A field of a Stage, and the file of the Stage with its place in that."""

    stage: str
    source: str = ""
    field: str = ""

    def __str__(self) -> str:
        """Name the Stage, and in parentheses its file and the field."""
        where = ", ".join(filter(None, (self.source, self.field)))
        return f"stage {self.stage!r}" + (f" ({where})" if where else "")


class FieldEvaluationError(ExpressionError):
    """The expression of a field of a Stage fails on an object."""

    def __init__(self, error: ExpressionError, field: str) -> None:
        """Say the same, and know the field."""
        super().__init__(str(error), hint=error.hint)
        self.field = field
        self.takes_too_long = isinstance(error, BudgetError)


def takes_too_long(error: ExpressionError) -> bool:
    """Return whether an expression of a Stage has taken more steps than it may."""
    if isinstance(error, FieldEvaluationError):
        return error.takes_too_long
    return isinstance(error, BudgetError)

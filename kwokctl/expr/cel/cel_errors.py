"""Errors in an expression, and errors of its evaluation."""


class CelValueError(Exception):
    """A run-time error of an expression."""


class CelSourceError(Exception):
    """An error in an expression, which does not depend on the object."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at
        self.problem = problem


def no_overload(name: str) -> CelValueError:
    """Return the error for values of types that a function or an operator does not take."""
    return CelValueError(f"'{name}' does not take values of these types")

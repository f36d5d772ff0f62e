"""What is wrong with an expression, and what goes wrong when it is evaluated."""


class CelValueError(Exception):
    """A run-time error of an expression."""


class CelSourceError(Exception):
    """Something that is wrong with an expression, whatever it is evaluated on."""

    def __init__(self, at: int, problem: str) -> None:
        """Remember the offset in the text."""
        super().__init__(problem)
        self.at = at
        self.problem = problem


def no_overload(name: str) -> CelValueError:
    """Return the error for values of types that a function or an operator does not take."""
    return CelValueError(f"'{name}' does not take values of these types")

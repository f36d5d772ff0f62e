"""Errors in regular expressions."""


class RegexpError(Exception):
    """What was written is not a regular expression of Go."""

    def __init__(self, at: int, problem: str) -> None:
        """Keep the offset in the expression, and what is wrong there."""
        super().__init__(f"{problem}, at character {at + 1}")
        self.at = at
        self.problem = problem

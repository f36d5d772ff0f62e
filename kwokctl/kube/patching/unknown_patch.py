"""The error of a patch whose result is not certain."""

from kwokctl.errors import ExpressionError


class UnknownPatchError(ExpressionError):
    """The result of a patch is not certain here: the API server has to apply it."""

    def __init__(self, message: str) -> None:
        """Keep what is uncertain; the hint is the same for all."""
        super().__init__(message, hint="send the patch to the API server")

"""A function for values of certain types."""

from collections.abc import Callable

import msgspec

from kwokctl.expr.cel.cel_types import CelType
from kwokctl.json_value import Json
from kwokctl.replacing import replace


class Overload(msgspec.Struct, frozen=True, kw_only=True):
    """The argument types, result type and implementation of a function or an operator."""

    name: str
    takes: tuple[CelType, ...]
    gives: CelType
    does: Callable[..., object] | None = None
    """None if the types alone do not decide."""
    inline: str = ""
    """The Python for it, where that is all: `{0} + {1}`."""
    is_method: bool = False
    is_steady: bool = True
    """Whether the same values always give the same."""
    check_last: Callable[[Json], str] | None = None
    """Returns the fault of its last value, if that is a literal; empty if it is valid."""


def methods(*functions: Overload) -> tuple[Overload, ...]:
    """Return functions that can be called as methods of their first value, too."""
    return (*functions, *(replace(one, is_method=True) for one in functions if one.takes))

"""The scalars that Python has no type of its own for; the others are int, float, str, bytes, bool and None."""

from typing import NamedTuple


class Uint(int):
    """A `uint`; an `int` of CEL is an int."""

    __slots__ = ()


class CelDuration(int):
    """A `google.protobuf.Duration`, in nanoseconds."""

    __slots__ = ()


class CelTime(int):
    """A `google.protobuf.Timestamp`, in nanoseconds since 1970."""

    offset: int = 0
    """The seconds that its zone is ahead of UTC: they count when it is shown."""


class TypeName(NamedTuple):
    """A type as a value: what `type(1)` and `int` give."""

    name: str

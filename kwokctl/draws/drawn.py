"""A value of a document that may be drawn: a field names the distribution."""

from collections.abc import Sequence

import msgspec

from kwokctl.draws.distributions import (
    Distribution,
    Exponential,
    Integer,
    LogNormal,
    Normal,
    Uniform,
    WeightedChoice,
)
from kwokctl.draws.streams import DrawStream
from kwokctl.json_value import Json


class Drawn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A value that is drawn each time: exactly one of the fields is given."""

    choice: tuple[Json, ...] | WeightedChoice | None = None
    """Values that are equally frequent, or values with weights."""
    uniform: Uniform | None = None
    integer: Integer | None = None
    normal: Normal | None = None
    lognormal: LogNormal | None = None
    exponential: Exponential | None = None

    def __post_init__(self) -> None:
        """Raise ValueError unless exactly one distribution is given."""
        exactly_one(self, self.__struct_fields__)
        if self.choice == ():
            raise ValueError("there is nothing to choose from in 'choice'")

    @property
    def distribution(self) -> Distribution:
        """The one that is given."""
        if isinstance(self.choice, tuple):
            return WeightedChoice(values=self.choice)
        others = (self.uniform, self.integer, self.normal, self.lognormal, self.exponential)
        return next(each for each in (self.choice, *others) if each is not None)

    def at(self, stream: DrawStream, index: int) -> Json:
        """Return the value for a position in a stream."""
        return self.distribution.value(stream.at(index))


def exactly_one(shape: object, fields: Sequence[str]) -> str:
    """Return the name of the one field that is given; ValueError if it is not one."""
    given = [name for name in fields if getattr(shape, name) is not None]
    if len(given) == 1:
        return given[0]
    words = ", ".join(f"'{name}'" for name in given or fields)
    raise ValueError(f"{words}: only one may be given" if given else f"one of {words} is needed")

"""The base of the shapes of a Load."""

from typing import Annotated

import msgspec
from msgspec import Meta

Positive = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(gt=0)]
Number = Annotated[int, Meta(ge=0)]
Word = Annotated[str, Meta(min_length=1)]


class LoadPart(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """The base of all parts of a Load: a field that they do not name is an error."""


def demand_printable(text: str, field: str) -> None:
    """Raise ValueError for a text that no header or path can carry, such as one with a line end."""
    if not text.isprintable():
        raise ValueError(f"'{field}' has a character that cannot be printed")

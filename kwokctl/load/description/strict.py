"""The base of the shapes of a Load."""

from typing import Annotated

import msgspec
from msgspec import Meta

Positive = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(gt=0)]
Word = Annotated[str, Meta(min_length=1)]


class LoadPart(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """The base of all parts of a Load: a field that they do not name is an error."""

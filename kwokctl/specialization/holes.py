"""Places in an object where those that are alike differ: texts, which symbols represent."""

import re
from collections.abc import Callable
from enum import Enum
from secrets import token_hex

from kwokctl.expr.gotemplate.symbols import Symbol, TextSymbol
from kwokctl.json_value import Json

_NONCE = f"hole-{token_hex(8)}-"
"""A text that occurs in no object, because users cannot know it."""
TOKENS = re.compile(f"{_NONCE}([0-9]{{3}})")
_MOST = 1000
_PLAIN = re.compile(r"[ !#-\[\]-~]+")
"""Texts that JSON writes unescaped."""


class HoleContent(Enum):
    """The contents that a hole can have."""

    TEXT = "\u2603 {} is neither a number, a time, an amount, a name nor an address"
    TIME = "2026-01-01T00:00:00.{:09d}Z"
    ADDRESS = "10.0.0.{}"
    ADDRESS_6 = "fd00::{:x}"

    def example(self, number: int) -> str:
        """Return a text that an API server takes only where it takes all of them."""
        return self.value.format(number)


def content_of_address(text: str) -> HoleContent:
    """Return the content of a hole with an address."""
    return HoleContent.ADDRESS_6 if ":" in text else HoleContent.ADDRESS


class Hole(TextSymbol):
    """A text, not empty and plain in JSON, that each object has its own of."""

    __slots__ = ("content", "number")

    def __init__(self, number: int, content: HoleContent = HoleContent.TEXT) -> None:
        """Be the hole with this number."""
        super().__init__(f"hole {number}")
        self.number = number
        self.content = content


class LooseHole(Hole):
    """The same, taken to differ from all other values, but not usable as a key.

    That is how patches are applied: whether a value that replaces another is equal does not matter.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Return whether it is the very same."""
        return self is other

    __hash__ = Symbol.__hash__


def token(number: int) -> str:
    """Return the text that stands for a hole; ValueError for too high a number."""
    if number >= _MOST:
        raise ValueError("too many holes")
    return f"{_NONCE}{number:03d}"


def is_plain(text: str) -> bool:
    """Return whether JSON writes a text as it is; an empty one does not count."""
    return _PLAIN.fullmatch(text) is not None


def mapped(value: Json, change: Callable[[Symbol], Json]) -> Json:
    """Return a value with its symbols changed."""
    if isinstance(value, Symbol):
        return change(value)
    if isinstance(value, dict):
        return {name: mapped(each, change) for name, each in value.items()}
    if isinstance(value, list):
        return [mapped(each, change) for each in value]
    return value

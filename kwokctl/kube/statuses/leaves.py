"""Values that JSON writes as texts or numbers, but that the API server reads as something else.

Each type accepts less than the API server does, never more. They hold no value: a decoder must make
sure of a value, not to keep it.
"""

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from socket import AF_INET, AF_INET6, inet_pton
from typing import Any, ClassVar

import msgspec

from kwokctl.json_value import Json

_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])"
)
_QUANTITY = re.compile(
    r"[+-]?([0-9]{1,18}(\.[0-9]{0,18})?|\.[0-9]{1,18})"
    r"([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?"
)

_REMEMBERED = 4096
"""Texts of a type that are known to be right; those of one moment and of one fleet repeat."""


class Leaf:
    """A text in a certain format."""

    article: ClassVar[str]
    """The name of the required type, with an article."""

    @classmethod
    def accepts(cls, text: str) -> bool:
        """Return whether the API server certainly decodes the text."""
        raise NotImplementedError


class Time(Leaf):
    """A point in time, of metav1.Time: RFC 3339."""

    article = "a time"

    @classmethod
    def accepts(cls, text: str) -> bool:
        if _RFC3339.fullmatch(text) is None:
            return False
        try:
            # Years at the ends could leave the four digits once they are moved to UTC.
            return 1 <= datetime.fromisoformat(text[:19]).year < 9999
        except ValueError:
            return False


class Quantity(Leaf):
    """An amount such as `1500m`, `8Gi` or `1e3`; a plain number is accepted, too."""

    article = "a quantity"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return _QUANTITY.fullmatch(text) is not None


class Address(Leaf):
    """An IP address."""

    article = "an IP address"

    @classmethod
    def accepts(cls, text: str) -> bool:
        # Such as fe80::1%eth0 and ::ffff:10.0.0.1, which validation refuses or warns of.
        if "%" in text or (":" in text and "." in text):
            return False
        try:
            inet_pton(AF_INET6 if ":" in text else AF_INET, text)
        except (OSError, ValueError):
            return False
        return True


class AddressIfAny(Address):
    """An IP address, or an empty text."""

    @classmethod
    def accepts(cls, text: str) -> bool:
        return not text or super().accepts(text)


LEAVES: tuple[type[Leaf], ...] = (Time, Quantity, Address, AddressIfAny)

_VALUES = {leaf: leaf() for leaf in LEAVES}
_LARGEST = 10**15
"""Above, a quantity that is written as a number might not survive as one."""


def leaf_of(leaf: type[Any], value: Json) -> Leaf:
    """Return a leaf for a value; ValueError says what is wrong with it."""
    if type(value) is str:
        if not _ACCEPTS[leaf](value):
            raise ValueError(f"'{value}' is not {leaf.article}")
    elif (
        leaf is not Quantity
        or isinstance(value, bool)
        or not isinstance(value, int | float)
        or not -_LARGEST <= value <= _LARGEST
    ):
        raise ValueError(f"{msgspec.json.encode(value).decode()} is not {leaf.article}")
    return _VALUES[leaf]


_ACCEPTS: dict[type[Leaf], Callable[[str], bool]] = {
    leaf: lru_cache(_REMEMBERED)(leaf.accepts) for leaf in LEAVES
}


def is_address(text: str) -> bool:
    """Return whether a text is an IP address that the API server certainly decodes."""
    return _ACCEPTS[Address](text)

"""Makes shapes of real objects, from the outlines of their JSON: without the texts in which similar objects differ."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from operator import itemgetter
from typing import NamedTuple

import orjson

from kwokctl.errors import ExpressionError
from kwokctl.expr.gotemplate.symbols import Symbol, refuse
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource
from kwokctl.kube.statuses.leaves import Time, is_address
from kwokctl.specialization.holes import TOKENS, Hole, HoleContent, token
from kwokctl.specialization.shape import VERSION as VERSION_SYMBOL
from kwokctl.specialization.shape import Holes, Shape

_WORDS = re.compile(r"[A-Za-z0-9._:-]+")
_TIMES = re.compile(
    rb'"(20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z)"'
)
_ACCOUNT = re.compile(rb'"(kube-api-access-[a-z0-9]{5})"')
"""The volume of a service account, which the API server adds to a pod, ends at random."""
_HAS_ADDRESS = b'IP":"'
_ADDRESSES = re.compile(rb'"(?:hostIP|podIP|ip)":"([0-9A-Fa-f.:]+)"')
_CONTAINERS = re.compile(rb'"containerID":"([!#-\[\]-~]+)"')
_HAS_DEVICE = b'"resourceID":"'
_DEVICES = re.compile(rb'"resourceID":"([!#-\[\]-~]+)"')
"""The addresses of a pod that has started, and the identifiers of its containers and devices."""
_MOST_WORDS = 30
TIME = b'"\x00"'
MARKS = re.compile(rb'"([\x00-\x1f])(\x06?)"')
"""The places of texts: the number of a word, from 1 on, a zero for each time, or `VERSION`.

A second character marks an address of IPv6: objects with others have another outline.
"""
VERSION = 31
"""The mark of the object's version."""


class Outline(NamedTuple):
    """An object without what is its own."""

    text: bytes
    """Its JSON, with control characters, which JSON never has, where its own texts were."""
    holes: tuple[str, ...]
    """Its own texts: its name, uid and node, then any others, at last times."""
    addresses: range
    """The range of the texts that are addresses."""


def outline_of(raw: bytes, words: tuple[str, ...], version: int) -> Outline | None:
    """Return the outline of an object in compact JSON; None if it has none.

    `words` are its name, uid and node, which are taken out wherever they are whole texts.
    """
    text = raw.replace(b'"resourceVersion":"%d"' % version, b'"resourceVersion":"\x1f"')
    for number, word in enumerate(words, 1):
        if _WORDS.fullmatch(word) is None:
            return None
        text = text.replace(b'"%b"' % word.encode(), b'"%c"' % number)
    account = _ACCOUNT.search(text)
    if account is not None:
        words = (*words, account[1].decode())
        text = text.replace(account[0], b'"%c"' % len(words))
    addresses = range(0)
    if _HAS_ADDRESS in text:
        first = len(words)
        text, words = _without(text, words, [a for a in _found(_ADDRESSES, text) if is_address(a)])
        addresses = range(first, len(words))
        text, words = _without(text, words, _found(_CONTAINERS, text))
        if _HAS_DEVICE in text:
            text, words = _without(text, words, _found(_DEVICES, text))
    parts = _TIMES.split(text)
    try:
        times = tuple(map(_time, parts[1::2]))
    except ValueError:
        return None
    return Outline(TIME.join(parts[::2]), words + times, addresses)


def _found(pattern: re.Pattern[bytes], text: bytes) -> list[str]:
    """Return the texts that a pattern finds, each of them once."""
    return [each.decode() for each in dict.fromkeys(pattern.findall(text))]


def _without(
    text: bytes, words: tuple[str, ...], more: Sequence[str]
) -> tuple[bytes, tuple[str, ...]]:
    """Take more words out of a text, as far as there are marks for them."""
    for word in more[: _MOST_WORDS - len(words)]:
        words = (*words, word)
        family = b"\x06" if ":" in word and is_address(word) else b""
        text = text.replace(b'"%b"' % word.encode(), b'"%c%b"' % (len(words), family))
    return text, words


@lru_cache(4096)
def _time(text: bytes) -> str:
    """Return a time, the same text for all objects; ValueError for what only looks like one."""
    found = text.decode()
    if not Time.accepts(found):
        raise ValueError(f"'{found}' is no time")
    return found


class OutlineReading(NamedTuple):
    """The way to read objects with the same outline."""

    shape: Shape
    holes: Callable[[Holes], Holes]
    """Returns the texts of an object in the order of the shape's holes, given those of the outline."""


def reading_of(
    resource: Resource, outline: Outline, known: Callable[[Shape], Shape]
) -> OutlineReading | None:
    """Return how objects with this outline are read; None if it is not certain what differs.

    `known` returns the shape that is known already for an equal one.
    """
    try:
        shape = Shape(resource, _Holes(outline).value)
    except (ExpressionError, ValueError, TypeError, KeyError):
        return None
    order = [hole.number for hole in shape.sources]
    return OutlineReading(known(shape), _picking(order)) if order else None


def _picking(order: list[int]) -> Callable[[Holes], Holes]:
    if len(order) == 1:
        return lambda texts: (texts[order[0]],)
    return itemgetter(*order)


class _Holes:
    """Reads an outline, with holes where its marks are."""

    def __init__(self, outline: Outline) -> None:
        self._symbols: dict[str, Symbol] = {}
        self._numbers = count(len(outline.holes))
        self._first_time = len(outline.holes) - outline.text.count(TIME)
        self._times = count(self._first_time)
        self._addresses = outline.addresses
        text = MARKS.sub(self._named, outline.text)
        self.value = self._with_symbols(orjson.loads(text))
        if self._symbols:
            refuse()  # one is within a longer text
        if "managedFields" in self.value["metadata"]:
            refuse()

    def _named(self, found: re.Match[bytes]) -> bytes:
        mark = found[1][0]
        name = token(next(self._numbers))
        if mark == VERSION:
            self._symbols[name] = VERSION_SYMBOL
        else:
            number = mark - 1 if mark else next(self._times)
            self._symbols[name] = Hole(number, self._content(number, is_6=bool(found[2])))
        return f'"{name}"'.encode()

    def _content(self, number: int, *, is_6: bool) -> HoleContent:
        if number in self._addresses:
            return HoleContent.ADDRESS_6 if is_6 else HoleContent.ADDRESS
        return HoleContent.TIME if number >= self._first_time else HoleContent.TEXT

    def _with_symbols(self, value: Json) -> Json:
        if isinstance(value, dict):
            return {name: self._with_symbols(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._with_symbols(each) for each in value]
        is_hole = isinstance(value, str) and TOKENS.fullmatch(value)
        return self._symbols.pop(value) if is_hole else value

"""Makes shapes of the outlines of real objects."""

import re
from collections.abc import Callable
from itertools import count
from operator import itemgetter
from typing import NamedTuple

import orjson

from kwokctl.errors import ExpressionError
from kwokctl.expr.gotemplate.symbols import Symbol, refuse
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource
from kwokctl.specialization.holes import TOKENS, Hole, HoleContent, token
from kwokctl.specialization.outline import MARKS, TIME, VERSION, Outline
from kwokctl.specialization.shape import VERSION as VERSION_SYMBOL
from kwokctl.specialization.shape import Holes, Shape


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

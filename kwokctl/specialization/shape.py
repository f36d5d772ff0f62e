"""Objects that are alike: their JSON differs in holes only."""

from functools import cached_property
from operator import itemgetter

import orjson

from kwokctl.expr.gotemplate.symbols import Symbol, refuse
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource
from kwokctl.kube.stored_json import value_of
from kwokctl.specialization.holes import TOKENS, Hole, HoleContent, mapped, token

Holes = tuple[str, ...]
"""The texts of an object in the holes of its shape."""
VERSION = Symbol("version")
"""The version of an object, which each write changes."""


class Shape:
    """The common part of objects that differ only in their holes."""

    def __init__(self, resource: Resource, value: Json) -> None:
        """Take an object with `Hole` where others differ, and with `VERSION` as its version.

        Raises NotSymbolicError if it has other symbols, or its version at another place; ValueError
        for too many holes.
        """
        self.sources: list[Hole] = []
        """Its holes as they were given, in the order of the texts of an object of this shape."""
        self.holes: list[Hole] = []
        """The same, numbered in that order."""
        self._resource = resource
        self._numbers: dict[int, Hole] = {}
        self.value: Json = mapped(value, self._renumbered)
        """The object with these holes."""
        if value["metadata"].get("resourceVersion") is not VERSION or self._versions != 1:
            refuse()
        self.contents = tuple([hole.content for hole in self.sources])
        """The contents of its holes."""
        self._tokens = mapped(self.value, self._token)
        self.text = orjson.dumps(self._tokens).decode()
        """Its JSON with a token in each hole: equal for equal shapes."""

    _versions = 0

    def _renumbered(self, symbol: Symbol) -> Symbol:
        if symbol is VERSION:
            self._versions += 1
            return symbol
        if not isinstance(symbol, Hole):
            refuse()
        known = self._numbers.get(symbol.number)
        # That two times are one is a chance: an object that is seen again would have another shape.
        if known is not None and symbol.content is not HoleContent.TIME:
            return known
        hole = self._numbers[symbol.number] = Hole(len(self.holes), symbol.content)
        self.sources.append(symbol)
        self.holes.append(hole)
        return hole

    def _token(self, symbol: Symbol) -> str:
        return token(symbol.number if isinstance(symbol, Hole) else len(self.sources))

    @cached_property
    def _stored(self) -> "_Filling":
        resource = self._resource
        return _Filling(value_of(self._tokens, resource.api_version, resource.kind))

    @cached_property
    def _shown(self) -> "_Filling":
        return _Filling(self.text.encode())

    def stored(self, holes: Holes) -> bytes:
        """Return an object of this shape as etcd has it."""
        return self._stored.fill(holes)

    def opened(self, holes: Holes, version: int) -> Json:
        """Return an object of this shape as clients see it."""
        return orjson.loads(self._shown.fill((*holes, str(version))))


class ObjectForm:
    """An object as its shape and what is its own."""

    __slots__ = ("holes", "shape")

    def __init__(self, shape: Shape, holes: Holes) -> None:
        """Keep both."""
        self.shape = shape
        self.holes = holes

    def opened(self, version: int) -> Json:
        """Return the object as clients see it."""
        return self.shape.opened(self.holes, version)

    def stored(self) -> bytes:
        """Return the object as etcd has it."""
        return self.shape.stored(self.holes)


class _Filling:
    """A text with places for others."""

    __slots__ = ("_constants", "_count", "_pick")

    def __init__(self, text: bytes) -> None:
        parts = TOKENS.split(text.decode())
        self._constants = tuple(parts[::2])
        numbers = [int(each) for each in parts[1::2]]
        self._count = max(numbers, default=-1) + 1
        order = [self._count]
        for place, number in enumerate(numbers, self._count + 1):
            order += [number, place]
        self._pick = itemgetter(*order, 0)

    def fill(self, texts: Holes) -> bytes:
        """Return the text with other texts in its places, of which there may be more than places."""
        return "".join(self._pick(texts[: self._count] + self._constants)[:-1]).encode()

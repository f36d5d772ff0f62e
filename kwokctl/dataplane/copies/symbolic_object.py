"""An object with symbols where its copies differ, and the status that Stages give it."""

from collections.abc import Iterator, Sequence

import msgspec

from kwokctl.dataplane.copies.json_stamp import Stamp
from kwokctl.dataplane.copies.own_values import OwnValues
from kwokctl.dataplane.copies.variable_fields import (
    Copy,
    Path,
    Played,
    Role,
    Slot,
    ValueSource,
)
from kwokctl.expr.gotemplate.go.formatting import quotable
from kwokctl.expr.gotemplate.symbol_calls import quoted_text
from kwokctl.expr.gotemplate.symbols import Compiler, Symbol, TextSymbol, refuse, stripped
from kwokctl.json_value import Json

_NOW = "now"
_TEXTS = (quotable, quoted_text)
"""Functions of templates that always write a string."""
_NO_TEXT = "\u2603 is neither a number, a time, an amount nor an address"
_NO_TEXTS = frozenset({Role.TIME, Role.POD_IP, Role.HOST_IP, Role.SERIAL})
"""Roles with a known format: times, addresses, and values that the object was created with."""


def now_of(copy: Copy) -> str:
    """Return the time at which a copy is played, in the form that templates get."""
    return f"{copy.created[:-1]}.000000000Z"


class PlayedStatus(msgspec.Struct, frozen=True):
    """The status that Stages give all copies of an object."""

    status: Json
    """The status with symbols where copies differ."""
    sources: Played
    """The source of each symbol, by its path in the object."""

    def of(self, copy: Copy) -> Json:
        """Return the status of a copy."""
        readers = {path: source.reader() for path, source in self.sources.items()}
        return filled(self.status, ("status",), {p: read(copy) for p, read in readers.items()})

    def anything(self, copy: Copy) -> Json:
        """Return the status of a copy with example words at places for free text."""
        words = {
            path: source.reader()(copy) if source.role in _NO_TEXTS else _NO_TEXT
            for path, source in self.sources.items()
        }
        return filled(self.status, ("status",), words)

    def uses(self, *roles: Role) -> bool:
        """Return whether any value has one of these roles, or may be made from such a value."""
        return any(each.role in {*roles, Role.PLAYED} for each in self.sources.values())


class SymbolicObject:
    """The object that a stamp copies, with symbols where copies differ."""

    def __init__(self, stamp: Stamp, body: Json, *, pod_ips: int, host_ips: int) -> None:
        """Take the object that `stamp` was made from; its copies have `pod_ips` and `host_ips` addresses.

        Raises NotSymbolicError if keys of a map differ between copies.
        """
        self._sources: dict[str, ValueSource] = {}
        self._assumed: list[ValueSource] = []
        self.own = OwnValues(
            now=TextSymbol(_NOW),
            pod_ips=self._addresses(Role.POD_IP, pod_ips),
            host_ips=self._addresses(Role.HOST_IP, host_ips),
        )
        if any(slot.path[-1] == slot.value for slot in stamp.slots):
            refuse()  # a key that differs, perhaps with a value that does not
        self._places = {slot.path: self._of_slot(slot) for slot in stamp.slots}
        self.body = filled(body, (), self._places)
        metadata = self.body["metadata"]
        if "managedFields" in metadata:
            # The owners of fields are known from the real object that is copied.
            self.body["metadata"] = {**metadata, "managedFields": Symbol("managedFields")}

    def assumes(self) -> Sequence[ValueSource]:
        """Return the values that are assumed to be non-empty strings, which no type guarantees."""
        return list(dict.fromkeys(self._assumed))

    def _of_slot(self, slot: Slot) -> Symbol:
        if slot.source.role is not Role.SERIAL:
            return self._symbol(slot.source, is_text=slot.source.role is not Role.FIELDS)
        is_text = isinstance(slot.value, str) and slot.value != ""
        if is_text:
            self._assumed.append(slot.source)
        return self._symbol(slot.source, is_text=is_text)

    def played(self, body: Json) -> PlayedStatus:
        """Return the status that Stages have given; NotSymbolicError if a value may not be a string."""
        self._refuse_what_moves(body["status"])
        roots = {name: source.reader() for name, source in self._sources.items()}
        compiler: Compiler[Copy] = Compiler({**roots, _NOW: now_of})
        sources = {
            path: self._source(symbol, compiler)
            for path, symbol in _symbols(body["status"], ("status",))
        }
        return PlayedStatus(body["status"], sources)

    def _source(self, symbol: Symbol, compiler: Compiler[Copy]) -> ValueSource:
        root = stripped(symbol, _TEXTS)
        if isinstance(root, TextSymbol) or root is symbol:
            if root.function == _NOW:
                return ValueSource(Role.TIME)
            if isinstance(root.function, str):
                return self._sources[root.function]
        # Real objects show the time at which they were played, which differs.
        if symbol.function not in _TEXTS or _is_made_of_now(symbol):
            refuse()
        return ValueSource(Role.PLAYED, of_copy=compiler.function(symbol))

    def _refuse_what_moves(self, status: Json) -> None:
        """Raise NotSymbolicError for a value that may be no string, unless the object was created with it there."""
        for path, symbol in _symbols(status, ("status",)):
            is_plain = type(symbol) is Symbol and isinstance(symbol.function, str)
            if is_plain and self._places.get(path) is not symbol:
                refuse()

    def _addresses(self, role: Role, number: int) -> Sequence[Symbol]:
        return [self._symbol(ValueSource(role, place)) for place in range(number)]

    def _symbol(self, source: ValueSource, *, is_text: bool = True) -> Symbol:
        name = f"value {len(self._sources)}"
        self._sources[name] = source
        return (TextSymbol if is_text else Symbol)(name)


def _is_made_of_now(value: object) -> bool:
    if not isinstance(value, Symbol):
        return False
    return value.function == _NOW or any(map(_is_made_of_now, value.arguments))


def filled(value: Json, path: Path, places: dict[Path, Json]) -> Json:
    """Return a value in which the values at `places` are replaced."""
    if path in places:
        return places[path]
    if isinstance(value, dict):
        return {key: filled(item, (*path, key), places) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, (*path, n), places) for n, item in enumerate(value)]
    return value


def _symbols(value: Json, path: Path) -> Iterator[tuple[Path, Symbol]]:
    if isinstance(value, Symbol):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _symbols(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _symbols(item, (*path, number))

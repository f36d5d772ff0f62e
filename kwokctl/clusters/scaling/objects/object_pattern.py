"""Patterns of sets: what the objects have in common and how they differ. A pattern makes them without the template."""

from collections.abc import Callable, Iterator, Mapping

import msgspec
import orjson

from kwokctl.dataplane.copies.variable_fields import Path
from kwokctl.expr.gotemplate.symbol_calls import SAYS_THE_SAME
from kwokctl.expr.gotemplate.symbols import Compiler, NotSymbolicError, Symbol, stripped
from kwokctl.json_value import Json

OfSerial = Callable[[int], Json]


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """The object that a template gives for every serial."""

    body: Json
    """The object, with symbols where it differs."""
    slots: Mapping[Path, OfSerial]
    """The functions for values that differ, by serial; equal functions give equal values.

    They raise ExpressionError where a template would.
    """
    names: frozenset[Path]
    """Those of the slots that hold the object's name and nothing else."""

    @property
    def varying(self) -> Mapping[Path, OfSerial]:
        """The values that differ, beside the name."""
        return {path: slot for path, slot in self.slots.items() if path not in self.names}

    def body_for(self, serial: int) -> Json:
        """Return the object with this number."""
        return self._filled(self.body, (), serial)

    def _filled(self, value: Json, path: Path, serial: int) -> Json:
        if isinstance(value, dict):
            return {key: self._filled(item, (*path, key), serial) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item, (*path, n), serial) for n, item in enumerate(value)]
        return self.slots[path](serial) if path in self.slots else value


def pattern_of(
    body: Json, name_of: Callable[[int], str], position_of: Callable[[int], int] = int
) -> Pattern:
    """Return the pattern for an object in which `Name`, `Index` and `Position` are symbols.

    `name_of` gives an object's name by its serial, `position_of` its position. Raises NotSymbolicError for a symbol as a key.
    """
    compiler: Compiler[int] = Compiler({"Name": name_of, "Index": _itself, "Position": position_of})
    symbols = dict(_symbols(body, ()))
    slots = {path: compiler.function(symbol) for path, symbol in symbols.items()}
    names = frozenset(
        path
        for path, symbol in symbols.items()
        # YAML would read such a name as a number.
        if _is_name(symbol) and slots[path](0) == name_of(0)
    )
    return Pattern(body=body, slots=slots | dict.fromkeys(names, name_of), names=names)


def _itself(serial: int) -> int:
    return serial


def _symbols(value: Json, path: Path) -> Iterator[tuple[Path, Symbol]]:
    if isinstance(value, Symbol):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, Symbol):
                raise NotSymbolicError("a key of a map differs between the objects")
            yield from _symbols(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _symbols(item, (*path, number))


def _is_name(symbol: Symbol) -> bool:
    root = stripped(symbol, SAYS_THE_SAME)
    return isinstance(root, Symbol) and root.function == "Name"


def alike(first: Json, second: Json) -> bool:
    """Return whether two objects are the same JSON: here 1 is not True."""
    option = orjson.OPT_SORT_KEYS
    return orjson.dumps(first, option=option) == orjson.dumps(second, option=option)

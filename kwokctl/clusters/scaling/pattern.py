"""What the objects of a set have in common, and how they differ: for making them without a template."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kwokctl.dataplane.copies.variable_fields import Path
from kwokctl.expr.gotemplate.symbolic import SAYS_THE_SAME
from kwokctl.expr.gotemplate.symbols import Compiler, NotSymbolicError, Symbol, stripped

Json = Any
OfSerial = Callable[[int], Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """The object that a template gives for every serial."""

    body: Json
    """The object, with symbols where it differs."""
    slots: Mapping[Path, OfSerial]
    """What gives each value that differs, by serial; equal functions for what is made alike.

    They raise ExpressionError where a template would.
    """
    names: frozenset[Path]
    """Those of the slots that hold the object's name and nothing else."""

    @property
    def varying(self) -> Mapping[Path, OfSerial]:
        """What differs and is not just the name."""
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
    compiler = Compiler({"Name": name_of, "Index": int, "Position": position_of})
    symbols = dict(_symbols(body, ()))
    slots = {path: compiler.function(symbol) for path, symbol in symbols.items()}
    names = frozenset(
        path
        for path, symbol in symbols.items()
        # A name that YAML takes for a number is none.
        if _is_name(symbol) and slots[path](0) == name_of(0)
    )
    return Pattern(body=body, slots=slots | dict.fromkeys(names, name_of), names=names)


def _symbols(value: Json, path: Path) -> Iterator[tuple[Path, Symbol]]:
    if isinstance(value, Symbol):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, Symbol):
                raise NotSymbolicError("a key of a map is another one for each object")
            yield from _symbols(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _symbols(item, (*path, number))


def _is_name(symbol: Symbol) -> bool:
    root = stripped(symbol, SAYS_THE_SAME)
    return isinstance(root, Symbol) and root.function == "Name"

"""Values that are not known yet when a template is rendered, and values that depend on them.

A symbol represents the result of one of the caller's functions; calling a function with a symbol
gives another symbol. So a template can be rendered once for many objects, as long as what it writes
has the same shape for all of them: whatever needs to know a symbol's value raises.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, NoReturn, TypeVar

from kwokctl.errors import ExpressionError, KwokctlError

_UNKNOWN = "this depends on a value that differs between the objects"

Key = TypeVar("Key")
"""The key that distinguishes one object from another, such as its number."""
Value = Callable[[Key], object]
"""Gives a value of an object."""


class NotSymbolicError(ExpressionError):
    """The shape of a template's output depends on a value that is not known yet."""


class Symbol:
    """The result of a function: one of the caller's if it is a name, which has no arguments."""

    __slots__ = ("arguments", "function")

    def __init__(self, function: Callable[..., object] | str, *arguments: object) -> None:
        self.function = function
        self.arguments = arguments

    def __bool__(self) -> bool:
        """Raise NotSymbolicError: no branch can depend on it."""
        return refuse()

    def __eq__(self, other: object) -> bool:
        """Raise NotSymbolicError, unless it is the very same: two may have one value."""
        return True if self is other else refuse()

    def __hash__(self) -> int:
        """Raise NotSymbolicError: what finds it would have to compare it."""
        return refuse()

    def __str__(self) -> str:
        """Raise NotSymbolicError: within a list or a map it might be written."""
        return refuse()

    def __add__(self, other: object) -> "Symbol":
        return Symbol(_added, self, other)

    def __radd__(self, other: object) -> "Symbol":
        return Symbol(_added, other, self)

    def deferred(self, function: Callable[..., object], *arguments: object) -> "Symbol":
        """Return the result of a function for some arguments; this symbol is one of them."""
        return Symbol(function, *arguments)


class TextSymbol(Symbol):
    """A symbol for a text that is not empty, which is therefore true."""

    __slots__ = ()

    def __bool__(self) -> bool:
        """Be true."""
        return True


def _added(first: Any, second: Any) -> object:
    return first + second


def deferring(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, deferred wherever it is called with a symbol: it must be pure."""

    def call(*arguments: object) -> Any:
        for each in arguments:
            if isinstance(each, Symbol):
                return each.deferred(function, *arguments)
        return function(*arguments)

    return call


def refusing(function: Callable[..., object]) -> Callable[..., object]:
    """Return the function, which raises NotSymbolicError where it is called with a symbol."""

    def call(*arguments: object) -> object:
        return refuse() if _has_symbol(arguments) else function(*arguments)

    return call


def strict(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, deferred for symbols, and refused for lists and maps that hold some."""

    def call(*arguments: Any) -> Any:
        if any(holds_symbol(each) for each in arguments if not isinstance(each, Symbol)):
            refuse()
        return Symbol(function, *arguments) if _has_symbol(arguments) else function(*arguments)

    return call


def for_symbols(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that accepts symbols."""
    function.__dict__["takes_symbols"] = True
    return function


def calling(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return how a template calls a caller's function, which must be pure unless it is marked."""
    return function if getattr(function, "takes_symbols", False) else strict(function)


def holds_symbol(value: Any) -> bool:
    """Return whether a value is a symbol, or a list or map with one somewhere in it."""
    if isinstance(value, Mapping):
        return any(map(holds_symbol, value.values()))
    if isinstance(value, list | tuple):
        return any(map(holds_symbol, value))
    return isinstance(value, Symbol)


def refuse() -> NoReturn:
    """Raise NotSymbolicError."""
    raise NotSymbolicError(_UNKNOWN)


def _has_symbol(arguments: tuple[object, ...]) -> bool:
    return any(isinstance(argument, Symbol) for argument in arguments)


class Compiler(Generic[Key]):
    """Makes functions of symbols: the same one for symbols that are made in the same way."""

    def __init__(self, roots: Mapping[str, Value[Key]]) -> None:
        self._roots = {name: _remembering(root) for name, root in roots.items()}
        self._made: dict[object, Value[Key]] = {}

    def function(self, symbol: Symbol) -> Value[Key]:
        """Return what gives the symbol's value for an object; it raises ExpressionError."""
        if isinstance(symbol.function, str):
            return self._roots[symbol.function]
        try:
            return self._made[_likeness(symbol)]
        except KeyError:
            made = self._made[_likeness(symbol)] = _remembering(self._run(symbol))
            return made
        except TypeError:  # a map or a list among the arguments
            return _remembering(self._run(symbol))

    def _run(self, symbol: Symbol) -> Value[Key]:
        function = symbol.function
        if isinstance(function, str):
            return self._roots[function]
        inner_ones = [(n, a) for n, a in enumerate(symbol.arguments) if isinstance(a, Symbol)]
        if len(inner_ones) == 1:
            [(at, only)] = inner_ones
            before, after = symbol.arguments[:at], symbol.arguments[at + 1 :]
            inner = self._run(only)
            if not before and not after:
                return lambda number: function(inner(number))
            return lambda number: function(*before, inner(number), *after)
        parts = [self._part(argument) for argument in symbol.arguments]
        return lambda number: function(*[part(number) for part in parts])

    def _part(self, argument: object) -> Value[Key]:
        return self._run(argument) if isinstance(argument, Symbol) else lambda _: argument


def _likeness(value: object) -> object:
    """Return what is equal for values that are made in the same way; 1 and True are not equal."""
    if isinstance(value, Symbol):
        return (value.function, *map(_likeness, value.arguments))
    return (type(value), value)


def _remembering(run: Value[Key]) -> Value[Key]:
    """Return the function, which keeps its last value: an object has many in more than one place.

    Errors of templates' functions are raised as a caller knows them.
    """
    last: Key | None = None
    result: object = None

    def value(key: Key) -> object:
        nonlocal last, result
        if key is not last:
            try:
                result = run(key)
            except KwokctlError:
                raise
            except Exception as e:
                raise ExpressionError(f"for object {key}: {e}") from e
            last = key
        return result

    return value


def stripped(value: object, functions: Collection[Callable[..., object]]) -> object:
    """Return what the functions are called with, as long as that is one value."""
    while isinstance(value, Symbol) and value.function in functions and len(value.arguments) == 1:
        value = value.arguments[0]
    return value

"""The interpreter of jq, loaded once more under a name of its own, so that it counts its steps.

Regular expressions are as gojq has them. It has no limits of its own. What can multiply the work of a program is
counted: its functions, what they look at and give, and every result of `.[]`, `a, b`, texts and objects with several.

A program that uses purejq itself, such as a test with our plug-in, has it as it is.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

from kwokctl.expr.budget import LETTERS, spend
from kwokctl.expr.regexp import Regexp, RegexpError, RegexpMatch, compile_regexp

_Run = Callable[..., Iterator[Any]]
_Compile = Callable[[Any], _Run]

_MANY = ("comma", "iterate", "object", "str")
"""The nodes of a program that may have more results than what is in them."""
_ITEMS = 8
"""Items of a list that are a step for what looks at all of them at once."""
_BITS = 1 << 12


def meter(package: str) -> None:
    """Change the modules of the interpreter, before it has compiled anything."""
    builtins, compiler, encoder, ops = (
        import_module(f"{package}.{name}") for name in ("builtins", "compiler", "encoder", "ops")
    )
    for table in (_table(compiler, "_V"), _table(compiler, "_P")):
        for kind in _MANY:
            if kind in table:
                table[kind] = _counting_results(table[kind])
        table["call"] = _counting_calls(table["call"])
    for functions in (builtins.PY_BUILTINS, builtins.PY_BUILTINS_PATH):
        functions.update({key: _counted(function) for key, function in functions.items()})
    _charge(ops, _COSTS)
    _charge(encoder, {"_enc": _of_level})
    _charge(builtins, {"_flatten_into": _of_level})
    operators = _table(compiler, "_BINOPS")
    for sign, name in (("+", "add"), ("-", "sub"), ("*", "mul"), ("/", "div")):
        operators[sign] = getattr(ops, f"{name}_values")


def _table(module: ModuleType, name: str) -> dict[str, Any]:
    found: dict[str, Any] = getattr(module, name)
    return found


def _counting_results(compile_node: _Compile) -> _Compile:
    def compiled(node: Any) -> _Run:
        run = compile_node(node)

        def counting(*values: Any) -> Iterator[Any]:
            for result in run(*values):
                spend(1 + _size(result))
                yield result

        return counting

    return compiled


def _counting_calls(compile_node: _Compile) -> _Compile:
    def compiled(node: Any) -> _Run:
        run = compile_node(node)

        def counting(*values: Any) -> Iterator[Any]:
            spend(1)
            return run(*values)

        return counting

    return compiled


def _counted(function: _Run) -> _Run:
    """Return a built-in function that takes steps for its input, and for each result."""

    def counting(value: Any, *values: Any) -> Iterator[Any]:
        spend(1 + _size(value))
        for result in function(value, *values):
            spend(1 + _size(result))
            yield result

    return counting


def _charge(module: ModuleType, costs: Mapping[str, Callable[..., int]]) -> None:
    """Make functions spend steps before each call; recursive functions spend them each time."""
    for name, cost in costs.items():
        setattr(module, name, _charging(getattr(module, name), cost))


def _charging(function: Callable[..., Any], cost: Callable[..., int]) -> Callable[..., Any]:
    def charging(*values: Any) -> Any:
        spend(cost(*values))
        return function(*values)

    return charging


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value) // LETTERS
    return len(value) // _ITEMS if isinstance(value, list | dict) else 0


def _of_level(value: Any, *_others: Any) -> int:
    return 1 + _size(value)


def _of_both(one: Any, other: Any, *_others: Any) -> int:
    return 1 + _size(one) + _size(other)


def _of_each(one: Any, other: Any) -> int:
    """Return the steps for looking at each part of the one with each of the other."""
    if isinstance(one, list | str) and isinstance(other, list | str):
        return len(one) * len(other) // LETTERS
    return _of_both(one, other)


def _of_product(one: Any, other: Any) -> int:
    if isinstance(one, int) and isinstance(other, int):
        return one.bit_length() * other.bit_length() // _BITS
    text, number = (one, other) if isinstance(one, str) else (other, one)
    if isinstance(text, str) and isinstance(number, int | float) and 0 < number < 1 << 40:
        return int(len(text) * number) // LETTERS
    return _of_both(one, other)


def _of_path(root: Any, path: Any, *_values: Any) -> int:
    """Return the steps for a copy of the level that a path leads through, which may be made longer."""
    index: Any = path[0] if isinstance(path, list) and path else 0
    longer = isinstance(index, int | float) and 0 < index < 1 << 40
    return 1 + _size(root) + (int(index) // _ITEMS if longer else 0)


def _of_comparison(one: Any, other: Any, *_others: Any) -> int:
    return 1 + min(_size(one), _size(other))


_COSTS: Mapping[str, Callable[..., int]] = {
    "_cmp": _of_comparison,
    "_contains": _of_comparison,
    "_deep_merge": _of_both,
    "add_values": _of_both,
    "del_path": _of_path,
    "div_values": _of_both,
    "indices_impl": _of_each,
    "mul_values": _of_product,
    "set_path": _of_path,
    "sub_values": _of_each,
}

_NAME = f"{__package__}.purejq"
_FLAGS = frozenset("gim")


@cache
def interpreter() -> ModuleType:
    """Load the interpreter late: most programs do not need it."""
    found = find_spec("purejq")
    assert found is not None
    spec = spec_from_file_location(
        _NAME, found.origin, submodule_search_locations=found.submodule_search_locations
    )
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[_NAME] = module_from_spec(spec)
    spec.loader.exec_module(module)
    meter(_NAME)
    builtins = import_module(f"{_NAME}.builtins")
    builtins.__dict__.update(_regular_expressions(module.JqError))
    return module


def _regular_expressions(error: type[Exception]) -> dict[str, object]:
    """Return what takes the place of Python's `re`: https://pkg.go.dev/github.com/itchyny/gojq.

    `error` is the interpreter's, which a program can catch.
    """

    def compiled(pattern: object, flags: object) -> tuple[Regexp, bool]:
        if not isinstance(pattern, str) or not isinstance(flags, str | None):
            raise error("a regular expression and its flags must be strings")
        given = set(flags or "")
        if not given <= _FLAGS:
            raise error(f"'{flags}' has flags of regular expressions other than g, i and m")
        prefix = ("(?i)" if "i" in given else "") + ("(?s)" if "m" in given else "")
        try:
            return compile_regexp(prefix + pattern), "g" in given
        except RegexpError as e:
            raise error(f"'{pattern}' is not a regular expression: {e}") from e

    return {"_compile_regex": compiled, "_iter_matches": _matches}


def _matches(regexp: Regexp, text: str, every: bool) -> Iterator[RegexpMatch]:  # noqa: FBT001 - purejq passes it by position
    first = regexp.all(text) if every else iter([regexp.search(text)])
    return (match for match in first if match is not None)

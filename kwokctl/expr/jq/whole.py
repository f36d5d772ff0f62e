"""The whole of jq, interpreted: for what the compiler does not know, assignments above all."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from kwokctl.expr.jq.access import Fault


class SyntaxFault(Exception):  # noqa: N818 - never leaves this package
    """The program is no jq."""


def build(source: str) -> Callable[[Any], list[Any]]:
    """Return what runs a jq program on a value; raise SyntaxFault if it is none."""
    interpreter = _interpreter()
    try:
        unknown = next(_unknown(interpreter.parser.parse(source)), None)
        program = interpreter.compile(source)
    except (interpreter.JqParseError, RecursionError) as e:
        problem = str(e).replace("token None", "end")
        raise SyntaxFault(problem[:1].lower() + problem[1:]) from e
    if unknown is not None:
        raise SyntaxFault(f"'{unknown}' is not defined")

    def run(value: Any) -> list[Any]:
        try:
            return list(program.run(value))
        except (MemoryError, TimeoutError):
            raise  # the caller's bounds
        except Exception as e:  # the interpreter's own mistakes are errors of the program, too
            raise Fault(str(e) or type(e).__name__) from e

    return run


def _interpreter() -> Any:
    """Load the interpreter late: most programs do not need it."""
    return import_module("purejq")


def _unknown(tree: Any) -> Iterator[str]:
    """Yield the functions and variables that the program uses and nobody defines."""
    nodes = list(_nodes(tree))
    functions = set(_builtins())
    variables = {"ENV"}
    for node in nodes:
        match node:
            case ("funcdef", name, parameters, _, _):
                functions.add(f"{name}/{len(parameters)}")
                variables.update(p[1:] for p in parameters if p.startswith("$"))
                functions.update(f"{p.removeprefix('$')}/0" for p in parameters)
            case ("pvar", name):
                variables.add(name)
            case (("const", _), _, str() as name):  # {$name: pattern}
                variables.add(name)
            case _:
                pass
    for node in nodes:
        match node:
            case ("call", name, arguments) if f"{name}/{len(arguments)}" not in functions:
                yield f"{name}/{len(arguments)}"
            case ("var", name) if name not in variables:
                yield f"${name}"
            case _:
                pass


def _nodes(tree: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(tree, tuple):
        yield tree
    if isinstance(tree, tuple | list):
        for part in tree:
            yield from _nodes(part)


@cache
def _builtins() -> frozenset[str]:
    return frozenset(_interpreter().first("builtins"))

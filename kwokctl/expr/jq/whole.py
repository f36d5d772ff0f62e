"""The whole of jq, interpreted: for what the compiler does not know, assignments above all.

A program sees nothing but its input. As in kwok, which uses gojq as a library
(https://pkg.go.dev/github.com/itchyny/gojq#WithEnvironLoader), the environment is empty, and there
is no other input and nowhere to write.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from kwokctl.errors import ExpressionError
from kwokctl.expr.budget import BudgetError, metered, size_of, spend
from kwokctl.expr.jq.field_access import JqError
from kwokctl.expr.jq.interpreter import interpreter
from kwokctl.expr.line_column import line_and_column
from kwokctl.json_value import Json

_POSITION = re.compile(r" at position (\d+)")
_WORD = re.compile(r"(?:token|keyword|got [A-Z]+|got) \[?'([^']+)'")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ESCAPE = re.compile(r"escape sequence (\S+)")


def mistake(source: str, problem: str) -> str:
    """Return the error for what the interpreter says of a program."""
    words = _POSITION.sub("", problem).replace("token None", "end").replace("EOF None", "the end")
    return _said(source, words[:1].lower() + words[1:], _offset(source, problem))


def unknown_name(source: str, name: str) -> str:
    """Return the error for an unknown function, `name/2`, or an unknown variable, `$name`."""
    word = re.escape(name.partition("/")[0])
    found = re.search(rf"(?<![\w.$@]){word}\b", source)
    return _said(source, f"'{name}' is not defined", found.start() if found else 0)


def _said(source: str, problem: str, at: int) -> str:
    return f"'{source}' is not a jq program: {problem}, at {line_and_column(source, at)}"


def _offset(source: str, problem: str) -> int:
    """Return where the word begins that is wrong; of a text without an end, its beginning."""
    position = _POSITION.search(problem)
    if position is None:
        escape = _ESCAPE.search(problem)
        blanked = _TEXT.sub(lambda text: " " * len(text[0]), source)
        return max(source.find(escape[1]) if escape else blanked.find('"'), 0)
    at = int(position[1])
    word = _WORD.search(problem)
    if word and source[at - len(word[1]) : at] == word[1]:
        return at - len(word[1])
    return at


_NO_ENVIRONMENT = "def env: {}; "
_VARIABLES: dict[str, object] = {"ENV": {}}
_OUTSIDE = frozenset({"debug/0", "debug/1", "input/0", "input_filename/0", "inputs/0", "stderr/0"})
"""Functions that reach beyond the input."""


def build(source: str) -> Callable[[Json], list[Json]]:
    """Return what runs a jq program on a value; raise ExpressionError if it is invalid."""
    jq = interpreter()
    try:
        unknown = next(_unknown(jq.parser.parse(source)), None)
        program = jq.compile(_NO_ENVIRONMENT + source)
    except (jq.JqParseError, RecursionError) as e:
        raise ExpressionError(mistake(source, str(e))) from e
    if unknown is not None:
        raise ExpressionError(unknown_name(source, unknown))

    def run(value: Json) -> list[Json]:
        try:
            return metered(_results, program, value)
        except (BudgetError, MemoryError):
            raise  # bounds are not for the program to catch
        except Exception as e:  # the interpreter's own mistakes are errors of the program, too
            raise JqError(str(e) or type(e).__name__) from e

    return run


def _results(program: Any, value: Json) -> list[Json]:
    """Return the results; parts of them that are the same count each time."""
    found = list(program.run(value, vars=_VARIABLES))
    spend(size_of(found))
    return found


def with_floats(value: Json) -> Json:
    """Return a value with floats for its numbers, as gojq has what Go reads from JSON."""
    if isinstance(value, dict):
        return {key: with_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_floats(item) for item in value]
    return float(value) if type(value) is int else value


def _unknown(tree: object) -> Iterator[str]:
    """Yield the functions and variables that the program uses without a definition."""
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


def _nodes(tree: object) -> Iterator[tuple[Any, ...]]:
    if isinstance(tree, tuple):
        yield tree
    if isinstance(tree, tuple | list):
        for part in tree:
            yield from _nodes(part)


@cache
def _builtins() -> frozenset[str]:
    return frozenset(interpreter().first("builtins")) - _OUTSIDE

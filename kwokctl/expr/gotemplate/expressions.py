"""Writes pipelines as Python expressions.

Python's truth is Go's for the values of JSON, so `and`, `or` and `not` are Python's own. Fields are
taken in place, without a call, as nearly every value is a dictionary.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import assert_never

from kwokctl.expr.gotemplate.functions import BUILT_IN, TIMELY, takes
from kwokctl.expr.gotemplate.lexer import Source
from kwokctl.expr.gotemplate.nodes import (
    Command,
    Dot,
    Fields,
    Function,
    Literal,
    Operand,
    Pipeline,
    Variable,
)

WHOLE = {"Quote": "quote", "YAML": "block", "toJson": "block_json", "quote": "quote_text"}
"""Functions whose result, written at the end of a pipeline, is a whole value in YAML."""


@dataclass(slots=True)
class Scope:
    """The locals that the dot and the variables live in."""

    dot: str
    variables: dict[str, str]

    def copy(self) -> "Scope":
        """Return a scope in which more can be declared."""
        return Scope(self.dot, dict(self.variables))


class Expressions:
    """Writes the expressions of one template."""

    def __init__(self, source: Source, required: set[str]) -> None:
        """Note in `required` the functions that are not built in."""
        self._source = source
        self._required = required
        self._numbers = count(1)

    def pipeline(self, pipeline: Pipeline, scope: Scope) -> str:
        """Return the expression for a pipeline's value."""
        value: str | None = None
        for command in pipeline.commands:
            value = self._command(command, scope, value)
        return value or "None"

    def written(self, pipeline: Pipeline, scope: Scope) -> str:
        """Return the expression for the text that an action writes."""
        *before, last = pipeline.commands
        if not isinstance(last.operand, Function) or last.operand.name not in WHOLE:
            return f"raw({self.pipeline(pipeline, scope)}, vals)"
        value: str | None = None
        for command in before:
            value = self._command(command, scope, value)
        arguments = self._arguments(last, scope, value)
        self._call(last.operand, arguments)  # complains if they are too few or too many
        return f"{WHOLE[last.operand.name]}(vals, {', '.join(arguments)})"

    def _command(self, command: Command, scope: Scope, piped: str | None) -> str:
        if isinstance(command.operand, Function):
            arguments = self._arguments(command, scope, piped)
            return self._call(command.operand, arguments)
        if piped is not None:
            self._source.fail(command.at, "nothing can be piped into a value")
        return self._operand(command.operand, scope)

    def _arguments(self, command: Command, scope: Scope, piped: str | None) -> list[str]:
        arguments = [self._operand(argument, scope) for argument in command.arguments]
        return arguments if piped is None else [*arguments, piped]

    def _operand(self, operand: Operand, scope: Scope) -> str:
        match operand:
            case Literal():
                return repr(operand.value)
            case Dot():
                return scope.dot
            case Variable():
                return scope.variables[operand.name]
            case Function():
                return self._call(operand, [])
            case Pipeline():
                if operand.variables:
                    self._source.fail(operand.at, "a variable cannot be set in parentheses")
                return self.pipeline(operand, scope)
            case Fields():
                return self._fields(self._operand(operand.operand, scope), operand.names)
            case _:
                assert_never(operand)

    def _fields(self, value: str, names: tuple[str, ...]) -> str:
        for name in names:
            kept = value
            if not value.isidentifier():
                kept = self._temporary()
                value = f"({kept} := {value})"
            value = f"({kept}.get({name!r}) if type({value}) is dict else field({kept}, {name!r}))"
        return value

    def _temporary(self) -> str:
        return f"t{next(self._numbers)}"

    def _call(self, function: Function, arguments: list[str]) -> str:
        special = _SPECIAL.get(function.name)
        if special is not None:
            return special(self, function, arguments)
        name = function.name
        if name in TIMELY:
            self._required.add("Now")
            arguments = ["fn['Now']()", *arguments]
        elif name not in BUILT_IN:
            self._required.add(name)
            return f"fn[{name!r}]({', '.join(arguments)})"
        if not takes(name, len(arguments)):
            self._source.fail(function.at, f"'{name}' is called with the wrong number of values")
        return f"{PREFIX}{name}({', '.join(arguments)})"

    def _joined(self, function: Function, arguments: list[str]) -> str:
        """Write `and` and `or`, which stop as soon as the result is known."""
        if not arguments:
            self._source.fail(function.at, f"'{function.name}' needs a value")
        return f"({f' {function.name} '.join(arguments)})"

    def _not(self, function: Function, arguments: list[str]) -> str:
        if len(arguments) != 1:
            self._source.fail(function.at, "'not' needs one value")
        return f"(not {arguments[0]})"

    def _equal(self, function: Function, arguments: list[str]) -> str:
        """Compare with a text in place; anything else is rare."""
        if len(arguments) < 2:
            self._source.fail(function.at, "'eq' needs two values")
        if len(arguments) != 2 or not arguments[1].startswith(("'", '"')):
            return f"{PREFIX}eq({', '.join(arguments)})"
        kept = self._temporary()
        return (
            f"({kept} == {arguments[1]} if type({kept} := {arguments[0]}) is str"
            f" else {PREFIX}eq({kept}, {arguments[1]}))"
        )


PREFIX = "f_"
"""Set before the names of built-in functions, which may be words of Python."""

_SPECIAL: dict[str, Callable[[Expressions, Function, list[str]], str]] = {
    "and": Expressions._joined,  # noqa: SLF001 - a table of its own methods
    "or": Expressions._joined,  # noqa: SLF001
    "not": Expressions._not,  # noqa: SLF001
    "eq": Expressions._equal,  # noqa: SLF001
}

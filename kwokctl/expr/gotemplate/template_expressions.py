"""Writes pipelines as Python expressions.

A value of the object is kept as it came, with Python's numbers, until something shows its type:
then `exact` converts it to the value of Go. Each expression is written with whether its value may be such
a one. `if`, `range`, fields, `index`, and what writes a value as JSON or YAML can do with it.

Python's truth is Go's for all values but the object's zeros, which are texts in Go, and true. So
`and`, `or` and `not` are Python's own. Fields are taken in place, without a call, as nearly every
value is a dictionary.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from itertools import count
from typing import Any, ClassVar, NamedTuple, assert_never

import msgspec

from kwokctl.expr.budget import charged, looked, looped, spend
from kwokctl.expr.gotemplate.functions import (
    BUILT_IN,
    COUNTING,
    FLAT,
    MODEST,
    READING,
    TIMELY,
    takes,
)
from kwokctl.expr.gotemplate.functions.random import RANDOM
from kwokctl.expr.gotemplate.functions.refused import REFUSED
from kwokctl.expr.gotemplate.go import go_values
from kwokctl.expr.gotemplate.go.go_types import UntypedConstant, exact
from kwokctl.expr.gotemplate.syntax.template_lexer import TemplateSource
from kwokctl.expr.gotemplate.syntax.template_nodes import (
    Dot,
    Fields,
    Function,
    Literal,
    Operand,
    Pipeline,
    PipelineCommand,
    Variable,
)

WHOLE = {"Quote": "quote", "YAML": "block", "toJson": "block_json", "quote": "quote_text"}
"""Functions whose result, written at the end of a pipeline, is a whole value in YAML."""

_OF_WHOLES = frozenset({"block", "block_json"})
"""Those of them that write lists and maps; the others look at the text themselves. The object's are as large as it is."""

VALUES: dict[str, Any] = {
    "Constant": UntypedConstant,
    "OBJECT_NUMBERS": frozenset({int, float}),
    "deepcopy": deepcopy,
    "exact": exact,
    "field": go_values.field,
    "index": go_values.object_index,
    "items": go_values.items,
    "looked": looked,
    "looped": looped,
    "method": go_values.method,
    "no_function": go_values.no_function,
    "object_field": go_values.object_field,
    "object_items": go_values.object_items,
    "object_pairs": go_values.object_pairs,
    "pairs": go_values.pairs,
    "spend": spend,
}
"""The functions with which compiled code reads values."""


class Written(NamedTuple):
    """An expression; `is_raw` if its value may be one of the object as it came."""

    code: str
    is_raw: bool = False


class Scope(msgspec.Struct):
    """The locals that the dot and the variables live in."""

    dot: Written
    variables: dict[str, Written]

    def copy(self) -> "Scope":
        """Return a scope in which more can be declared."""
        return Scope(self.dot, dict(self.variables))


class Expressions:
    """Writes the expressions of one template."""

    def __init__(
        self, source: TemplateSource, required: dict[str, int], *, changes_maps: bool
    ) -> None:
        """Note in `required` the functions that are not built in, and where each is called first.

        If some function changes a map, what the caller's functions give is copied first.
        """
        self._source = source
        self._required = required
        self._numbers = count(1)
        self._changes_maps = changes_maps
        self.is_repeated = False
        """Whether what is written may be evaluated many times: then values are looked at for steps."""

    def pipeline(self, pipeline: Pipeline, scope: Scope) -> Written:
        """Return the expression for a pipeline's value."""
        value: Written | None = None
        for command in pipeline.commands:
            value = self._command(command, scope, value)
        return value or Written("None")

    def exact(self, value: Written) -> str:
        """Return the expression for a value as Go has it; most are texts, or nothing."""
        if not value.is_raw:
            return value.code
        kept, first = self._kept(value.code)
        return f"({kept} if {first} is None or type({kept}) is str else exact({kept}))"

    def range(self, value: Written, helper: str) -> str:
        """Return the expression for what `range` iterates over, nearly always a list as it is."""
        helper = f"object_{helper}" if value.is_raw else helper
        if helper.endswith("pairs"):
            return f"{helper}({value.code})"
        kept, first = self._kept(value.code)
        return f"({kept} if type({first}) is list else {helper}({kept}))"

    def test(self, value: Written) -> str:
        """Return the expression for whether a value is true."""
        return _truth(*self._kept(value.code)) if value.is_raw else value.code

    def written(self, pipeline: Pipeline, scope: Scope) -> str:
        """Return the expression for the text that an action writes."""
        *before, last = pipeline.commands
        if not isinstance(last.operand, Function) or last.operand.name not in WHOLE:
            return f"raw({self.exact(self.pipeline(pipeline, scope))}, vals)"
        value: Written | None = None
        for command in before:
            value = self._command(command, scope, value)
        arguments = self._arguments(last, scope, value)
        self._call(last.operand, arguments)  # raises if they are too few or too many
        is_json = last.operand.name != "quote"
        codes = [
            argument.code if is_json and not n else self.exact(argument)
            for n, argument in enumerate(arguments)
        ]
        writes = WHOLE[last.operand.name]
        if writes in _OF_WHOLES and (self.is_repeated or not arguments[0].is_raw):
            codes[0] = f"looked({codes[0]})"
        return f"{writes}(vals, {', '.join(codes)})"

    def _prefix(self, name: str) -> str:
        """Return how a built-in function is called: what it does is counted where it may be much."""
        if name in (READING if self.is_repeated else MODEST):
            return PREFIX
        return METERED

    def _command(self, command: PipelineCommand, scope: Scope, piped: Written | None) -> Written:
        """Write a call; where it makes a difference, what is piped in is evaluated first."""
        operand = command.operand
        comes_first = isinstance(operand, Function) and (
            self._changes_maps or operand.name in {"and", "or"}
        )
        if piped is None or not comes_first:
            return self._called(command, scope, piped)
        kept, first = self._kept(piped.code)
        called = self._called(command, scope, Written(kept, piped.is_raw))
        return Written(f"({first}, {called.code})[1]", called.is_raw)

    def _called(self, command: PipelineCommand, scope: Scope, piped: Written | None) -> Written:
        operand = command.operand
        if isinstance(operand, Function):
            return self._call(operand, self._arguments(command, scope, piped))
        if piped is None and not command.arguments:
            return self._operand(operand, scope)
        if isinstance(operand, Literal | Dot):
            self._source.fail(command.at, "nothing can be piped into a value")
        arguments = [self.exact(one) for one in self._arguments(command, scope, piped)]
        if isinstance(operand, Fields):
            *before, name = operand.names
            value = self._fields(self._operand(operand.operand, scope), tuple(before))
            return Written(f"method({', '.join([self.exact(value), repr(name), *arguments])})")
        value = self._operand(operand, scope)
        return Written(f"no_function({', '.join([self.exact(value), *arguments])})")

    def _arguments(
        self, command: PipelineCommand, scope: Scope, piped: Written | None
    ) -> list[Written]:
        operand = command.operand
        counts = isinstance(operand, Fields) or (
            isinstance(operand, Function) and operand.name in COUNTING
        )
        arguments = [
            Written(f"Constant({argument.value!r})")
            if counts and isinstance(argument, Literal) and isinstance(argument.value, float)
            else self._operand(argument, scope)
            for argument in command.arguments
        ]
        return arguments if piped is None else [*arguments, piped]

    def _operand(self, operand: Operand, scope: Scope) -> Written:
        match operand:
            case Literal():
                return Written(repr(operand.value))
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

    def _fields(self, value: Written, names: tuple[str, ...]) -> Written:
        code, is_raw = value
        other = "object_field" if is_raw else "field"
        for name in names:
            kept, first = self._kept(code)
            code = f"({kept}.get({name!r}) if type({first}) is dict else {other}({kept}, {name!r}))"
        return Written(code, is_raw)

    def _kept(self, code: str) -> tuple[str, str]:
        """Return a local that holds a value, and the expression that sets it first."""
        if code.isidentifier():
            return code, code
        name = f"t{next(self._numbers)}"
        return name, f"({name} := {code})"

    def _call(self, function: Function, arguments: list[Written]) -> Written:
        special = self._SPECIAL.get(function.name)
        if special is not None:
            return special(self, function, arguments)
        name = function.name
        codes = list(map(self.exact, arguments))
        if name in TIMELY:
            self._required.setdefault("Now", function.at)
            codes = ["(fn.get('now') or fn['Now'])()", *codes]
        elif name in REFUSED:
            self._source.fail(function.at, f"Sprig's '{name}' is not supported: {REFUSED[name]}")
        elif name not in BUILT_IN:
            self._required.setdefault(name, function.at)
            called = f"fn[{name!r}]({', '.join(codes)})"
            return Written(f"deepcopy({called})" if self._changes_maps else called)
        self._check(function, len(codes))
        called = f"{self._prefix(name)}{name}"
        if name in RANDOM:
            called = f"fn.get({name!r}, {called})"
        return Written(f"{called}({', '.join(codes)})")

    def _check(self, function: Function, count: int) -> None:
        if not takes(function.name, count):
            self._source.fail(
                function.at, f"'{function.name}' is called with the wrong number of values"
            )

    def _joined(self, function: Function, arguments: list[Written]) -> Written:
        """Write `and` and `or`, which stop as soon as the result is known."""
        if not arguments:
            self._source.fail(function.at, f"'{function.name}' needs a value")
        if not all(argument.is_raw for argument in arguments):
            arguments = [Written(self.exact(argument)) for argument in arguments]
        *others, last = arguments
        code = last.code
        for argument in reversed(others):
            code = self._either(function.name, argument, code)
        return Written(code, last.is_raw)

    def _either(self, word: str, first: Written, second: str) -> str:
        if not first.is_raw:
            return f"({first.code} {word} {second})"
        kept, setting = self._kept(first.code)
        yes, no = (kept, second) if word == "or" else (second, kept)
        return f"({yes} if {_truth(kept, setting)} else {no})"

    def _not(self, function: Function, arguments: list[Written]) -> Written:
        if len(arguments) != 1:
            self._source.fail(function.at, "'not' needs one value")
        return Written(f"(not {self.test(arguments[0])})")

    def _index(self, function: Function, arguments: list[Written]) -> Written:
        self._check(function, len(arguments))
        codes = [arguments[0].code, *map(self.exact, arguments[1:])]
        name = "index" if arguments[0].is_raw else f"{PREFIX}index"
        return Written(f"{name}({', '.join(codes)})", arguments[0].is_raw)

    def _equal(self, function: Function, arguments: list[Written]) -> Written:
        """Compare with a text in place; anything else is rare."""
        if len(arguments) < 2:
            self._source.fail(function.at, "'eq' needs two values")
        literal = arguments[1].code
        if len(arguments) != 2 or not literal.startswith(("'", '"')):
            return Written(f"{self._prefix('eq')}eq({', '.join(map(self.exact, arguments))})")
        kept, first = self._kept(arguments[0].code)
        other = f"exact({kept})" if arguments[0].is_raw else kept
        return Written(
            f"({kept} == {literal} if type({first}) is str else "
            f"{self._prefix('eq')}eq({other}, {literal}))"
        )

    _SPECIAL: ClassVar[Mapping[str, "_Special"]] = {
        "and": _joined,
        "or": _joined,
        "not": _not,
        "eq": _equal,
        "index": _index,
    }


_Special = Callable[[Expressions, Function, list[Written]], Written]
"""Writes a call of a function that needs none."""


def _truth(kept: str, first: str) -> str:
    """Return the test of a value of the object: its zeros are true."""
    return f"({first} or {kept} == 0 and type({kept}) in OBJECT_NUMBERS)"


PREFIX = "f_"
"""Set before the names of built-in functions, which may be words of Python."""
METERED = "m_"
"""The same, for functions that take steps for what they look at and what they make."""

METERED_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    f"{METERED}{name}": charged(function, flat=1 if name in FLAT else 0)
    for name, function in (BUILT_IN | TIMELY).items()
}

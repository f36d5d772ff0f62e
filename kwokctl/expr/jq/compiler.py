"""Turns steps into a Python function: loops for `[]`, one `if` for `select`, no interpreter."""

from collections.abc import Callable, Iterator
from typing import Any, assert_never

from kwokctl.expr.budget import looped
from kwokctl.expr.jq import field_access
from kwokctl.expr.jq.jq_parser import (
    Constant,
    Each,
    Either,
    Field,
    Item,
    Literal,
    NotCompiledError,
    Select,
    Steps,
)

Compiled = Callable[[object, Callable[[object], None]], None]
"""Takes the input, and what is called with each result in turn."""

_End = Callable[[str, int], None]
"""Writes the code that uses the variable with a result, at a depth of indentation."""
_MOST_LINES = 400
_NAMES = {
    "NO_FIELDS": {},
    "Fault": field_access.JqError,
    "dig": field_access.dig,
    "field": field_access.field,
    "item": field_access.item,
    "each": field_access.each,
    "each_if_any": field_access.each_if_any,
    "looped": looped,
}


def build(steps: Steps) -> Compiled:
    """Return the function for a filter; raise NotCompiledError if it is too large."""
    writer = _Writer(counts=may_multiply(steps))
    writer.line("def run(x0, add):")
    writer.walk(steps, "x0", 1, writer.add)
    compiled: Compiled = _function(writer.lines)
    return compiled


def may_multiply(steps: Steps) -> bool:
    """Return whether the results may be more than the parts of the input: then they are counted.

    A `select` passes its input on for each result of its path that is right: two of them, with `[]`
    within, do so for each pair.
    """
    return _multiplying(steps) > 1


def _multiplying(steps: Steps) -> int:
    found = 0
    for step in steps:
        if isinstance(step, Select):
            found += any(isinstance(each, Each) for each in step.path) + _multiplying(step.path)
        elif isinstance(step, Either):
            found += max(map(_multiplying, step.branches), default=0)
    return found


def build_path(steps: Steps) -> Callable[[object], object] | None:
    """Return the function for a row of fields, which has one result; None for any other filter."""
    if not steps or not all(isinstance(step, Field) and not step.optional for step in steps):
        return None
    writer = _Writer()
    writer.line("def run(x0):")
    writer.walk(steps, "x0", 1, lambda result, depth: writer.line(f"return {result}", depth))
    find: Callable[[object], object] = _function(writer.lines)
    return find


def _function(lines: list[str]) -> Callable[..., Any]:
    names: dict[str, Any] = dict(_NAMES)
    try:
        exec("\n".join(lines), names)  # noqa: S102 - made from steps, strings by repr
    except (SyntaxError, RecursionError, MemoryError) as e:  # nested deeper than Python allows
        raise NotCompiledError from e
    function: Callable[..., Any] = names["run"]
    return function


class _Writer:
    """Writes the function line by line; variables are numbered."""

    def __init__(self, *, counts: bool = False) -> None:
        self.lines: list[str] = []
        self._counts = counts
        self._variables = _numbered()

    def line(self, text: str, depth: int = 0) -> None:
        if len(self.lines) > _MOST_LINES:
            raise NotCompiledError
        self.lines.append("    " * depth + text)

    def add(self, variable: str, depth: int) -> None:
        """Write that a variable holds a result of the program."""
        self.line(f"add({variable})", depth)

    def walk(self, steps: Steps, variable: str, depth: int, end: _End) -> None:
        """Write what the steps do to the variable; `end` writes the code for each result."""
        if not steps:
            end(variable, depth)
            return
        step, rest = steps[0], steps[1:]
        match step:
            case Either():
                for branch in step.branches:
                    self.walk(branch + rest, variable, depth, end)
            case Select():
                self._select(step, rest, variable, depth, end)
            case Field(optional=False):
                self._fields(steps, variable, depth, end)
            case Field() | Item() | Each() | Constant():
                self._step(step, rest, variable, depth, end)
            case _:
                assert_never(step)

    def _step(
        self,
        step: Field | Item | Each | Constant,
        rest: Steps,
        variable: str,
        depth: int,
        end: _End,
    ) -> None:
        result = next(self._variables)
        if isinstance(step, Each):
            other = "each_if_any" if step.optional else "each"
            items = f"{variable} if type({variable}) is list else {other}({variable})"
            items = f"looped({items}, 1)" if self._counts else items
            self.line(f"for {result} in {items}:", depth)
            self.walk(rest, result, depth + 1, end)
            return
        if isinstance(step, Constant):
            self.line(f"{result} = {step.value!r}", depth)
            self.walk(rest, result, depth, end)
            return
        if isinstance(step, Item):
            value = f"item({variable}, {step.index})"
        else:
            value = f"field({variable}, {step.name!r})"
        if not step.optional:
            self.line(f"{result} = {value}", depth)
            self.walk(rest, result, depth, end)
            return
        self.line(f"try: {result} = {value}", depth)
        self.line("except Fault: pass", depth)
        self.line("else:", depth)
        self.walk(rest, result, depth + 1, end)

    def _fields(self, steps: Steps, variable: str, depth: int, end: _End) -> None:
        """Take a row of fields at once: what is on the way is an object nearly always, if it is there."""
        names: list[str] = []
        for step in steps:
            if not isinstance(step, Field) or step.optional:
                break
            names.append(step.name)
        result = next(self._variables)
        path = "".join(f".get({name!r}, NO_FIELDS)" for name in names[:-1])
        self.line(f"try: {result} = {variable}{path}.get({names[-1]!r})", depth)
        self.line("except AttributeError:", depth)
        self.line(f"{result} = dig({variable}, {tuple(names)!r})", depth + 1)
        self.walk(steps[len(names) :], result, depth, end)

    def _select(self, step: Select, rest: Steps, variable: str, depth: int, end: _End) -> None:
        """Write that each result of the condition's path decides whether the input is passed on."""

        def decide(result: str, inside: int) -> None:
            self.line(f"if {condition.format(result)}:", inside)
            self.walk(rest, variable, inside + 1, end)

        condition = _condition(step)
        self.walk(step.path, variable, depth, decide)


def _condition(step: Select) -> str:
    if step.operator is None:
        return "{0} is not None and {0} is not False"
    same = _same(step.literal)
    return same if step.operator == "==" else f"not ({same})"


def _same(literal: Literal) -> str:
    if literal is None or isinstance(literal, bool):
        return f"{{}} is {literal}"
    written = repr(literal).replace("{", "{{").replace("}", "}}")
    if isinstance(literal, str):
        return f"{{}} == {written}"
    return f"{{0}} == {written} and type({{0}}) is not bool"


def _numbered() -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"x{number}"

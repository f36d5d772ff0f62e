"""Turns a parsed template into the source of Python functions, one for each template it defines.

A function takes `w`, which takes a row of texts; `d0`, the value it is given; `fn`, the caller's
functions by name; and `vals`, where values go that are written as placeholders. Dots, variables
and intermediate values are numbered locals. A text that is written unchanged is a constant, and
what is written without a branch between is one row: a call for each text would cost more than it.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import count
from typing import assert_never

import msgspec

from kwokctl.expr.budget import LETTERS
from kwokctl.expr.gotemplate.functions.maps import CHANGING
from kwokctl.expr.gotemplate.syntax.template_lexer import TemplateSource
from kwokctl.expr.gotemplate.syntax.template_nodes import (
    Action,
    Body,
    If,
    Jump,
    Node,
    Pipeline,
    Range,
    TemplateCall,
    Text,
)
from kwokctl.expr.gotemplate.syntax.template_parser import Parsed
from kwokctl.expr.gotemplate.template_expressions import Expressions, Scope, Written


class Translation(msgspec.Struct):
    """Python source; `places` has, for each of its lines, the offset it was made from."""

    lines: list[str] = msgspec.field(default_factory=list)
    places: list[int] = msgspec.field(default_factory=list)
    entry: str = ""
    required: dict[str, int] = msgspec.field(default_factory=dict)
    """The functions that the caller has to give, and the offset at which each is called first."""

    def add(self, depth: int, at: int, line: str) -> None:
        """Append a line."""
        self.lines.append(" " * depth + line)
        self.places.append(at)


class TextRow:
    """Texts and values that are written one after the other; each has a line, for its place."""

    def __init__(self, translation: Translation) -> None:
        self._translation = translation
        self._text = ""
        self._lines: list[tuple[int, str]] = []
        self._at = 0
        self.has_values = False
        """Whether anything in it depends on variables."""

    def text(self, at: int, text: str) -> None:
        """Add a text; texts that follow each other are one."""
        self._at = at
        self._text += text

    def value(self, at: int, code: str) -> None:
        """Add the text that an expression gives."""
        self._take_text()
        self._lines.append((at, code))
        self.has_values = True

    def end(self, depth: int) -> None:
        """Write the row, and begin the next one."""
        self._take_text()
        if self._lines:
            add = self._translation.add
            add(depth, self._lines[0][0], "w((")
            for at, code in self._lines:
                add(depth + 1, at, f"{code},")
            add(depth, self._lines[-1][0], "))")
        self._lines = []
        self.has_values = False

    def _take_text(self) -> None:
        if self._text:
            self._lines.append((self._at, repr(self._text)))
            self._text = ""


def translate(source: TemplateSource, parsed: Parsed) -> Translation:
    """Return the Python source of all templates.

    The first one is given the object as it came, and makes an exact copy of it if functions may
    change it; the others are given exact values.
    """
    translation = Translation()
    names = {name: f"template_{number}" for number, name in enumerate(parsed.templates)}
    translation.entry = names[source.name]
    changes_maps = not CHANGING.isdisjoint(parsed.functions)
    expressions = Expressions(source, translation.required, changes_maps=changes_maps)
    for name, body in parsed.templates.items():
        translation.add(0, 0, f"def {names[name]}(w, d0, fn, vals):")
        expressions.is_repeated = name != source.name
        if expressions.is_repeated:
            translation.add(1, 0, f"spend({_weight(body)})")
        data = Written("d0", is_raw=name == source.name and not changes_maps)
        if name == source.name and changes_maps:
            translation.add(1, 0, "d0 = exact(d0)")
        function = _Function(translation, expressions, names, parsed.assigned)
        function.body(body, Scope(data, {"$": data}), 1)
    return translation


class _Function:
    """Writes the body of one template."""

    def __init__(
        self,
        translation: Translation,
        expressions: Expressions,
        names: Mapping[str, str],
        assigned: Collection[str],
    ) -> None:
        self._add = translation.add
        self._expressions = expressions
        self._names = names
        self._assigned = assigned
        self._numbers: Iterator[int] = count(1)
        self._row = TextRow(translation)

    def body(self, body: Body, scope: Scope, depth: int) -> None:
        """Write the nodes one after the other; variables they declare end with them."""
        inner = scope.copy()
        if not body:
            self._add(depth, 0, "pass")
        for node in body:
            self._node(node, inner, depth)
        self._row.end(depth)

    def _node(self, node: Node, scope: Scope, depth: int) -> None:
        match node:
            case Text():
                self._row.text(node.at, node.text)
            case Action():
                self._action(node, scope, depth)
            case _:
                self._row.end(depth)
                self._branch(node, scope, depth)

    def _branch(self, node: Node, scope: Scope, depth: int) -> None:
        match node:
            case If():
                self._if(node, scope.copy(), depth)
            case Range():
                self._range(node, scope.copy(), depth)
            case Jump():
                self._add(depth, node.at, node.word)
            case TemplateCall():
                data = "None"
                if node.pipeline is not None:
                    data = self._expressions.exact(self._value(node.pipeline, scope))
                self._add(depth, node.at, f"{self._names[node.name]}(w, {data}, fn, vals)")
            case Text() | Action():
                raise AssertionError(node)
            case _:
                assert_never(node)

    def _value(self, pipeline: Pipeline, scope: Scope) -> Written:
        return self._expressions.pipeline(pipeline, scope)

    def _action(self, node: Action, scope: Scope, depth: int) -> None:
        pipeline = node.pipeline
        if not pipeline.variables:
            self._row.value(pipeline.at, self._expressions.written(pipeline, scope))
            return
        if self._row.has_values:  # they are those of the variables as they were
            self._row.end(depth)
        value = self._value(pipeline, scope)
        self._set(pipeline, 0, value, scope, depth)

    def _set(
        self, pipeline: Pipeline, position: int, value: Written, scope: Scope, depth: int
    ) -> None:
        """Set a variable, a new local if it is declared.

        One that is set more than once may get values of any origin, so all of them are exact.
        """
        name = pipeline.variables[position]
        if name in self._assigned:
            value = Written(self._expressions.exact(value))
        if pipeline.declares:
            scope.variables[name] = Written(f"v{next(self._numbers)}", value.is_raw)
        self._add(depth, pipeline.at, f"{scope.variables[name].code} = {value.code}")

    def _if(self, node: If, scope: Scope, depth: int) -> None:
        """Write `if` and `with`; what is tested is kept where a variable or the dot needs it."""
        at = node.pipeline.at
        tested = self._value(node.pipeline, scope)
        inner = scope
        if node.pipeline.variables or node.sets_dot:
            kept = f"d{next(self._numbers)}"
            self._add(depth, at, f"{kept} = {tested.code}")
            tested = Written(kept, tested.is_raw)
        if node.pipeline.variables:
            self._set(node.pipeline, 0, tested, scope, depth)
        if node.sets_dot:
            inner = Scope(tested, scope.variables)
        self._add(depth, at, f"if {self._expressions.test(tested)}:")
        self.body(node.body, inner, depth + 1)
        if node.otherwise:
            self._add(depth, at, "else:")
            self.body(node.otherwise, scope, depth + 1)

    def _range(self, node: Range, scope: Scope, depth: int) -> None:
        pipeline = node.pipeline
        value = self._value(pipeline, scope)
        goods, key = f"r{next(self._numbers)}", f"k{next(self._numbers)}"
        helper = "pairs" if len(pipeline.variables) > 1 else "items"
        ranged = f"looped({self._expressions.range(value, helper)}, {_weight(node.body)})"
        self._add(depth, pipeline.at, f"{goods} = {ranged}")
        dot = Written(f"d{next(self._numbers)}", value.is_raw)
        outer = scope.copy()
        inside = depth
        if node.otherwise:
            self._add(depth, pipeline.at, f"if {goods}:")
            inside += 1
        names = f"{key}, {dot.code}" if len(pipeline.variables) > 1 else dot.code
        self._add(inside, pipeline.at, f"for {names} in {goods}:")
        if len(pipeline.variables) > 1:
            self._set(pipeline, 0, Written(key), scope, inside + 1)
        if pipeline.variables:
            self._set(pipeline, -1, dot, scope, inside + 1)
        is_repeated, self._expressions.is_repeated = self._expressions.is_repeated, True
        self.body(node.body, Scope(dot, scope.variables), inside + 1)
        self._expressions.is_repeated = is_repeated
        if node.otherwise:
            self._add(depth, pipeline.at, "else:")
            self.body(node.otherwise, outer, depth + 1)


def _weight(body: Body) -> int:
    """Return the steps that a body takes, without those of its loops and of what it calls."""
    weight = 1
    for node in body:
        match node:
            case Text():
                weight += len(node.text) // LETTERS
            case Action():
                weight += len(node.pipeline.commands)
            case If():
                weight += _weight(node.body) + _weight(node.otherwise)
            case Range() | Jump() | TemplateCall():
                weight += 1
            case _:
                assert_never(node)
    return weight

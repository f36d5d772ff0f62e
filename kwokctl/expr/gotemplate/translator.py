"""Turns a parsed template into the source of Python functions, one for each template it defines.

A function takes `w`, which takes pieces of text; `d0`, the value it is given; `fn`, the caller's
functions by name; and `vals`, where values go that are written as placeholders. Dots, variables
and intermediate values are numbered locals. A text that is written as it stands is a constant.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import assert_never

from kwokctl.expr.gotemplate.expressions import Expressions, Scope
from kwokctl.expr.gotemplate.lexer import Source
from kwokctl.expr.gotemplate.nodes import Action, Body, Call, If, Jump, Node, Pipeline, Range, Text


@dataclass(slots=True)
class Translation:
    """Python source; `places` has, for each of its lines, the offset it was made from."""

    lines: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    entry: str = ""
    required: set[str] = field(default_factory=set)
    """The functions that the caller has to give."""

    def add(self, depth: int, at: int, line: str) -> None:
        """Append a line."""
        self.lines.append(" " * depth + line)
        self.places.append(at)


def translate(source: Source, templates: Mapping[str, Body]) -> Translation:
    """Return the Python source of all templates."""
    translation = Translation()
    names = {name: f"template_{number}" for number, name in enumerate(templates)}
    translation.entry = names[source.name]
    expressions = Expressions(source, translation.required)
    for name, body in templates.items():
        translation.add(0, 0, f"def {names[name]}(w, d0, fn, vals):")
        _Function(translation, expressions, names).body(body, Scope("d0", {"$": "d0"}), 1)
    return translation


class _Function:
    """Writes the body of one template."""

    def __init__(
        self, translation: Translation, expressions: Expressions, names: Mapping[str, str]
    ) -> None:
        self._add = translation.add
        self._expressions = expressions
        self._names = names
        self._numbers: Iterator[int] = count(1)

    def body(self, body: Body, scope: Scope, depth: int) -> None:
        """Write the nodes one after the other; variables they declare end with them."""
        inner = scope.copy()
        if not body:
            self._add(depth, 0, "pass")
        for node in body:
            self._node(node, inner, depth)

    def _node(self, node: Node, scope: Scope, depth: int) -> None:
        match node:
            case Text():
                self._add(depth, node.at, f"w({node.text!r})")
            case Action():
                self._action(node, scope, depth)
            case If():
                self._if(node, scope.copy(), depth)
            case Range():
                self._range(node, scope.copy(), depth)
            case Jump():
                self._add(depth, node.at, node.word)
            case Call():
                data = "None"
                if node.pipeline is not None:
                    data = self._value(node.pipeline, scope)
                self._add(depth, node.at, f"{self._names[node.name]}(w, {data}, fn, vals)")
            case _:
                assert_never(node)

    def _value(self, pipeline: Pipeline, scope: Scope) -> str:
        return self._expressions.pipeline(pipeline, scope)

    def _action(self, node: Action, scope: Scope, depth: int) -> None:
        pipeline = node.pipeline
        if not pipeline.variables:
            self._add(depth, pipeline.at, f"w({self._expressions.written(pipeline, scope)})")
            return
        value = self._value(pipeline, scope)
        self._add(depth, pipeline.at, f"{self._target(pipeline, 0, scope)} = {value}")

    def _target(self, pipeline: Pipeline, position: int, scope: Scope) -> str:
        """Return the local that a variable lives in, a new one if it is declared."""
        name = pipeline.variables[position]
        if pipeline.declares:
            scope.variables[name] = f"v{next(self._numbers)}"
        return scope.variables[name]

    def _if(self, node: If, scope: Scope, depth: int) -> None:
        """Write `if` and `with`; what is tested is kept where a variable or the dot needs it."""
        at = node.pipeline.at
        test = self._value(node.pipeline, scope)
        kept = None
        if node.pipeline.variables:
            kept = self._target(node.pipeline, 0, scope)
        elif node.sets_dot:
            kept = f"d{next(self._numbers)}"
        if kept is not None:
            self._add(depth, at, f"{kept} = {test}")
            test = kept
        self._add(depth, at, f"if {test}:")
        inner = Scope(kept, scope.variables) if node.sets_dot and kept is not None else scope
        self.body(node.body, inner, depth + 1)
        if node.otherwise:
            self._add(depth, at, "else:")
            self.body(node.otherwise, scope, depth + 1)

    def _range(self, node: Range, scope: Scope, depth: int) -> None:
        pipeline = node.pipeline
        value = self._value(pipeline, scope)
        helper = "pairs" if len(pipeline.variables) > 1 else "items"
        goods = f"r{next(self._numbers)}"
        self._add(depth, pipeline.at, f"{goods} = {helper}({value})")
        dot = f"d{next(self._numbers)}"
        outer = scope.copy()
        targets = [self._target(pipeline, n, scope) for n in range(len(pipeline.variables))]
        inside = depth
        if node.otherwise:
            self._add(depth, pipeline.at, f"if {goods}:")
            inside += 1
        names = f"{targets[0]}, {dot}" if len(targets) > 1 else dot
        self._add(inside, pipeline.at, f"for {names} in {goods}:")
        if targets:
            self._add(inside + 1, pipeline.at, f"{targets[-1]} = {dot}")
        self.body(node.body, Scope(dot, scope.variables), inside + 1)
        if node.otherwise:
            self._add(depth, pipeline.at, "else:")
            self.body(node.otherwise, outer, depth + 1)

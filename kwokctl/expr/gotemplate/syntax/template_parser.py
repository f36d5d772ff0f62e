"""Reads Go's template language: https://pkg.go.dev/text/template."""

from collections.abc import Iterator

import msgspec

from kwokctl.expr.gotemplate.syntax.pipelines import KEYWORDS, PipelineReader
from kwokctl.expr.gotemplate.syntax.template_lexer import Cursor, TemplateSource, Token
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

_BRANCHES = frozenset({"if", "with", "range"})


class Parsed(msgspec.Struct, frozen=True):
    """The templates by name: the whole text under its own, and what it defines."""

    templates: dict[str, Body]
    functions: frozenset[str]
    """The functions that are called anywhere."""
    assigned: frozenset[str]
    """The variables that are set again somewhere after they were declared."""


def parse(source: TemplateSource) -> Parsed:
    """Return the templates of a text; raise ExpressionError, with line and column."""
    return _Parser(source).parse()


class _Parser:
    """Reads nodes; pipelines are read by its helper."""

    def __init__(self, source: TemplateSource) -> None:
        self._source = source
        self._cursor = Cursor(source)
        self._reader = PipelineReader(source, self._cursor)
        self._loops = 0
        self._defined: dict[str, Body] = {}
        self._called: list[tuple[str, int]] = []

    def parse(self) -> Parsed:
        body, word = self._body(top=True)
        if word is not None:
            self._source.fail(word.at, f"unexpected '{word.text}'")
        for name, at in self._called:
            if name not in self._defined and name != self._source.name:
                self._source.fail(at, f"template '{name}' is not defined")
        return Parsed(
            {self._source.name: body} | self._defined,
            frozenset(self._reader.functions),
            frozenset(self._reader.assigned),
        )

    def _body(self, *, top: bool = False) -> tuple[Body, Token | None]:
        """Read nodes up to `end` or `else`, whose word is returned, too; None is the text's end."""
        nodes: list[Node] = []
        while (token := self._cursor.take()).kind != "end":
            if token.kind == "text":
                nodes.append(Text(at=token.at, text=token.text))
                continue
            word = self._cursor.solid()
            if word.kind != "word" or word.text not in KEYWORDS:
                nodes.append(Action(at=token.at, pipeline=self._reader.pipeline()))
                continue
            self._cursor.take()
            if word.text in {"end", "else"}:
                return tuple(nodes), word
            nodes.extend(self._keyword(word, top=top))
        return tuple(nodes), None

    def _keyword(self, word: Token, *, top: bool) -> Iterator[Node]:
        if word.text in _BRANCHES:
            yield self._branch(word)
        elif word.text in {"break", "continue"}:
            if not self._loops:
                self._source.fail(word.at, f"'{word.text}' outside of 'range'")
            self._close(word)
            yield Jump(at=word.at, word=word.text)
        elif word.text == "define":
            if not top:
                self._source.fail(word.at, "'define' inside of something else")
            name = self._name(word)
            self._close(word)
            self._define(name, word)
        else:
            yield self._call(word)

    def _call(self, word: Token) -> TemplateCall:
        """Read `template`, or `block`, which defines what it calls."""
        name = self._name(word)
        self._called.append((name, word.at))
        pipeline = None
        if word.text == "template" and self._cursor.solid().kind == "right":
            self._cursor.take()
        else:
            pipeline = self._reader.pipeline()
        if word.text == "block":
            self._define(name, word)
        return TemplateCall(at=word.at, name=name, pipeline=pipeline)

    def _name(self, word: Token) -> str:
        token = self._cursor.solid()
        if token.kind not in {"string", "raw"}:
            self._source.fail(token.at, f"'{word.text}' needs a name in quotes")
        return str(self._reader.literal(self._cursor.take()).value)

    def _close(self, word: Token) -> None:
        """Make sure that the action ends after its word."""
        token = self._cursor.solid()
        if token.kind != "right":
            self._source.fail(token.at, f"unexpected '{token.text}' after '{word.text}'")
        self._cursor.take()

    def _define(self, name: str, word: Token) -> None:
        """Read a template's body; its variables and loops are its own."""
        outer, loops = self._reader.variables, self._loops
        self._reader.variables, self._loops = ["$"], 0
        body, end = self._body()
        self._ended(word, end)
        self._reader.variables, self._loops = outer, loops
        is_empty = all(isinstance(node, Text) and not node.text.strip() for node in body)
        is_taken = name in self._defined or name == self._source.name
        if is_taken and not is_empty:
            self._source.fail(word.at, f"template '{name}' is defined twice")
        if not is_taken:
            self._defined[name] = body

    def _branch(self, word: Token) -> Node:
        """Read `if`, `with` or `range` up to its end, an `else if` being a branch in the branch."""
        scope = len(self._reader.variables)
        pipeline = self._reader.pipeline(loop=word.text == "range")
        self._loops += word.text == "range"
        body, end = self._body()
        self._loops -= word.text == "range"
        otherwise: Body = ()
        if end is not None and end.text == "else":
            del self._reader.variables[scope + len(pipeline.variables) * pipeline.declares :]
            otherwise = self._otherwise(word, end)
        else:
            self._ended(word, end)
        del self._reader.variables[scope:]
        return _made(word, pipeline, body, otherwise)

    def _otherwise(self, word: Token, end: Token) -> Body:
        following = self._cursor.solid()
        if following.kind == "word" and following.text in {"if", "with"}:
            if word.text != following.text:
                self._source.fail(end.at, f"'else {following.text}' in '{word.text}'")
            return (self._branch(self._cursor.take()),)
        self._close(end)
        body, last = self._body()
        self._ended(word, last)
        return body

    def _ended(self, word: Token, end: Token | None) -> None:
        if end is None:
            self._source.fail(word.at, f"'{word.text}' has no 'end'")
        if end.text != "end":
            self._source.fail(end.at, f"unexpected '{end.text}'")
        self._close(end)


def _made(word: Token, pipeline: Pipeline, body: Body, otherwise: Body) -> Node:
    if word.text == "range":
        return Range(at=word.at, pipeline=pipeline, body=body, otherwise=otherwise)
    return If(
        at=word.at,
        pipeline=pipeline,
        body=body,
        otherwise=otherwise,
        sets_dot=word.text == "with",
    )

"""Parses the part of jq that is compiled: its steps, and how they are read."""

import json
import re
from sys import float_info
from typing import NoReturn

import msgspec

Literal = str | int | float | bool | None


_TOKEN = re.compile(
    r"""(?x)
    (?: \s | \#[^\n]* )*
    (?: (?P<field>\.[A-Za-z_][A-Za-z0-9_]*)
      | (?P<string>"(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")
      | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
      | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<sign>==|!=|[.\[\]()|,?])
      | (?P<end>\Z)
      | (?P<beyond>.)
    )"""
)
_WORDS: dict[str, Literal] = {"true": True, "false": False, "null": None}


class Field(msgspec.Struct, frozen=True):
    """`.name`, `."name"` or `["name"]`; a null has null in every field."""

    name: str
    optional: bool = False


class Item(msgspec.Struct, frozen=True):
    """`[3]` or `[-1]`; beyond the ends there is null."""

    index: int
    optional: bool = False


class Each(msgspec.Struct, frozen=True):
    """`[]`: every item of an array, every value of an object."""

    optional: bool = False


class Constant(msgspec.Struct, frozen=True):
    """A literal, whatever the input is."""

    value: Literal


class Select(msgspec.Struct, frozen=True):
    """`select(path)`, or with `==` or `!=` and a literal; once for each result of the path."""

    path: "Steps"
    operator: str | None = None
    literal: Literal = None


class Either(msgspec.Struct, frozen=True):
    """`one, other`: the results of each branch in turn."""

    branches: tuple["Steps", ...]


Step = Field | Item | Each | Constant | Select | Either
Steps = tuple[Step, ...]


class NotCompiledError(Exception):
    """The program cannot be expressed in steps: it may be valid or invalid jq."""


def parse(source: str) -> Steps:
    """Return the steps of a jq program; raise NotCompiledError if it is not of this part of jq."""
    reader = _Reader(source)
    if reader.kind == "end":
        return ()
    steps = reader.pipe()
    if reader.kind != "end":
        reader.give_up()
    return steps


class _Reader:
    """Looks one token ahead."""

    def __init__(self, source: str) -> None:
        self._tokens = _TOKEN.finditer(source)
        self.kind = self.text = ""
        self._next()

    def _next(self) -> str:
        text = self.text
        match = next(self._tokens, None)
        if match is None:
            self.give_up()
        self.kind = match.lastgroup or "end"
        self.text = match[self.kind]
        return text

    def give_up(self) -> NoReturn:
        raise NotCompiledError

    def _accept(self, sign: str) -> bool:
        if self.kind == "sign" and self.text == sign:
            self._next()
            return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._accept(sign):
            self.give_up()

    def pipe(self) -> Steps:
        steps = self._comma()
        while self._accept("|"):
            steps += self._comma()
        return steps

    def _comma(self) -> Steps:
        branches = [self._term()]
        while self._accept(","):
            branches.append(self._term())
        return branches[0] if len(branches) == 1 else (Either(tuple(branches)),)

    def _term(self) -> Steps:
        if self.kind in {"string", "number"} or (self.kind == "word" and self.text in _WORDS):
            return (Constant(self._literal()),)
        if self.kind == "word" and self.text == "select":
            return (self._select(),)
        return self._path()

    def _literal(self) -> Literal:
        if self.kind == "word" and self.text in _WORDS:
            return _WORDS[self._next()]
        if self.kind == "string":
            return str(json.loads(self._next()))
        if self.kind != "number":
            self.give_up()
        text = self._next()
        if text.lstrip("-").isdecimal():
            return int(text)
        # As jq does, take the largest number there is for one that is larger.
        return max(-float_info.max, min(float(text), float_info.max))

    def _select(self) -> Select:
        self._next()
        self._expect("(")
        path = self.pipe()
        operator = None
        literal: Literal = None
        if self.kind == "sign" and self.text in {"==", "!="}:
            operator = self._next()
            literal = self._literal()
            # `.a | .b == 1` compares `.b` alone; it comes to the same, but `.a, .b == 1` does not.
            if any(isinstance(step, Either) for step in path):
                self.give_up()
        self._expect(")")
        return Select(path, operator, literal)

    def _path(self) -> Steps:
        steps: list[Step] = []
        if self._accept("."):
            if self.kind == "string":
                steps.append(Field(str(self._literal()), self._accept("?")))
        elif self.kind == "field":
            steps.append(self._field())
        else:
            self.give_up()
        while (step := self._suffix()) is not None:
            steps.append(step)
        return tuple(steps)

    def _suffix(self) -> Step | None:
        if self.kind == "field":
            return self._field()
        if self._accept("."):
            if self.kind == "string":
                return Field(str(self._literal()), self._accept("?"))
            if self.text != "[":
                self.give_up()
        return self._bracket() if self._accept("[") else None

    def _field(self) -> Field:
        return Field(self._next()[1:], self._accept("?"))

    def _bracket(self) -> Step:
        if self._accept("]"):
            return Each(self._accept("?"))
        key = self._literal()
        self._expect("]")
        if isinstance(key, str):
            return Field(key, self._accept("?"))
        if type(key) is not int:
            self.give_up()
        return Item(key, self._accept("?"))

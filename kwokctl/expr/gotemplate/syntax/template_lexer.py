"""Cuts a Go template into texts, and its actions into tokens."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NoReturn

import msgspec

from kwokctl.errors import ExpressionError
from kwokctl.expr.line_column import line_and_column

_LEFT = re.compile(r"\{\{(?P<trim>-(?=[ \t\r\n]))?")
_COMMENT = re.compile(r"[ \t\r\n]?/\*(?:[^*]|\*(?!/))*\*/(?P<trim>[ \t\r\n]-)?\}\}", re.DOTALL)
_TOKEN = re.compile(
    r"""(?x)
    (?P<space>(?:[ \t\r\n](?!-\}\}))+)
  | (?P<assign>:=|=)
  | (?P<pipe>\|)
  | (?P<comma>,)
  | (?P<open>\()
  | (?P<close>\))
  | (?P<number>[-+]?(?:\.[0-9]|[0-9])(?:[eE][-+]?(?=[0-9])|[pP][-+]?(?=[0-9])|[0-9A-Za-z_.])*)
  | (?P<field>\.[^\W\d]\w*)
  | (?P<dot>\.)
  | (?P<variable>\$\w*)
  | (?P<word>[^\W\d]\w*)
  | (?P<string>"(?:[^"\\\n]|\\[^\n])*")
  | (?P<raw>`[^`]*`)
  | (?P<character>'(?:[^'\\\n]|\\[^\n])+')
    """
)
_RIGHT = re.compile(r"(?P<trim>[ \t\r\n]-)?\}\}")
_WHITE = " \t\r\n"
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


class Token(msgspec.Struct, frozen=True):
    """A piece of an action; `kind` is `text` outside, and `left` and `right` are the braces."""

    kind: str
    text: str
    at: int


class TemplateSource:
    """A template's text and name; finds the line and column of an offset."""

    def __init__(self, text: str, name: str) -> None:
        """Keep the text; the spaces around it do not count, as in kwok."""
        self.text = text.rstrip(_SPACES)
        self.start = len(self.text) - len(self.text.lstrip(_SPACES))
        self.name = name

    def where(self, at: int) -> str:
        """Return the place of an offset, as every error of a template begins."""
        return f"template '{self.name}', {line_and_column(self.text, at)}"

    def fail(self, at: int, problem: str, *, hint: str | None = None) -> NoReturn:
        """Raise the error for a problem at an offset."""
        raise ExpressionError(f"{self.where(at)}: {problem}", hint=hint)


def tokens(source: TemplateSource) -> Iterator[Token]:
    """Yield the tokens of a whole template; spaces are tokens, too, as they part arguments."""
    text, at, trim = source.text, source.start, False
    while (left := _LEFT.search(text, at)) is not None:
        yield from _text(text[at : left.start()], at, first=trim, last=bool(left["trim"]))
        comment = _COMMENT.match(text, left.end())
        if comment is not None:
            at, trim = comment.end(), bool(comment["trim"])
            continue
        if re.match(r"[ \t\r\n]?/\*", text[left.end() : left.end() + 3]):
            source.fail(left.start(), "a comment must be the whole of its braces: {{/* … */}}")
        yield Token("left", "{{", left.start())
        for token in _action(source, left.end(), left.start()):
            if token.kind == "right":
                at, trim = token.at + len(token.text), len(token.text) > len("}}")
            yield token
    yield from _text(text[at:], at, first=trim, last=False)
    yield Token("end", "", len(text))


def _text(text: str, at: int, *, first: bool, last: bool) -> Iterator[Token]:
    text = text.lstrip(_WHITE) if first else text
    text = text.rstrip(_WHITE) if last else text
    if text:
        yield Token("text", text, at)


def _action(source: TemplateSource, at: int, start: int) -> Iterator[Token]:
    while True:
        right = _RIGHT.match(source.text, at)
        if right is not None:
            yield Token("right", right[0], at)
            return
        match = _TOKEN.match(source.text, at)
        if match is None:
            _complain(source, at, start)
        yield Token(str(match.lastgroup), match[0], at)
        at = match.end()


def _complain(source: TemplateSource, at: int, start: int) -> NoReturn:
    if at >= len(source.text):
        source.fail(start, "the action is not closed by '}}'")
    character = source.text[at]
    if character in "\"`'":
        source.fail(at, "a quoted string is not closed")
    source.fail(at, f"'{character}' is unexpected here")


class Cursor:
    """Walks over the tokens of a template."""

    def __init__(self, source: TemplateSource) -> None:
        """Cut the source into tokens; raise ExpressionError where that fails."""
        self._tokens = list(tokens(source))
        self._at = 0

    def take(self) -> Token:
        """Take the next token, a space included."""
        self._at += 1
        return self._tokens[self._at - 1]

    def peek(self) -> Token:
        """Show the next token, a space included."""
        return self._tokens[self._at]

    def solid(self) -> Token:
        """Skip spaces and show the token that comes then."""
        while self._tokens[self._at].kind == "space":
            self._at += 1
        return self._tokens[self._at]

    def ahead(self, count: int) -> list[Token]:
        """Show the next tokens that are no spaces, fewer at the end of the text."""
        rest = (token for token in self._tokens[self._at :] if token.kind != "space")
        return list(islice(rest, count))

    def skip(self, count: int) -> None:
        """Take that many tokens that are no spaces."""
        for _ in range(count):
            self.solid()
            self._at += 1

"""Reads a script of sh into a tree: the part of the language that scripts of containers use.

Source: POSIX.1-2017, Shell and Utilities, chapter 2.
"""

import re
from collections.abc import Callable, Collection
from typing import NoReturn, TypeAlias

from kwokctl.controller.lifecycle.scripts.script_tree import (
    NOTHING,
    Both,
    Define,
    For,
    IfElse,
    Inner,
    Not,
    Piece,
    Simple,
    Tree,
    UnreadableError,
    Use,
    While,
    Word,
)

_MOST = 20_000
"""Characters of a script that are read."""


_Token: TypeAlias = Word | str
"""A word, or an operator."""

_OPERATORS = re.compile(r"\|\||&&|&>>?|;;|[0-9]*(?:>>|>&|<&|<<|>|<)|\(\(|[;&|()\n]")
_SPACE = re.compile(r"(?:[ \t\r]|\\\n|(?:(?<=\s)|\A)#[^\n]*)+")
_PLAIN = re.compile(r"[^\s\\'\"$`;&|()<>]+")
_QUOTED = re.compile(r"[^\\\"$`]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9?#@*$!]")
_BRACED = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?-)([^{}]*))?\}")
_CLOSING: dict[str, Collection[str]] = {
    "if": ("then",), "then": ("elif", "else", "fi"), "else": ("fi",),
    "while": ("do",), "do": ("done",), "{": ("}",), "(": (")",),
}  # fmt: skip


def parsed(script: str) -> Tree:
    """Return what a script says; UnreadableError where it says something else."""
    if len(script) > _MOST:
        raise UnreadableError
    return _Parser(_Reader(script).tokens()).script()


class _Reader:
    """Divides a script into words and operators."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def tokens(self) -> list[_Token]:
        found: list[_Token] = []
        while True:
            self._take(_SPACE)
            if self._at >= len(self._text):
                return found
            operator = self._take(_OPERATORS)
            found.append(operator or self._word())

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            return ""
        self._at = match.end()
        return match[0]

    def _word(self) -> Word:
        pieces: list[Piece] = []
        while self._at < len(self._text) and not self._text[self._at].isspace():
            if _OPERATORS.match(self._text, self._at) and not self._is_digit():
                break
            if plain := self._take(_PLAIN):
                pieces.append(Piece(Use.TEXT, plain, is_quoted=False))
            else:
                pieces += self._special()
        return tuple(pieces)

    def _is_digit(self) -> bool:
        return self._text[self._at].isdigit()

    def _special(self) -> list[Piece]:
        match self._next():
            case "\\":
                return [Piece(Use.TEXT, self._next(), is_quoted=True)]
            case "'":
                return [Piece(Use.TEXT, self._until("'"), is_quoted=True)]
            case '"':
                return self._quoted()
            case "`":
                return [Piece(Use.OUTPUT, self._until("`"), is_quoted=False)]
            case _:
                return [self._dollar(is_quoted=False)]

    def _next(self) -> str:
        if self._at >= len(self._text):
            raise UnreadableError
        self._at += 1
        return self._text[self._at - 1]

    def _until(self, end: str) -> str:
        begin = self._at
        self._at = self._text.find(end, begin) + 1
        if not self._at:
            raise UnreadableError
        return self._text[begin : self._at - 1]

    def _quoted(self) -> list[Piece]:
        pieces = [Piece(Use.TEXT, "", is_quoted=True)]
        while True:
            if plain := self._take(_QUOTED):
                pieces.append(Piece(Use.TEXT, plain, is_quoted=True))
                continue
            match self._next():
                case '"':
                    return pieces
                case "\\":
                    after = self._next()
                    kept = after if after in '"\\$`' else "" if after == "\n" else f"\\{after}"
                    pieces.append(Piece(Use.TEXT, kept, is_quoted=True))
                case "`":
                    pieces.append(Piece(Use.OUTPUT, self._until("`"), is_quoted=True))
                case _:
                    pieces.append(self._dollar(is_quoted=True))

    def _dollar(self, *, is_quoted: bool) -> Piece:
        if self._text.startswith("((", self._at):
            return Piece(Use.ARITHMETIC, self._enclosed(2), is_quoted=is_quoted)
        if self._text.startswith("(", self._at):
            return Piece(Use.OUTPUT, self._enclosed(1), is_quoted=is_quoted)
        if braced := self._take(_BRACED):
            return Piece(Use.VARIABLE, braced[1:-1], is_quoted=is_quoted)
        if name := self._take(_NAME):
            return Piece(Use.VARIABLE, name, is_quoted=is_quoted)
        if self._text.startswith("{", self._at):
            raise UnreadableError
        return Piece(Use.TEXT, "$", is_quoted=True)

    def _enclosed(self, number: int) -> str:
        """Return the text within a number of parentheses; those in quotation marks count too."""
        begin, depth = self._at, 0
        while True:
            depth += {"(": 1, ")": -1}.get(self._next(), 0)
            if not depth:
                return self._text[begin + number : self._at - number]


class _Parser:
    """Puts words and operators together."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._at = tokens, 0

    def script(self) -> Tree:
        found = self._list(())
        if self._at < len(self._tokens):
            raise UnreadableError
        return found

    def _peek(self) -> str:
        """Return the next operator, or the next word if nothing in it is quoted or expanded."""
        if self._at >= len(self._tokens):
            return ""
        token = self._tokens[self._at]
        if isinstance(token, str):
            return token
        match token:
            case (Piece(use=Use.TEXT, is_quoted=False) as piece,):
                return piece.text
            case _:
                return ""

    def _is_word(self) -> bool:
        return self._at < len(self._tokens) and not isinstance(self._tokens[self._at], str)

    def _word(self) -> Word:
        if not self._is_word():
            raise UnreadableError
        self._at += 1
        token = self._tokens[self._at - 1]
        assert not isinstance(token, str)
        return token

    def _accept(self, *words: str) -> str:
        found = self._peek()
        if found not in words:
            return ""
        self._at += 1
        return found

    def _expect(self, *words: str) -> str:
        return self._accept(*words) or _fail()

    def _blank(self) -> None:
        while self._accept("\n", ";"):
            pass

    def _list(self, ends: Collection[str]) -> Tree:
        found: Tree = NOTHING
        between = ";"
        self._blank()
        while self._at < len(self._tokens) and self._peek() not in ends:
            found = Both(found, between, self._and_or())
            between = self._accept("&") or ";"
            self._blank()
        return Both(found, "&", NOTHING) if between == "&" else found

    def _and_or(self) -> Tree:
        found = self._pipeline()
        while between := self._accept("&&", "||"):
            while self._accept("\n"):
                pass
            found = Both(found, between, self._pipeline())
        return found

    def _pipeline(self) -> Tree:
        if self._accept("!"):
            return Not(self._pipeline())
        found = self._command()
        while self._accept("|"):
            found = Both(found, ";", self._command())
        return found

    def _command(self) -> Tree:
        readers: dict[str, Callable[[], Tree]] = {
            "if": self._if, "while": self._while, "until": self._until, "for": self._for,
            "{": self._group, "(": self._group,
        }  # fmt: skip
        read = readers.get(self._peek())
        if read is None:
            return self._simple()
        return self._redirected(read())

    def _redirected(self, body: Tree) -> Tree:
        writes = self._redirections()
        return Both(Simple((), writes), ";", body) if writes else body

    def _body(self, begin: str) -> Tree:
        self._expect(begin)
        return self._list(_CLOSING[begin])

    def _if(self) -> Tree:
        condition = self._body("if")
        then = self._body("then")
        match self._expect("elif", "else", "fi"):
            case "elif":
                self._tokens.insert(self._at, (Piece(Use.TEXT, "if", is_quoted=False),))
                return IfElse(condition, then, self._if())
            case "else":
                otherwise = self._list(("fi",))
                self._expect("fi")
                return IfElse(condition, then, otherwise)
            case _:
                return IfElse(condition, then, NOTHING)

    def _while(self) -> Tree:
        condition = self._body("while")
        return While(condition, self._loop())

    def _until(self) -> Tree:
        self._expect("until")
        condition = self._list(("do",))
        return While(Not(condition), self._loop())

    def _loop(self) -> Tree:
        body = self._body("do")
        self._expect("done")
        return body

    def _for(self) -> Tree:
        self._expect("for")
        name = self._peek()
        self._word()
        self._expect("in")
        words = []
        while self._is_word():
            words.append(self._word())
        self._blank()
        return For(name, tuple(words), self._loop())

    def _group(self) -> Tree:
        begin = self._peek()
        found = self._body(begin)
        self._expect(*_CLOSING[begin])
        return Inner(found) if begin == "(" else found

    def _simple(self) -> Tree:
        words: list[Word] = []
        writes: tuple[Word, ...] = self._redirections()
        while self._is_word():
            words.append(self._word())
            writes += self._redirections()
        if len(words) == 1 and self._accept("("):
            return self._definition(words[0])
        if not words and not writes:
            _fail()
        return Simple(tuple(words), writes)

    def _definition(self, name: Word) -> Tree:
        self._expect(")")
        self._blank()
        match name:
            case (Piece(use=Use.TEXT, is_quoted=False) as piece,):
                return Define(piece.text, self._command())
            case _:
                return _fail()

    def _redirections(self) -> tuple[Word, ...]:
        """Skip where input and output go; return the files that are written."""
        writes: list[Word] = []
        while (operator := self._peek()).endswith((">", "<", "&")) and operator not in ("&", "&&"):
            self._at += 1
            if operator.endswith("<<"):
                _fail()
            file = self._word()
            if operator.endswith(">"):
                writes.append(file)
        return tuple(writes)


def _fail() -> NoReturn:
    raise UnreadableError

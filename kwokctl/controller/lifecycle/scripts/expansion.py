"""Expands the words of a script: variables, arithmetic, and what known commands write.

Source: POSIX.1-2017, Shell and Utilities, 2.6. Arithmetic is that of whole numbers (2.6.4).
"""

import re
from collections.abc import Callable, Mapping, Sequence

from kwokctl.controller.lifecycle.scripts.script_tree import (
    Both,
    Piece,
    Simple,
    UnreadableError,
    Use,
    Word,
)
from kwokctl.controller.lifecycle.scripts.syntax import parsed

_TOKENS = re.compile(r"\s*([0-9]+|[A-Za-z_][A-Za-z0-9_]*|<=|>=|==|!=|&&|\|\||[-+*/%()<>!])")


def _divided(a: int, b: int) -> int:
    """Divide towards zero."""
    if b == 0:
        raise UnreadableError
    return abs(a) // abs(b) * (1 if (a < 0) is (b < 0) else -1)


def _rest(a: int, b: int) -> int:
    return a - b * _divided(a, b)


_LEVELS: tuple[Mapping[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: int(bool(a or b))},
    {"&&": lambda a, b: int(bool(a and b))},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b), ">=": lambda a, b: int(a >= b),
    },
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "/": _divided, "%": _rest},
)  # fmt: skip
"""From the operators that bind least to those that bind most."""
_LARGEST = 2**63


def value_of(text: str, variable: Callable[[str], int]) -> int:
    """Return the value of an expression; UnreadableError if it has none."""
    return _Expression(text, variable).value()


class _Expression:
    """An expression while it is read."""

    def __init__(self, text: str, variable: Callable[[str], int]) -> None:
        self._variable = variable
        self._tokens: list[str] = []
        at = 0
        text = text.strip()
        while at < len(text):
            found = _TOKENS.match(text, at)
            if found is None:
                raise UnreadableError
            self._tokens.append(found[1])
            at = found.end()
        self._tokens.reverse()

    def value(self) -> int:
        found = self._level(0)
        if self._tokens or abs(found) >= _LARGEST:
            raise UnreadableError
        return found

    def _level(self, number: int) -> int:
        if number == len(_LEVELS):
            return self._single()
        operators = _LEVELS[number]
        found = self._level(number + 1)
        while self._tokens and self._tokens[-1] in operators:
            found = operators[self._tokens.pop()](found, self._level(number + 1))
            if abs(found) >= _LARGEST:
                raise UnreadableError
        return found

    def _single(self) -> int:
        if not self._tokens:
            raise UnreadableError
        token = self._tokens.pop()
        match token:
            case "-":
                return -self._single()
            case "+":
                return self._single()
            case "!":
                return int(not self._single())
            case "(":
                return self._enclosed()
            case _:
                return self._operand(token)

    def _operand(self, token: str) -> int:
        if token.isdecimal():
            return int(token)
        if token[0].isalpha() or token[0] == "_":
            return self._variable(token)
        raise UnreadableError

    def _enclosed(self) -> int:
        found = self._level(0)
        if not self._tokens or self._tokens.pop() != ")":
            raise UnreadableError
        return found


_MOST_TEXT = 1_000_000
"""Characters that its variables and commands may give in all: the script comes from the client that creates the pod."""
_LONGEST_SEQUENCE = 5_000
"""Numbers that `seq` may write."""


class ExpandingShell:
    """The part of a shell that knows its variables, and what words with them stand for."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        """Begin with these variables."""
        self._variables: dict[str, str | None] = {**variables}
        self._code = 0
        """The exit code of the last command."""
        self._room = _MOST_TEXT

    def _expanded(self, word: Word) -> list[str]:
        """Return the words that become of one: what is not quoted is split at spaces."""
        found: list[str] = []
        is_open = False
        for piece in word:
            text = self._piece(piece)
            parts = [text] if piece.is_quoted or piece.use is Use.TEXT else text.split()
            for number, part in enumerate(parts):
                if is_open and number == 0:
                    found[-1] += part
                else:
                    found.append(part)
                is_open = True
        return found

    def _text(self, word: Word) -> str:
        return "".join(map(self._piece, word))

    def _piece(self, piece: Piece) -> str:
        text = self._substituted(piece)
        self._room -= len(text)
        if self._room < 0:
            raise UnreadableError
        return text

    def _substituted(self, piece: Piece) -> str:
        match piece.use:
            case Use.TEXT:
                return piece.text
            case Use.VARIABLE:
                return self._variable(piece.text)
            case Use.ARITHMETIC:
                return str(value_of(self._arithmetic(piece.text), self._number))
            case Use.OUTPUT:
                return self._output(piece.text)

    def _arithmetic(self, text: str) -> str:
        return re.sub(r"\$\{?([A-Za-z_][A-Za-z0-9_]*|[0-9])\}?", r"\1", text)

    def _variable(self, text: str) -> str:
        name, dash, usual = text.partition("-")
        name = name.rstrip(":")
        if name == "?":
            return str(self._code)
        value = self._variables.get(name)
        if dash and not value and name not in self._variables:
            return usual
        if value is None:
            raise UnreadableError
        return value or usual

    def _number(self, name: str) -> int:
        return whole_number(self._variable(name))

    def _output(self, script: str) -> str:
        """Return what a command writes."""
        tree = parsed(script)
        if isinstance(tree, Both) and tree.first == Simple(()):
            tree = tree.second
        if not isinstance(tree, Simple):
            raise UnreadableError
        words = [text for word in tree.words for text in self._expanded(word)]
        match words:
            case ["echo", *texts]:
                return " ".join(texts)
            case ["expr", *parts]:
                return str(value_of(" ".join(parts), self._number))
            case ["seq", *bounds] if bounds and all(each.isdecimal() for each in bounds):
                return " ".join(map(str, _sequence([int(each) for each in bounds])))
        raise UnreadableError


def whole_number(text: str) -> int:
    """Read a whole number; UnreadableError for any other text."""
    try:
        return int(text)
    except ValueError as e:
        raise UnreadableError from e


def _sequence(bounds: Sequence[int]) -> range:
    match bounds:
        case [last]:
            found = range(1, last + 1)
        case [first, last]:
            found = range(first, last + 1)
        case [first, step, last] if step:
            found = range(first, last + 1, step)
        case _:
            raise UnreadableError
    if len(found) > _LONGEST_SEQUENCE:
        raise UnreadableError
    return found

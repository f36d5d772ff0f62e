"""The arithmetic of a shell: whole numbers, as POSIX.1-2017 has it (Shell, 2.6.4)."""

import re
from collections.abc import Callable, Mapping

from kwokctl.controller.lifecycle.scripts.syntax import UnreadableError

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

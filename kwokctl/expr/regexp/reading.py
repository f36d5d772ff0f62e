"""The text of a regular expression, and the parts that stand for single characters."""

import re

from kwokctl.expr.regexp.classes import PERL, POSIX, Ranges, category, without
from kwokctl.expr.regexp.fault import RegexpError

_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")
_HEXADECIMAL = re.compile(r"x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))")
_UNICODE = re.compile(r"[pP](?:([A-Za-z])|\{(\^?)(\w+)\})", re.ASCII)
_POSIX = re.compile(r"\[:(.*?):\]")
_LAST = 0x10FFFF


class RegexpText:
    """An expression, read from left to right."""

    def __init__(self, text: str) -> None:
        """Begin at the first character."""
        self.text = text
        self.at = 0

    @property
    def rest(self) -> str:
        """What has not been read yet."""
        return self.text[self.at :]

    def accept(self, sign: str) -> bool:
        """Read a sign if it comes next."""
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def matching(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read what a pattern matches next."""
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def character(self) -> int:
        """Read a character after a backslash that stands for itself or for another one."""
        start = self.at - 1
        if match := self.matching(_OCTAL):
            return int(match[0], 8)
        if match := self.matching(_HEXADECIMAL):
            code = int(match[1] or match[2], 16)
            if code > _LAST:
                raise RegexpError(start, f"no character is '\\{match[0]}'")
            return code
        if not self.rest:
            raise RegexpError(start, "a backslash at the end")
        sign = self.rest[0]
        self.at += 1
        if sign in _CONTROLS:
            return _CONTROLS[sign]
        if sign.isascii() and not sign.isalnum():
            return ord(sign)
        what = "back references are" if sign in "123456789k" else f"'\\{sign}' is"
        raise RegexpError(start, f"{what} not supported")

    def escaped_class(self) -> Ranges | None:
        """Read a class after a backslash, such as `d` or `pL`; None if there is none."""
        letter = self.rest[:1]
        if letter in {"p", "P"}:
            return self._unicode()
        found = PERL.get(letter.lower())
        if found is None:
            return None
        self.at += 1
        return without(found) if letter.isupper() else found

    def _unicode(self) -> Ranges:
        start = self.at - 1
        match = self.matching(_UNICODE)
        if match is None:
            raise RegexpError(
                start, "'\\p' needs the name of a category, such as '\\pL' or '\\p{Lu}'"
            )
        name = match[1] or match[3]
        found = category(name)
        if found is None:
            raise RegexpError(
                start, f"'{name}' is not a general category of Unicode; scripts are not supported"
            )
        is_negated = (match[0][0] == "P") != bool(match[2])
        return without(found) if is_negated else found

    def bracketed(self) -> tuple[bool, Ranges]:
        """Read a class after its bracket; return whether it is negated, and what is in it."""
        start = self.at - 1
        is_negated = self.accept("^")
        ranges: list[tuple[int, int]] = []
        is_first = True
        while is_first or not self.accept("]"):
            if not self.rest:
                raise RegexpError(start, "the bracket is not closed")
            ranges += self._item(start)
            is_first = False
        return is_negated, tuple(ranges)

    def _item(self, start: int) -> Ranges:
        at = self.at
        if match := self.matching(_POSIX):
            name = match[1].removeprefix("^")
            if name not in POSIX:
                raise RegexpError(at, f"'{name}' is not a class")
            return without(POSIX[name]) if match[1] != name else POSIX[name]
        if self.accept("\\"):
            if (found := self.escaped_class()) is not None:
                return found
            self.at = at
        low = high = self._member(start)
        if self.rest[:1] == "-" and self.rest[1:2] not in {"", "]"}:
            self.at += 1
            high = self._member(start)
        if high < low:
            raise RegexpError(at, f"'{self.text[at : self.at]}' is not a range")
        return ((low, high),)

    def _member(self, start: int) -> int:
        if self.accept("\\"):
            return self.character()
        if not self.rest:
            raise RegexpError(start, "the bracket is not closed")
        self.at += 1
        return ord(self.text[self.at - 1])

"""Writes a regular expression of Go as one of Python.

What differs are the ends of lines and texts, classes, which are ASCII, flags within an expression,
greediness, and what is refused: back references, looking around, possessive repetition. Python tries
one way after another, where Go takes all at once: an expression such as `(a+)+b` may take long.
"""

import re
from functools import lru_cache

import msgspec

from kwokctl.expr.regexp.classes import Ranges
from kwokctl.expr.regexp.fault import RegexpError
from kwokctl.expr.regexp.reading import RegexpText
from kwokctl.replacing import replace

_REPEAT = re.compile(r"[*+?]|\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*|))?\}", re.ASCII)
_NAMED = re.compile(r"\?P?<(\w+)>", re.ASCII)
_FLAGS = re.compile(r"\?([imsU]*)(?:-([imsU]+))?([:)])")
_MOST = 1000
"""Repetitions, those within others multiplied."""
_BOUNDARIES = {
    "A": r"\A",
    "z": r"\Z",
    "b": r"(?a:\b)",
    "B": r"(?!(?a:\b))",  # unlike \B it matches in an empty text
}


@lru_cache(maxsize=256)
def compile_regexp(text: str) -> re.Pattern[str]:
    """Return Python's pattern for an expression of Go; raise RegexpError if it is invalid."""
    try:
        return re.compile(_Translator(text).whole())
    except (re.error, RecursionError, OverflowError) as e:
        raise RegexpError(0, f"it cannot be used: {e}") from e


class _Flags(msgspec.Struct, frozen=True):
    i: bool = False
    m: bool = False
    s: bool = False
    U: bool = False


class _Part(msgspec.Struct, frozen=True):
    """What a repetition behind it repeats."""

    text: str
    repeated: int = 1
    """How often something within it may be repeated by a number."""


class _Translator:
    """Reads an expression, and writes it part by part."""

    def __init__(self, text: str) -> None:
        self._source = RegexpText(text)
        self._flags = _Flags()
        self._names: set[str] = set()

    def whole(self) -> str:
        part = self._branches()
        if self._source.rest:
            raise RegexpError(self._source.at, "')' closes nothing")
        return part.text

    def _branches(self) -> _Part:
        branches = [self._row()]
        while self._source.accept("|"):
            branches.append(self._row())
        text = "|".join("".join(part.text for part in row) for row in branches)
        return _Part(text, max((part.repeated for row in branches for part in row), default=1))

    def _row(self) -> list[_Part]:
        source, parts = self._source, list[_Part]()
        is_repeated = False
        while source.rest and source.rest[0] not in "|)":
            at = source.at
            if repeat := source.matching(_REPEAT):
                if not parts:
                    raise RegexpError(at, f"there is nothing to repeat before '{repeat[0]}'")
                if is_repeated:
                    raise RegexpError(at, f"'{repeat[0]}' follows another repetition")
                parts[-1] = self._repeated(parts[-1], repeat)
                is_repeated = True
            else:
                parts += self._parts()
                is_repeated = False
        return parts

    def _repeated(self, part: _Part, repeat: re.Match[str]) -> _Part:
        many = part.repeated
        if repeat[1]:
            least, most = int(repeat[1]), int(repeat[3] or (0 if repeat[2] else repeat[1]))
            many *= max(least, most, 1)
            is_open = bool(repeat[2]) and not repeat[3]
            if many > _MOST or (most < least and not is_open):
                raise RegexpError(
                    repeat.start(), f"'{repeat[0]}' is not a valid number of repetitions"
                )
        is_lazy = self._source.accept("?") != self._flags.U
        return _Part(f"(?:{part.text}){repeat[0]}{'?' if is_lazy else ''}", many)

    def _parts(self) -> list[_Part]:
        """Read what is not a repetition; flags write nothing, a quotation writes several parts."""
        source = self._source
        if source.accept("("):
            return self._group()
        if source.accept(r"\Q"):
            quoted, _, _ = source.rest.partition(r"\E")
            source.at += len(quoted) + len(r"\E")
            return [self._character(ord(each)) for each in quoted]
        return [self._single()]

    def _single(self) -> _Part:
        source = self._source
        if source.accept("["):
            is_negated, ranges = source.bracketed()
            return self._class(ranges, is_negated=is_negated)
        if source.accept("\\"):
            return self._escaped()
        sign = source.rest[0]
        source.at += 1
        written = self._sign(sign)
        return _Part(written) if written else self._character(ord(sign))

    def _sign(self, sign: str) -> str | None:
        flags = self._flags
        signs = {
            ".": "(?s:.)" if flags.s else ".",
            "^": "(?m:^)" if flags.m else r"\A",
            "$": "(?m:$)" if flags.m else r"\Z",
        }
        return signs.get(sign)

    def _escaped(self) -> _Part:
        source = self._source
        if boundary := _BOUNDARIES.get(source.rest[:1]):
            source.at += 1
            return _Part(boundary)
        found = source.escaped_class()
        return self._character(source.character()) if found is None else self._class(found)

    def _group(self) -> list[_Part]:
        source, start, before = self._source, self._source.at - 1, self._flags
        opening = "("
        if named := source.matching(_NAMED):
            opening = self._named(named[1])
        elif flags := source.matching(_FLAGS):
            given = {**dict.fromkeys(flags[1], True), **dict.fromkeys(flags[2] or "", False)}
            self._flags = replace(before, **given)
            if flags[3] == ")":
                return []
            opening = "(?:"
        elif source.rest[:1] == "?":
            raise RegexpError(start, f"'({source.rest[:2]}' is not supported")
        inner = self._branches()
        if not source.accept(")"):
            raise RegexpError(start, "the parenthesis is not closed")
        self._flags = before
        return [_Part(f"{opening}{inner.text})", inner.repeated)]

    def _named(self, name: str) -> str:
        """Begin a group; one whose name Python does not take has none."""
        if name in self._names or not name.isidentifier():
            return "("
        self._names.add(name)
        return f"(?P<{name}>"

    def _character(self, code: int) -> _Part:
        text = re.escape(chr(code))
        return _Part(f"(?i:{text})" if self._flags.i else text)

    def _class(self, ranges: Ranges, *, is_negated: bool = False) -> _Part:
        inside = "".join(f"{_code(first)}-{_code(last)}" for first, last in ranges)
        text = f"[{'^' if is_negated else ''}{inside}]"
        return _Part(f"(?i:{text})" if self._flags.i else text)


def _code(code: int) -> str:
    return f"\\U{code:08x}"

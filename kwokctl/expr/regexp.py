"""Regular expressions as Go has them, by RE2, which has the same syntax and the same matches.

https://github.com/google/re2/wiki/Syntax. A search takes time that is linear in the text, whatever
the expression is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from kwokctl.expr.budget import spend

_PARTS = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.", re.DOTALL)
_LONGEST = 64 * 1024
"""Bytes of an expression: of some that are longer RE2 gives up the simplification, and writes thousands of lines about that."""
_WORK = 256
"""Bytes of a text, times the instructions of an expression, that are a step."""


class RegexpError(Exception):
    """The text is not a regular expression of Go."""


class RegexpMatch:
    """The place of a match in a text; groups that take no part are at -1."""

    __slots__ = ("_spans", "_text", "re")

    def __init__(self, regexp: "Regexp", text: str, spans: Sequence[tuple[int, int]]) -> None:
        self.re = regexp
        self._text = text
        self._spans = spans

    def start(self, group: int = 0) -> int:
        """Return where a group begins."""
        return self._spans[group][0]

    def end(self, group: int = 0) -> int:
        """Return where a group ends."""
        return self._spans[group][1]

    @property
    def whole(self) -> str:
        """The text of the match."""
        start, end = self._spans[0]
        return self._text[start:end]

    def group(self, group: int | str = 0) -> str | None:
        """Return the text of a group; raise LookupError if there is no such group."""
        number = self.re.groupindex[group] if isinstance(group, str) else group
        start, end = self._spans[number]
        return None if start < 0 else self._text[start:end]


class Regexp:
    """An expression, ready to search."""

    __slots__ = ("_compiled", "_size", "groupindex", "groups")

    def __init__(self, text: str) -> None:
        """Compile it; raise RegexpError if it is invalid."""
        import re2  # most Stages have no regular expression

        options = re2.Options()
        options.log_errors = False
        if any(part[0] == r"\C" for part in _PARTS.finditer(text)):
            raise RegexpError(
                r"invalid escape sequence in '\C'"
            )  # RE2's, for a part of a character
        if len(data := _encoded(text)) > _LONGEST:
            raise RegexpError(f"it has {len(data):,} bytes, more than {_LONGEST:,}")
        try:
            self._compiled = re2.compile(data, options)
        except re2.error as e:
            raise RegexpError(_explained(e)) from e
        self._size: int = self._compiled.programsize
        self.groups: int = self._compiled.groups
        """The number of groups."""
        self.groupindex: Mapping[str, int] = {
            name.decode(): number for name, number in self._compiled.groupindex.items()
        }
        """The numbers of those that have names."""

    def is_in(self, text: str) -> bool:
        """Return whether it matches anywhere."""
        data = _encoded(text)
        self._spend(len(data))
        return self._compiled.search(data) is not None

    def search(self, text: str) -> RegexpMatch | None:
        """Return the first match."""
        return next(self.all(text), None)

    def all(self, text: str) -> Iterator[RegexpMatch]:
        """Yield the matches one after the other; none is empty and right after another."""
        data = _encoded(text)
        characters = _Characters(data, is_ascii=len(data) == len(text))
        at, before = 0, -1
        while at <= len(data):
            self._spend(len(data) - at)
            match = self._compiled.search(data, at)
            if match is None:
                return
            start, end = match.span()
            if end > at or start != before:
                spans = [match.span(group) for group in range(self.groups + 1)]
                yield RegexpMatch(self, text, characters.spans(spans))
            at = end if end > at else _next(data, at)
            before = end

    def _spend(self, size: int) -> None:
        spend(1 + size * self._size // _WORK)


class _Characters:
    """Finds characters by their bytes, from left to right."""

    def __init__(self, data: bytes, *, is_ascii: bool) -> None:
        self._data = data
        self._is_ascii = is_ascii
        self._byte = self._character = 0

    def spans(self, spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if self._is_ascii:
            return spans
        edges = {edge: self._to(edge) for edge in sorted({each for span in spans for each in span})}
        return [(edges[start], edges[end]) for start, end in spans]

    def _to(self, byte: int) -> int:
        if byte < 0:
            return -1
        self._character += len(self._data[self._byte : byte].decode())
        self._byte = byte
        return self._character


@lru_cache(maxsize=256)
def compile_regexp(text: str) -> Regexp:
    """Return an expression of Go, the same one each time; raise RegexpError if it is invalid."""
    return Regexp(text)


def _next(data: bytes, at: int) -> int:
    """Return where the next character begins: bytes within one are 10xxxxxx."""
    at += 1
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at += 1
    return at


def _encoded(text: str) -> bytes:
    """Return the bytes; half of a pair of UTF-16, which is no character, is a question mark."""
    return text.encode(errors="replace")


def _explained(error: Exception) -> str:
    """Return what RE2 says, such as `missing ): a(`."""
    [said] = error.args
    problem, _, part = said.decode(errors="replace").partition(": ")
    return f"{problem} in '{part}'" if part else problem

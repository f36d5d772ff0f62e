"""Sets of characters, as ranges of code points; which those of Go are:
https://pkg.go.dev/regexp/syntax#hdr-Syntax.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise

Ranges = tuple[tuple[int, int], ...]
"""First and last code point of each range."""

_LAST = 0x10FFFF


def _of(*texts: str) -> Ranges:
    """Return the ranges that are written as two characters each."""
    return tuple((ord(text[0]), ord(text[-1])) for text in texts)


_WORD = _of("09", "AZ", "_", "az")
PERL: Mapping[str, Ranges] = {"d": _of("09"), "s": _of("\t\n", "\f\r", " "), "w": _WORD}
"""Without what Python adds: letters and digits of other scripts, and the vertical tab."""
POSIX: Mapping[str, Ranges] = {
    "alnum": _of("09", "AZ", "az"),
    "alpha": _of("AZ", "az"),
    "ascii": _of("\x00\x7f"),
    "blank": _of("\t", " "),
    "cntrl": _of("\x00\x1f", "\x7f"),
    "digit": _of("09"),
    "graph": _of("!~"),
    "lower": _of("az"),
    "print": _of(" ~"),
    "punct": _of("!/", ":@", "[`", "{~"),
    "space": _of("\t\r", " "),
    "upper": _of("AZ"),
    "word": _WORD,
    "xdigit": _of("09", "AF", "af"),
}


def without(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return all characters that are not in the ranges."""
    edges = [(-1, -1), *sorted(ranges), (_LAST + 1, _LAST + 1)]
    free: list[tuple[int, int]] = []
    reached = -1
    for first, last in edges[1:]:
        if first > reached + 1:
            free.append((reached + 1, first - 1))
        reached = max(reached, last)
    return tuple(free)


@lru_cache(maxsize=64)
def category(name: str) -> Ranges | None:
    """Return the characters of a general category such as `L` or `Lu`, None if there is none."""
    if name == "Any":
        return ((0, _LAST),)
    known = [key for key in _categories() if key.startswith(name)] if 0 < len(name) < 3 else []
    return tuple(sorted(each for key in known for each in _categories()[key])) or None


@cache
def _categories() -> Mapping[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for name, first, last in _runs():
        found.setdefault(name, []).append((first, last))
    del found["Cn"]  # those that are not assigned are in no category of Go
    return found


def _runs() -> Iterator[tuple[str, int, int]]:
    """Yield each run of characters of the same category."""
    names = [unicodedata.category(chr(code)) for code in range(_LAST + 1)]
    edges = [0, *(at for at in range(1, _LAST + 1) if names[at] != names[at - 1]), _LAST + 1]
    for first, after in pairwise(edges):
        yield names[first], first, after - 1

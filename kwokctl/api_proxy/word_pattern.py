"""Patterns of faults of the API, in which `*` stands for anything. Pure.

Their author and the clients whose texts they are compared with may be strangers to each other, and to the owner of the cluster: a
comparison takes a time that is linear in the text.
"""

from collections.abc import Sequence

import msgspec


class WordPattern(msgspec.Struct, frozen=True):
    """One word; its parts are what stands between two `*`."""

    first: str
    middle: tuple[str, ...]
    last: str | None
    """None for a word without `*`."""

    def fits(self, text: str) -> bool:
        """Return whether a whole text is like this."""
        if self.last is None:
            return text == self.first
        if not text.startswith(self.first):
            return False
        at = len(self.first)
        for part in self.middle:
            found = text.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        return text.endswith(self.last) and len(text) - len(self.last) >= at


def word_patterns(text: str, *, separator: str = "") -> Sequence[WordPattern]:
    """Read words of which one must fit, apart by `separator` if there is one; none fits anything."""
    words = text.split(separator) if separator else [text]
    return [_word(kept) for word in words if (kept := word.strip())]


def _word(text: str) -> WordPattern:
    first, *rest = text.split("*")
    if not rest:
        return WordPattern(first, (), None)
    *middle, last = rest
    return WordPattern(first, tuple(filter(None, middle)), last)

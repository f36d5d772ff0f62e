"""Guesses which known name the user meant."""

from collections.abc import Iterable

_LIKENESS = 0.7
"""The least similarity of two words: below it `clone` is taken for `scale`."""


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Ask whether the known name nearest to `word` was meant, or return None if none is near."""
    from difflib import get_close_matches  # only for words that are wrong

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=_LIKENESS)
    return f"did you mean '{by_lower[near[0]]}'?" if near else None

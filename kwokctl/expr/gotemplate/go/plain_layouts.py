"""Layouts of `printf` that Python fills in as Go does, only much faster."""

import re
from functools import lru_cache

_PART = re.compile(r"[^%]+|%%|%(?:0?[1-9][0-9]{0,2})?d|%[sv]")
_FITTING = {"%s": frozenset({str}), "%v": frozenset({str, int})}
_WHOLE = frozenset({int})


def filled(layout: str, values: tuple[object, ...]) -> str | None:
    """Return the layout with its verbs filled in, None if it has verbs that are not known here."""
    plain = _plain(layout)
    if plain is None:
        return None
    python, kinds = plain
    if len(values) != len(kinds):
        return None
    for value, fitting in zip(values, kinds, strict=True):
        if type(value) not in fitting:
            return None
    return python % values


@lru_cache(maxsize=256)
def _plain(layout: str) -> tuple[str, list[frozenset[type]]] | None:
    """Return the layout for Python, and the types of its verbs."""
    at = 0
    python: list[str] = []
    kinds: list[frozenset[type]] = []
    while at < len(layout):
        part = _PART.match(layout, at)
        if part is None:
            return None
        is_verb = part[0][0] == "%" and part[0] != "%%"
        python.append("%s" if part[0] == "%v" else part[0])
        if is_verb:
            kinds.append(_FITTING.get(part[0], _WHOLE))
        at = part.end()
    return "".join(python), kinds

"""Paths in jq, such as `.metadata.labels["a/b"]` and `.status.conditions.[].type`."""

import re

EACH = "[]"
"""The part of a path that stands for every item."""

_FIELD = r"\.([A-Za-z_][A-Za-z0-9_]*)"
_ITEM = r'\.?\["([^"\\]+)"\]'
_PART = re.compile(rf"{_FIELD}|{_ITEM}|\.?(\[\])", re.ASCII)
_PATH = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)


def parts_of(path: str) -> tuple[str, ...]:
    """Return the fields of a path; nothing for any other expression."""
    if not _PATH.fullmatch(path):
        return ()
    return tuple(field or item or EACH for field, item, _ in _PART.findall(path))

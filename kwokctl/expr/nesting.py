"""The deepest nesting of a document."""

from kwokctl.json_value import Json

MOST_DEPTH = 200
"""The writer of JSON supports 254 levels; documents of people have some dozens."""
TOO_DEEP = f"more than {MOST_DEPTH} levels are within each other"


def is_too_deep(value: Json) -> bool:
    """Return whether a value has more levels than it may; asked level by level, as there may be many."""
    level: list[Json] = [value]
    for _ in range(MOST_DEPTH):
        level = [inner for each in level for inner in _inner(each)]
        if not level:
            return False
    return any(isinstance(each, dict | list) for each in level)


def _inner(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []

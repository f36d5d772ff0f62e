"""Finds the keys of list items in the managed fields of an object, which differ from copy to copy.

`k:{"ip":"10.0.0.1"}` names an item by its key, `v:"10.0.0.0/24"` an item of a set by its value. The
object has these values as well, and there it is known which of them differ from copy to copy.
"""

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

import orjson

from kwokctl.json_value import Json

Path = tuple[str | int, ...]
Find = Callable[[Path, Json], Any]
"""Returns the source of a value of the object, None if all copies have the same value."""


def parts_of(fields: Json, body: Json, find: Find) -> list[Any]:
    """Return the JSON of a set of fields of `body` in parts: constant texts, and sources from `find`."""
    parts: list[Any] = []
    for part in _map(fields, body, (), find):
        if parts and isinstance(part, str) and isinstance(parts[-1], str):
            parts[-1] += part
        else:
            parts.append(part)
    return parts


def field_of(path: Path) -> Path:
    """Return the field that a path stands for: for a path within managed fields, the owned field."""
    if path[:2] != ("metadata", "managedFields") or "fieldsV1" not in path:
        return path
    owned = path[path.index("fieldsV1") + 1 :]
    steps = takewhile(lambda step: step.startswith("f:"), map(str, owned))
    return tuple(step.removeprefix("f:") for step in steps) or path


def in_key(value: Json) -> str:
    """Return a value as it is written in a key: JSON in a string of a JSON document."""
    return orjson.dumps(orjson.dumps(value).decode()).decode()[1:-1]


def _map(fields: Json, value: Json, path: Path, find: Find) -> Iterator[Any]:
    yield "{"
    for number, (step, inner) in enumerate(fields.items()):
        yield "," if number else ""
        at = _place(step, value)
        item, below = (None, ()) if at is None else (value[at], (*path, at))
        yield from _key(step, item, below, find)
        yield ":"
        yield from _map(inner, item, below, find)
    yield "}"


def _place(step: str, value: Json) -> str | int | None:
    """Return the key or index of the item that a step names, None if the value lacks it."""
    kind, text = step[:2], step[2:]
    if isinstance(value, dict):
        return text if kind == "f:" and text in value else None
    if not isinstance(value, list) or kind not in {"k:", "v:"}:
        return None
    wanted = orjson.loads(text)
    for number, item in enumerate(value):
        if kind == "v:":
            is_it = item == wanted
        else:
            is_it = isinstance(item, dict) and wanted.items() <= item.items()
        if is_it:
            return number
    return None


def _key(step: str, item: Json, path: Path, find: Find) -> Iterator[Any]:
    """Yield the parts of a step that names the item at `path`, empty for a step without an item."""
    if step.startswith("v:") and path:
        yield from ('"v:', _part(path, item, find), '"')
    elif step.startswith("k:") and path:
        yield '"k:{'
        for number, name in enumerate(orjson.loads(step[2:])):
            yield "," if number else ""
            yield f"{in_key(name)}:"
            yield _part((*path, name), item[name], find)
        yield '}"'
    else:
        yield orjson.dumps(step).decode()


def _part(path: Path, value: Json, find: Find) -> Any:
    found = find(path, value)
    return in_key(value) if found is None else found

"""On which line of a YAML text each field is."""

from collections.abc import Iterator, Mapping
from typing import Any


def lines_of_fields(text: str) -> list[Mapping[str, int]]:
    """Return for each document the line of each field, by its path, such as `spec.steps[0].patch`.

    The text must have been read without an error.
    """
    import yaml  # not needed by commands that show no lines

    roots: Iterator[Any] = yaml.compose_all(text)
    return [dict(_lines("", root)) if root else {} for root in roots]


def _lines(path: str, node: Any) -> Iterator[tuple[str, int]]:
    if node.id == "mapping":
        for key, value in node.value:
            inner = f"{path}.{key.value}" if path else str(key.value)
            yield inner, key.start_mark.line + 1
            yield from _lines(inner, value)
    elif node.id == "sequence":
        for index, item in enumerate(node.value):
            inner = f"{path}[{index}]"
            yield inner, item.start_mark.line + 1
            yield from _lines(inner, item)

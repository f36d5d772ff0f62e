"""Lists as an API server writes them, and their objects once they were cut out."""

import json
from collections.abc import Iterator
from typing import Any

from kwokctl.kube.collections.paging import ListCutter, ListPage


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def pod_list(items: list[Any] | None) -> bytes:
    """Return a list as the API server writes those of its own kinds."""
    return _encoded(
        {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": "7"},
            "items": items,
        }
    )


def custom_list(items: list[Any]) -> bytes:
    """Return a list as the API server writes those of custom resources."""
    return _encoded(
        {
            "apiVersion": "example.com/v1",
            "items": items,
            "kind": "ThingList",
            "metadata": {"continue": "", "resourceVersion": "7"},
        }
    )


def cut(text: bytes, sizes: Iterator[int]) -> tuple[list[Any], ListPage]:
    """Return the objects of a list that comes in pieces of these sizes, and what comes at its end."""
    cutter, found, at = ListCutter(), [], 0
    while at < len(text):
        size = next(sizes)
        found += cutter.feed(text[at : at + size])
        at += size
    end = cutter.end()
    return [json.loads(each) for each in [*found, *map(bytes, end.objects)]], end


def metadata(number: int) -> dict[str, Any]:
    """Return what tells an object from the others."""
    return {"name": f"n-{number}", "uid": f"u-{number}", "resourceVersion": str(number)}

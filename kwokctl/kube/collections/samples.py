"""Reads single figures out of the metrics of a component, which may be megabytes of text.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

from collections.abc import Iterator


def values(text: bytes, name: str) -> Iterator[float]:
    """Yield the value of each sample of a metric that has labels."""
    start = f"\n{name}{{".encode()
    at = text.find(start)
    while at >= 0:
        end = text.find(b"\n", at + 1)
        yield float(text[at + 1 : end if end >= 0 else len(text)].rpartition(b" ")[2])
        at = text.find(start, end) if end >= 0 else -1

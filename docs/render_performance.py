"""Writes `docs/explanation/performance.md` and its drawing from what benchmarks have measured."""

from pathlib import Path

from benchmarks.page import DRAWING, drawing, page
from benchmarks.results import FILE, read


def pages() -> dict[Path, str]:
    """Return the text of each file."""
    results = read(FILE)
    return {FILE.with_suffix(".md"): page(results), FILE.with_name(DRAWING): drawing(results)}

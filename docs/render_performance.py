"""Writes what benchmarks have measured: a page, its drawing, and the comparison in the README."""

from pathlib import Path

from benchmarks import comparison
from benchmarks.page import DRAWING, drawing, page
from benchmarks.results import FILE, read
from docs.generate_options import filled

README = Path(__file__).parents[1] / "README.md"


def pages() -> dict[Path, str]:
    """Return the text of each file."""
    results = read(FILE)
    readme = README.read_text(encoding="utf-8")
    return {
        FILE.with_suffix(".md"): page(results),
        FILE.with_name(DRAWING): drawing(results),
        README: filled(readme, "comparison", comparison.table(comparison.read())),
    }

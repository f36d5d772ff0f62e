"""Writes `docs/explanation/performance.md` and its drawing from what benchmarks have measured.

`python docs/render_performance.py` writes the files; with `--check` it only tells, by its exit code,
whether they are what would be written.
"""  # noqa: INP001 - a program, not a package

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.page import DRAWING, drawing, page
from benchmarks.results import FILE, read


def files() -> dict[Path, str]:
    """Return the text of each file."""
    results = read(FILE)
    return {FILE.with_suffix(".md"): page(results), FILE.with_name(DRAWING): drawing(results)}


def main() -> int:
    """Write the files, or compare them."""
    written = files()
    if "--check" in sys.argv[1:]:
        return int(any(not path.is_file() or _text(path) != text for path, text in written.items()))
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    return 0


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

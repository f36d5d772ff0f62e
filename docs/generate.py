"""Writes the pages that are generated, and the chart.

With `--check` it only names those that are old, and exits with 1 if there is one.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs import (
    generate_chart,
    generate_cli,
    generate_compatibility,
    generate_conformance,
    generate_faults,
    generate_figure_classes,
    generate_fleets,
    generate_kwok,
    generate_measure,
    generate_options,
    render_performance,
)

ROOT = Path(__file__).parents[1]
GENERATORS = (
    generate_cli,
    generate_compatibility,
    generate_options,
    generate_kwok,
    generate_measure,
    generate_conformance,
    generate_figure_classes,
    generate_fleets,
    generate_faults,
    generate_chart,
    render_performance,
)
FOLDERS = (generate_cli.FOLDER, generate_chart.CHART)
"""All files in them are generated: another one is of a command, or of a part, that does not exist any more."""


def main() -> int:
    """Write what is old, or name it."""
    wanted = {path: text for each in GENERATORS for path, text in each.pages().items()}
    there = {path for folder in FOLDERS for path in folder.rglob("*") if path.is_file()}
    left = there - wanted.keys()
    old = [path for path, text in wanted.items() if not _holds(path, text)]
    if "--check" in sys.argv[1:]:
        for path in (*left, *old):
            sys.stderr.write(f"{path.relative_to(ROOT)} is old: make docs\n")
        return int(bool(left or old))
    for path in left:
        path.unlink()
    for path in old:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
    return 0


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())

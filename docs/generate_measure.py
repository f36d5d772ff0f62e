"""Writes the figures of `docs/reference/measure.md`, and the JSON schema of reports, from the code.

`python docs/generate_measure.py` writes the files; with `--check` it only compares them, and exits with 1
if one is old.
"""  # noqa: INP001 - a program, not a package

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.generate_options import filled
from kwokctl.measure.figures.catalogue import FIGURES, STATISTICS
from kwokctl.measure.reports.report import RunReport

FOLDER = Path(__file__).parent / "reference"
PAGE = FOLDER / "measure.md"
SCHEMA = FOLDER / "measure-report.schema.json"


def files() -> Mapping[Path, str]:
    """Return the text of each file."""
    text = PAGE.read_text(encoding="utf-8")
    schema = json.dumps(msgspec.json.schema(RunReport), indent=2)
    return {PAGE: filled(text, "figures", "\n".join(_figures())), SCHEMA: f"{schema}\n"}


def _figures() -> Iterator[str]:
    yield "| figure | unit | with | meaning |"
    yield "|---|---|---|---|"
    for figure in FIGURES:
        form = figure.form if STATISTICS[figure.form] else ""
        yield f"| `{figure.name}` | {figure.unit} | {form} | {figure.title} |"


def main() -> int:
    """Write the files, or compare them."""
    wanted = files()
    if "--check" in sys.argv[1:]:
        return int(any(file.read_text(encoding="utf-8") != text for file, text in wanted.items()))
    for file, text in wanted.items():
        file.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes the figures of `docs/reference/measure.md`, and the JSON schemas of reports, from the code."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from docs.generate_options import filled
from kwokctl.measure.comparing.comparison import RunComparison
from kwokctl.measure.figures.figure_catalogue import FIGURES, NAMED_BY_NODES, STATISTICS
from kwokctl.measure.reports.repeated import RepeatedReport
from kwokctl.measure.reports.report import RunReport

FOLDER = Path(__file__).parent / "reference"
PAGE = FOLDER / "measure.md"
SCHEMAS = {
    "measure-report": RunReport,
    "measure-repeated": RepeatedReport,
    "measure-comparison": RunComparison,
}


def pages() -> dict[Path, str]:
    """Return the text of each file."""
    text = PAGE.read_text(encoding="utf-8")
    schemas = {
        FOLDER / f"{name}.schema.json": f"{json.dumps(msgspec.json.schema(kind), indent=2)}\n"
        for name, kind in SCHEMAS.items()
    }
    return {PAGE: filled(text, "figures", "\n".join(_figures())), **schemas}


def _figures() -> Iterator[str]:
    yield "| figure | unit | with | better | meaning |"
    yield "|---|---|---|---|---|"
    for figure in (*FIGURES, *NAMED_BY_NODES):
        form = figure.form if STATISTICS[figure.form] else ""
        better = "" if figure.direction == "neither" else figure.direction
        yield f"| `{figure.name}` | {figure.unit} | {form} | {better} | {figure.title} |"

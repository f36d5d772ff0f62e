"""What a comparison says, in each of its forms."""

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from kwokctl.measure.comparing.comparison import (
    CompareRequest,
    RunComparison,
    compared,
)
from kwokctl.measure.pages.page_data import IntervalsItem
from kwokctl.measure.reports.compared_sheet import sheet_of
from kwokctl.measure.reports.forms import sheet_in, write_sheet
from tests.support.compared import LATER, P50, USUAL, sample
from tests.support.pages import document_of, items_of, numbers_of_page

SCHEMA = Path(__file__).parents[4] / "docs/reference/measure-comparison.schema.json"


@pytest.fixture
def gate(tmp_path: Path) -> RunComparison:
    """A comparison of which one figure fails, and one cannot be measured."""
    figures = (P50, "jobs.jct.p50")
    sides = sample(tmp_path, "a", USUAL, *figures), sample(tmp_path, "b", LATER, *figures)
    return compared(*sides, CompareRequest(max_worse=0.05))


def test_the_text_says_what_failed_and_what_these_runs_could_have_shown(
    gate: RunComparison,
) -> None:
    lines = sheet_in("text", gate, sheet_of(gate)).splitlines()
    said = " ".join(" ".join(lines).split())

    assert said.startswith("FAILED: B (")
    assert [line for line in lines if len(line) > 80 and "/" not in line] == []
    assert f"FAILED {P50}: 1.240 to 1.364 times A, beyond 5.0% worse" in said
    assert "5 runs of A, 5 of B" in said
    assert "would be called worse in at most 3.2% of comparisons" in said
    assert "worse (could show" in said


def test_the_page_has_the_interval_and_the_verdict_of_each_figure(gate: RunComparison) -> None:
    page = document_of(sheet_in("html", gate, sheet_of(gate)))

    assert (page.kind, page.verdict.level) == ("comparison", "bad")
    assert page.verdict.text.startswith("FAILED: B (")
    item = items_of(page)["differences"]
    assert isinstance(item, IntervalsItem)
    measured, lacking = item.rows
    figure = gate.figures[0]
    assert (figure.low, figure.ratio, figure.high) != (None, None, None)
    assert [measured.low, measured.middle, measured.high] == [
        100 * (each - 1) for each in (figure.low, figure.ratio, figure.high) if each is not None
    ]
    assert (measured.name, measured.verdict, measured.level) == (P50, "worse", "bad")
    assert (lacking.middle, lacking.verdict, lacking.a) == (None, "not measured", "-")
    ratio = numbers_of_page(page)[P50][gate_heading(gate, "ratio")]
    assert float(ratio) == figure.ratio


@pytest.mark.parametrize(
    ("a", "b", "headline", "ratio"),
    [
        ((100,), (130,), "100.0 ms → 130.0 ms", "-"),
        ((0, 0, 0, 0), (1, 2, 3, 4), "0.0 ms → 2.5 ms", "-"),
        ((4, 4, 4, 4), (0, 0, 0, 0), "-100.0", "0.000"),
    ],
)
def test_what_has_no_ratio_is_shown_as_it_was_measured(
    tmp_path: Path, a: Sequence[int], b: Sequence[int], headline: str, ratio: str
) -> None:
    found = compared(sample(tmp_path, "a", a), sample(tmp_path, "b", b), CompareRequest())

    sheet = sheet_of(found)

    [shown] = document_of(sheet_in("html", found, sheet)).headline
    assert shown.value == headline
    [row] = sheet.tables[0].rows
    assert row[3] == ratio
    assert not {"inf", "nan"} & set(re.findall("[a-z]+", sheet_in("text", found, sheet)))


def gate_heading(gate: RunComparison, heading: str) -> int:
    """Return the column of a number, after that of the figure."""
    return sheet_of(gate).headings.index(heading) - 1


def test_each_form_says_the_same(gate: RunComparison, tmp_path: Path) -> None:
    for ending in ("txt", "md", "json", "csv", "xml"):
        write_sheet(gate, sheet_of(gate), tmp_path / f"gate.{ending}")

    document = json.loads((tmp_path / "gate.json").read_text("utf-8"))
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    assert [each["passed"] for each in document["figures"]] == [False, False]
    suite = ET.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert [case.get("name") for case in suite.iter("testcase")] == [
        f"{name}: at most 5.0% worse" for name in (P50, "jobs.jct.p50")
    ]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "gate.csv").read_text("utf-8"))))
    assert [row["verdict"] for row in rows] == ["worse", "not measured"]
    markdown = (tmp_path / "gate.md").read_text("utf-8").splitlines()
    [row] = [line for line in markdown if line.startswith("| pods.created")]
    assert row.startswith("| pods.created\\_to\\_bound.p50 | 100.0 ms | 130.0 ms | 1.30")


def test_the_same_records_give_the_same_comparison(tmp_path: Path) -> None:
    a, b = sample(tmp_path, "a", USUAL), sample(tmp_path, "b", LATER)

    assert compared(a, b, CompareRequest()) == compared(a, b, CompareRequest())

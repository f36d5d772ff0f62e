"""Repeated runs: their order, the names of their records, and the report on all of them."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from kwokctl.errors import ConflictError
from kwokctl.measure.figures.figure_catalogue import FIGURES
from kwokctl.measure.judging.assertions import AssertionReader
from kwokctl.measure.judging.verdict import INTERRUPTED
from kwokctl.measure.pages.page_data import IntervalsItem
from kwokctl.measure.record.incident_lines import ScheduleState
from kwokctl.measure.record.record_lines import Lines, RunMoment
from kwokctl.measure.record.record_names import number_of_run, record_of_run, runs_of
from kwokctl.measure.repeating.schedule import Repetition, scheduled
from kwokctl.measure.reports.forms import sheet_in, write_sheet
from kwokctl.measure.reports.repeated import (
    RepeatedNumber,
    RepeatedReport,
    one_of_several,
    repeated_report,
)
from kwokctl.measure.reports.repeated_sheet import sheet_of
from kwokctl.measure.reports.report import ReportRequest
from kwokctl.measure.running.request import MeasureRequest
from kwokctl.replacing import replace
from tests.support.measured import MS, SECOND, history, life
from tests.support.pages import document_of, items_of, numbers_of_page

SCHEMA = Path(__file__).parents[4] / "docs/reference/measure-repeated.schema.json"
READER = AssertionReader(FIGURES)
LATENCIES = (100, 400, 200)
"""Of the only pod of each run, in milliseconds."""
ASSERTED = (
    "pods.created_to_bound.p99 < 0.3s",
    "pods.created_to_bound.p99 < 0.2s",
    "jobs.jct.max < 5s",
)


def reported(*more: Lines, wanted: int = 3) -> RepeatedReport:
    """Report on a warm-up run and three that count; the last one has more lines."""
    assertions = tuple(map(READER.read, ASSERTED))
    runs = [history(life(1, 0, 9 * SECOND, 10 * SECOND), warm_up=True)]
    for number, latency in enumerate(LATENCIES, 1):
        lines = life(1, 0, latency * MS, SECOND)
        runs.append(history([*lines, *more] if number == len(LATENCIES) else lines))
    outcomes = [
        one_of_several(run, ReportRequest(record=f"web-{number}.gz", assertions=assertions))
        for number, run in enumerate(runs)
    ]
    return repeated_report(outcomes, assertions, wanted=wanted, remarks=["a remark"])


def stormy(*suppressed: int, asserted: bool) -> RepeatedReport:
    """Report on a run for each number of faults that a schedule has not injected."""
    request = ReportRequest(record="storm.gz", assertions=(READER.read(ASSERTED[2]),) * asserted)
    runs = [
        history([ScheduleState(1, 1, "storm", "Completed", 500, 0, {"Limit": count}, 1.0, 1.0)])
        for count in suppressed
    ]
    outcomes = [one_of_several(run, request) for run in runs]
    return repeated_report(outcomes, request.assertions, wanted=len(runs))


@pytest.mark.parametrize(
    ("suppressed", "is_equal"), [((100, 95, 97), True), ((100, 94, 97), False), ((0, 0), True)]
)
def test_runs_that_have_suppressed_other_numbers_of_faults_are_marked_and_assertions_refuse_them(
    suppressed: tuple[int, ...], *, is_equal: bool
) -> None:
    words = f"suppressed different numbers of faults: {', '.join(map(str, suppressed))}"

    free, gated = (stormy(*suppressed, asserted=asserted) for asserted in (False, True))

    assert any(words in each for each in free.remarks) is not is_equal
    assert free.passed
    assert any(words in each for each in gated.problems) is not is_equal
    assert gated.remarks == ()


def test_a_figure_has_the_median_and_the_values_of_the_runs_that_count() -> None:
    numbers = {each.name: each for each in reported().numbers}

    found = numbers["pods.created_to_bound.p99"]
    assert (found.median, [*found.values]) == (0.2, [0.1, 0.4, 0.2])
    assert [*numbers["pods.bound"].values] == [1, 1, 1]
    lacking = numbers["jobs.jct"]
    assert (lacking.median, lacking.why) == (None, "no Job came so far")


def test_assertions_are_on_the_median_and_show_all_values() -> None:
    report = reported()

    assert [each.passed for each in report.assertions] == [True, False, False]
    assert report.problems == ("2 of 3 assertions failed",)
    lines = sheet_in("text", report, sheet_of(report)).splitlines()
    assert lines[0] == "FAILED: 3 runs of the cluster 'x'"
    said = " ".join(line.strip() for line in lines[1:10])
    assert f"ok     {ASSERTED[0]}: median 200.0 ms of 100.0 ms, 400.0 ms, 200.0 ms" in said
    assert f"FAILED {ASSERTED[2]}: not measured in each run: no Job came so far" in said
    assert max(map(len, lines)) <= 80


def test_a_run_that_failed_fails_all_and_is_named() -> None:
    report = reported(RunMoment(5, INTERRUPTED), wanted=5)

    assert not report.passed
    assert report.problems[:2] == (
        "web-3.gz: it was interrupted before its end",
        "there were 3 of 5 runs",
    )
    assert [run.verdict.passed for run in report.runs] == [True, True, False]


def test_the_table_shows_percentiles_and_of_levels_the_mean_and_the_most() -> None:
    names = ("a.mean", "a.p50", "a.p90", "a.max", "b.mean", "b.min", "b.max", "b.last", "c.created")
    numbers = tuple(RepeatedNumber(name=name, unit="", median=1, values=(1,)) for name in names)

    [_, figures] = sheet_of(replace(reported(), numbers=numbers)).tables

    assert [row[0] for row in figures.rows] == ["a.p50", "b.mean", "b.max", "c.created"]


def test_parts_of_figures_are_not_in_the_table_and_groups_are() -> None:
    names = ("components.cpu.max", "components.cpu[component=etcd].max", "pods.bound[load=web]")
    numbers = tuple(RepeatedNumber(name=name, unit="", median=1, values=(1,)) for name in names)

    sheet = sheet_of(replace(reported(), numbers=numbers))

    assert [row[0] for row in sheet.tables[1].rows] == [names[0], names[2]]
    assert [row[0] for row in sheet.rows] == list(names)


def test_the_page_has_the_median_and_the_range_of_each_figure() -> None:
    report = reported()
    page = document_of(sheet_in("html", report, sheet_of(report)))

    assert (page.kind, page.verdict.level) == ("repeated", "bad")
    quoted = {each.name: (each.value, each.unit) for each in page.headline}
    assert quoted["pods.created_to_bound.p99, median"] == ("200.0", "ms")
    numbers = numbers_of_page(page)["pods.created_to_bound.p99"]
    assert numbers == ["s", "0.2", "0.1", "0.4", "0.2"]
    ranges = items_of(page)["ranges"]
    assert isinstance(ranges, IntervalsItem)
    row = next(each for each in ranges.rows if each.name == "pods.created_to_bound.p99")
    assert (row.low, row.middle, row.high) == (-50.0, 0.0, 100.0)


def test_each_form_has_the_values_of_all_runs(tmp_path: Path) -> None:
    report = reported()
    sheet = sheet_of(report)
    for ending in ("txt", "md", "json", "csv", "xml"):
        write_sheet(report, sheet, tmp_path / f"all.{ending}")

    rows = list(csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text("utf-8"))))
    row = next(each for each in rows if each["figure"] == "pods.created_to_bound.p99")
    assert [row[name] for name in ("median", "web-1.gz", "web-2.gz")] == ["0.2", "0.1", "0.4"]
    document = json.loads((tmp_path / "all.json").read_text("utf-8"))
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    suite = ET.parse(tmp_path / "all.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2")
    markdown = (tmp_path / "all.md").read_text("utf-8").splitlines()
    assert "| pods.created\\_to\\_bound.p99 | 200.0 ms | 100.0 ms | 400.0 ms | 150% |" in markdown


def test_runs_of_two_requests_alternate_and_have_records_of_their_own(tmp_path: Path) -> None:
    a, b = (MeasureRequest(record=tmp_path / f"{side}.jsonl.gz", seed=7) for side in "ab")

    runs = scheduled([a, b], Repetition(runs=2, warm_ups=1, varies_seed=True))

    assert [(run.record.name, run.is_warm_up, run.seed) for run in runs] == [
        ("a-warm-up-1.jsonl.gz", True, 7),
        ("b-warm-up-1.jsonl.gz", True, 7),
        ("a-1.jsonl.gz", False, 7),
        ("b-1.jsonl.gz", False, 7),
        ("a-2.jsonl.gz", False, 8),
        ("b-2.jsonl.gz", False, 8),
    ]


def test_all_runs_have_the_same_seed_unless_it_varies(tmp_path: Path) -> None:
    runs = scheduled([MeasureRequest(record=tmp_path / "x", seed=7)], Repetition(runs=3))

    assert [run.seed for run in runs] == [7, 7, 7]


def test_a_record_that_exists_is_found_before_anything_is_measured(tmp_path: Path) -> None:
    (tmp_path / "web-3.jsonl.gz").touch()
    request = MeasureRequest(record=tmp_path / "web.jsonl.gz")

    with pytest.raises(ConflictError, match=r"web-3\.jsonl\.gz' exists already"):
        scheduled([request], Repetition(runs=5))


def test_whole_objects_and_profiles_are_beside_each_record(tmp_path: Path) -> None:
    without = MeasureRequest(record=tmp_path / "web.jsonl.gz")
    full, profiles = tmp_path / "web.yaml.gz", tmp_path / "web.profiles"
    request = replace(without, full=full, profiles=profiles)

    [run], [other] = (scheduled([each], Repetition(runs=1)) for each in (request, without))

    beside = (tmp_path / "web-1.yaml.gz", tmp_path / "web-1.profiles")
    assert (run.full, run.profiles) == beside
    assert (other.full, other.profiles) == (None, None)


@pytest.mark.parametrize("base", ["web.jsonl.gz", "web"])
def test_the_runs_of_a_record_are_found_by_its_name_in_their_order_without_warm_ups(
    tmp_path: Path, base: str
) -> None:
    names = ("web-10.jsonl.gz", "web-9.jsonl.gz", "web-1.jsonl.gz", "web-warm-up-1.jsonl.gz", "web-1.yaml.gz", "other-1.jsonl.gz", "web-a-1.jsonl.gz")  # fmt: skip
    for name in names:
        (tmp_path / name).touch()

    found = runs_of(tmp_path / base)

    assert [each.name for each in found] == ["web-1.jsonl.gz", "web-9.jsonl.gz", "web-10.jsonl.gz"]
    assert [*map(number_of_run, found)] == [1, 9, 10]


def test_a_record_without_an_ending_is_numbered_too() -> None:
    assert record_of_run(Path("/x/web"), 2) == Path("/x/web-2")


def test_the_summary_has_what_happened_and_says_where_all_figures_are() -> None:
    report = reported()

    whole = sheet_in("text", report, sheet_of(report)).splitlines()
    lines = sheet_in("summary", report, sheet_of(report, is_summary=True)).splitlines()

    names = {line.split()[0] for line in lines if line.strip()}
    assert {"pods.bound", "pods.created_to_bound.p99"} <= names
    assert {"pods.deleted", "jobs.created", "Not"}.isdisjoint(names)
    assert lines[-2:] == [
        "  of a run: kwokctl measure report RECORD",
        "  of all runs: the files of '--report', or '-o text'",
    ]
    assert len(lines) < len(whole) / 2

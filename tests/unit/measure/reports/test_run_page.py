"""The page of a run: its figures are those of the JSON report, and what it draws is bounded."""

import csv
import io
import json
import random
import zlib
from base64 import b64decode
from collections import Counter
from pathlib import Path

import pytest

from kwokctl.measure.figures.figure_catalogue import FIGURES
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.assertions import AssertionReader
from kwokctl.measure.judging.verdict import INTERRUPTED
from kwokctl.measure.pages.page_data import (
    BarsItem,
    FleetItem,
    LinesItem,
    PageData,
    PageDownload,
    TableItem,
)
from kwokctl.measure.record.fault_lines import FaultSeen
from kwokctl.measure.record.fleet_lines import NodeChange, NodeSeen
from kwokctl.measure.record.record_file import RecordWriter
from kwokctl.measure.record.record_lines import (
    ApiProbe,
    JobSeen,
    Lines,
    PodShape,
    RecordText,
    RunMoment,
)
from kwokctl.measure.reports.csv_rows import numbers_of
from kwokctl.measure.reports.forms import json_of, report_in, write_report
from kwokctl.measure.reports.pod_rows import MOST_INSIDE, pods_csv, pods_inside
from kwokctl.measure.reports.report import ReportRequest, RunReport, report_on
from kwokctl.measure.reports.run_page import run_page
from tests.support.measured import BEGIN, MS, SECOND, TEXTS, done, header, history, job, life, sent
from tests.support.pages import document_of, items_of, numbers_of_page

HOSTILE = "</script><script>alert('\"&\u202e')</script>"
READER = AssertionReader(FIGURES)
OF_JOB = PodShape(2, "Job", "job-1", "uid-of-job-1", 0, "cpu=1,nvidia.com/gpu=1", {"team": HOSTILE})
LINES: tuple[Lines, ...] = (
    RecordText(10, "cpu=8,memory=1Gi,nvidia.com/gpu=4,pods=9"),
    OF_JOB,
    NodeSeen(0, 1, "n1", True, 10, 0, 0, True, False),
    job(1, 0, pods=2),
    *life(1, 0, SECOND, 2 * SECOND, 9 * SECOND, shape=2),
    *life(2, 0, 3 * SECOND, 4 * SECOND, 8 * SECOND, shape=2),
    *life(3, 100 * MS, 700 * MS, name=HOSTILE),
    done(1, 10 * SECOND, 2),
    sent(0, 0, refusal=HOSTILE),
    ApiProbe(0, 3 * MS, 200),
    FaultSeen(5 * SECOND, 1, "lost", "xid-79", "Landed", 1, False),
    RunMoment(9, "machine during", HOSTILE),
)
RUN = history(LINES, labels=("team",))
ASSERTED = ("pods.bound == 3", "pods.created_to_bound.p99 < 1s")


def reported(run: History = RUN, *asserted: str) -> RunReport:
    assertions = tuple(READER.read(text) for text in asserted)
    request = ReportRequest(
        record="run.jsonl.gz", by=("namespace", "label:team"), assertions=assertions
    )
    return report_on(run, request)


@pytest.fixture(scope="module")
def report() -> RunReport:
    return reported(RUN, *ASSERTED)


@pytest.fixture(scope="module")
def page(report: RunReport) -> PageData:
    return document_of(report_in("html", report, RUN))


def test_the_verdict_comes_first_with_the_conditions_and_the_figures_that_people_quote(
    page: PageData,
) -> None:
    assert (page.kind, page.title) == ("run", "the cluster 'x'")
    assert (page.verdict.level, page.verdict.text) == ("bad", "FAILED")
    assert page.verdict.notes[0] == "1 of 2 assertions failed"
    assert ("nodes before", "3") in page.conditions
    quoted = {each.name: (each.value, each.unit) for each in page.headline}
    assert quoted["p99 until bound"] == ("3.00", "s")
    assert quoted["pods bound"] == ("3", "")
    assert "nvidia.com/gpu requested, mean" in quoted


def test_an_invalid_run_and_one_that_passed_say_so() -> None:
    interrupted = history([RunMoment(5, INTERRUPTED)])

    assert run_page(reported(RUN), RUN).verdict.level == "good"
    assert run_page(reported(interrupted), interrupted).verdict.level == "bad"


def test_every_number_of_the_json_report_is_on_the_page_as_it_is_there(
    report: RunReport, page: PageData
) -> None:
    shown = numbers_of_page(page)
    figures = json.loads(json_of(report))["figures"]

    wanted = {each.name: each.value for each in numbers_of(report) if not each.why}
    found = {name.replace("⟨U+202E⟩", "\u202e"): float(cells[0]) for name, cells in shown.items()}
    assert found == wanted
    p99 = figures["pods.created_to_bound"]["value"]["p99"]
    assert float(shown["pods.created_to_bound.p99"][0]) == p99


def test_charts_have_the_values_of_the_json_report(report: RunReport, page: PageData) -> None:
    figures = json.loads(json_of(report))["figures"]
    items = items_of(page)

    queue = items["queue"]
    assert isinstance(queue, LinesItem)
    assert [*queue.series[0].values] == figures["pods.waiting"]["value"]["values"]
    rates = items["rates"]
    assert isinstance(rates, LinesItem)
    for line in rates.series:
        of_json = figures[f"rates.{line.name}"]["value"]
        assert sum(value or 0 for value in line.values) * rates.step == of_json["count"]
    bars = items["pods-created-to-bound"]
    assert isinstance(bars, BarsItem)
    classes = zip(bars.edges[1:], bars.series[0].values, strict=True)
    assert [[*each] for each in classes if each[1]] == figures["pods.created_to_bound"]["value"][
        "histogram"
    ]
    marks = {mark.name: mark.at for mark in bars.marks}
    assert marks["p50"] == figures["pods.created_to_bound"]["value"]["p50"]


def test_figures_with_equal_values_share_a_chart(page: PageData) -> None:
    bars = [item for item in items_of(page).values() if isinstance(item, BarsItem)]

    (of_jobs,) = [item for item in bars if "jobs.jct" in item.note.split(", ")]
    assert of_jobs.note == "jobs.jct, gangs.jct"
    assert (of_jobs.id, of_jobs.title) == ("jobs-jct", "completion time, from the object")


def test_what_is_drawn_has_unique_ids_and_at_most_six_hundred_bins(page: PageData) -> None:
    ids = [item.id for section in page.sections for item in section.items]
    ids += [section.id for section in page.sections]

    assert [each for each, times in Counter(ids).items() if times > 1] == []
    assert {"waterfall", "rates", "queue", "fleet-map", "utilisation", "nodes"} <= {*ids}
    for item in items_of(page).values():
        if isinstance(item, LinesItem):
            assert item.count <= 600
            assert {len(line.values) for line in item.series} == {item.count}


def test_faults_are_bands(page: PageData) -> None:
    assert [(band.name, band.start, band.end) for band in page.bands] == [
        ("xid-79, 1 unit (lost)", 5.0, None)
    ]


def test_assertions_and_groups_have_tables(page: PageData) -> None:
    items = items_of(page)

    asserted, by_team = items["assertions"], items["groups-label-team"]
    assert isinstance(asserted, TableItem)
    assert [row[1] for row in asserted.rows] == [*ASSERTED]
    assert isinstance(by_team, TableItem)
    assert {row[0] for row in by_team.rows} == {HOSTILE.replace("\u202e", "⟨U+202E⟩"), "none"}


def test_names_of_strangers_make_no_elements(report: RunReport) -> None:
    written = report_in("html", report, RUN, with_pods=True)

    assert written.count("<script") == written.count("</script>") == 2
    assert "alert(" in written
    assert "<script>alert" not in written
    assert "\u202e" not in written


def test_every_pod_stands_in_a_csv_beside_the_page(report: RunReport, tmp_path: Path) -> None:
    write_report(report, tmp_path / "run.html", RUN)

    page = document_of((tmp_path / "run.html").read_text("utf-8"))
    assert page.downloads == []
    assert page.verdict.notes[-1] == "every pod stands in run.pods.csv beside this page"
    rows = [*csv.DictReader(io.StringIO((tmp_path / "run.pods.csv").read_text("utf-8")))]
    assert [(row["owner"], row["bound"], row["ended"]) for row in rows] == [
        ("Job/job-1", "1.000000", "9.000000"),
        ("Job/job-1", "3.000000", "8.000000"),
        ("ReplicaSet/web-1", "0.700000", ""),
    ]
    assert rows[2]["name"] == HOSTILE


def test_with_pods_they_stand_in_the_page(report: RunReport, tmp_path: Path) -> None:
    write_report(report, tmp_path / "run.html", RUN, with_pods=True)

    assert [file.name for file in tmp_path.iterdir()] == ["run.html"]
    (download,) = document_of((tmp_path / "run.html").read_text("utf-8")).downloads
    content = zlib.decompress(b64decode(download.data))
    assert content.decode() == pods_csv(RUN)
    assert (download.name, download.size) == ("pods.csv", len(content))


def test_pods_that_are_too_large_for_a_page_stay_out_of_it() -> None:
    text = random.Random(1).randbytes(MOST_INSIDE * 4 // 5).hex()

    assert pods_inside(text) is None
    assert isinstance(pods_inside(text[:1000]), PageDownload)


def test_a_report_alone_is_drawn_from_its_record(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RecordWriter(path) as writer:
        writer.begin(header())
        for line in (BEGIN, *LINES, RunMoment(20 * SECOND, "end")):
            writer.add(line)
    found = report_on(RUN, ReportRequest(record=str(path)))

    assert "waterfall" in items_of(document_of(report_in("html", found)))


def test_a_record_without_its_end_is_drawn_to_its_last_change() -> None:
    cut = History.of(header(), [BEGIN, *TEXTS, *LINES])

    items = items_of(run_page(reported(cut), cut))
    rates, fleet = items["rates"], items["fleet-map"]
    assert isinstance(rates, LinesItem)
    assert isinstance(fleet, FleetItem)
    assert (rates.count, fleet.count) == (10, 10)
    created = next(line for line in rates.series if line.name == "created")
    assert [*created.values] == [3] + [0] * 9


def test_a_run_of_nothing_has_a_page() -> None:
    empty = history([])

    page = document_of(report_in("html", reported(empty), empty))
    assert "table-missing" in items_of(page)


def test_a_large_run_is_a_page_of_at_most_two_megabytes() -> None:
    jobs: list[JobSeen] = [
        job(number, number * SECOND, name=f"{'j' * 50}-{number}", namespace="n" * 60)
        for number in range(1, 2001)
    ]
    nodes = [
        NodeSeen(0, number, f"{'n' * 25}-{number}", True, 10, 0, 0, True, False)
        for number in range(1, 10_001)
    ]
    changes = [
        NodeChange(
            (100 + 3 * number + time * 600) * SECOND // 10, number, 10, 0, 0, time % 2 == 1, False
        )
        for time in range(8)
        for number in range(1, 5001)
    ]
    large = history([LINES[0], *nodes, *jobs, *changes])

    written = report_in("html", reported(large), large)
    assert len(written.encode()) <= 2_000_000
    fleet = items_of(document_of(written))["fleet-map"]
    assert isinstance(fleet, FleetItem)
    assert 20_000 < sum(len(frame.changes) for frame in fleet.frames) <= 50_000


def test_the_csv_of_pods_is_read_back_whatever_they_are_called() -> None:
    rows = [*csv.reader(io.StringIO(pods_csv(RUN)))]

    assert len(rows) == 4
    assert {len(row) for row in rows} == {len(rows[0])}

"""The forms of a report."""

import csv
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from kwokctl.errors import UsageError
from kwokctl.measure.figures.figure_catalogue import FIGURES
from kwokctl.measure.judging.assertions import AssertionReader
from kwokctl.measure.judging.verdict import UNDRAINED
from kwokctl.measure.record.record_lines import ApiProbe, RunMoment
from kwokctl.measure.reports.csv_rows import csv_of
from kwokctl.measure.reports.forms import FORMS, form_of, json_of, write_report
from kwokctl.measure.reports.junit import junit_of
from kwokctl.measure.reports.markdown import markdown_of
from kwokctl.measure.reports.report import ReportRequest, RunReport, report_on
from kwokctl.measure.reports.summary import summary_of
from kwokctl.measure.reports.text import text_of
from kwokctl.measure.reports.words import number, seconds
from kwokctl.replacing import replace
from tests.support.measured import MS, SECOND, history, life, sent

SCHEMA = Path(__file__).parents[4] / "docs/reference/measure-report.schema.json"
READER = AssertionReader(FIGURES)
RUN = history(
    [
        *(line for pod in range(1, 4) for line in life(pod, 0, pod * 100 * MS, SECOND)),
        *life(4, 0, namespace="other"),
        sent(0, 0, refusal="quota <of> *x*"),
        ApiProbe(0, 3 * MS, 200),
        RunMoment(5, UNDRAINED, "1 pods not yet bound"),
        RunMoment(9, "machine during", "1.50 of 2 processors"),
    ]
)


def report(*asserted: str, by: tuple[str, ...] = ()) -> RunReport:
    assertions = tuple(READER.read(text) for text in asserted)
    return report_on(RUN, ReportRequest(record="run.jsonl.gz", by=by, assertions=assertions))


ASSERTED = ("pods.bound == 3", "pods.created_to_bound.p99 < 0.2s", "jobs.jct.max < 5s")


def test_the_text_begins_with_the_verdict_and_has_no_line_longer_than_80_columns() -> None:
    text = text_of(report(*ASSERTED, by=("namespace",)))

    lines = text.splitlines()
    assert lines[:7] == [
        "FAILED: the cluster 'x', 2026-01-02 03:04:05 UTC, 3,600 s",
        "  not drained: 1 pods not yet bound",
        "  2 of 3 assertions failed",
        "  ok     pods.bound == 3: 3",
        "  FAILED pods.created_to_bound.p99 < 0.2s: 300.0 ms",
        "  FAILED jobs.jct.max < 5s: not measured: no Job came so far",
        "  of the run: objects that were created while it was measured",
    ]
    assert max(map(len, lines)) <= 80
    (row,) = [line.split() for line in lines if line.startswith("pods.created_to_bound  ")][:1]
    assert " ".join(row) == "pods.created_to_bound 3 200.0 ms 300.0 ms 300.0 ms 300.0 ms 1 open"
    assert "  pods.created_to_bound: to 100.0 ms: 1, to 200.0 ms: 1, to 500.0 ms: 1" in lines
    (level,) = [line.split() for line in lines if line.startswith("pods.waiting  ")][:1]
    assert level == ["pods.waiting", "1.00", "1", "4", "1"]
    assert "Group namespace=other" in lines
    assert "  refusals: 1 quota <of> *x*" in lines


def test_the_text_names_each_figure_once_also_what_could_not_be_measured() -> None:
    text = text_of(report())

    known = [each.name for each in FIGURES if not each.name.startswith("incidents.")]
    unnamed = [name for name in known if not re.search(rf"\b{re.escape(name)}\b", text)]
    assert unnamed == []


def test_the_summary_has_what_happened_and_ends_with_the_command_that_shows_all() -> None:
    found = report(*ASSERTED, by=("namespace",))

    lines = summary_of(found).splitlines()

    assert lines[:7] == text_of(found).splitlines()[:7]
    of_run = lines[: lines.index("Group namespace=default")]
    rows = {line.split()[0]: line for line in of_run if line and line[0].isalpha()}
    assert rows["pods.created"].split() == ["pods.created", "4"]
    assert rows["pods.created_to_bound"].endswith("1 open")
    assert "api.availability" in rows
    zero, of_plane, unmeasured = "pods.deleted", "api.answer", "jobs.jct"
    assert {zero, of_plane, unmeasured, "Histograms"}.isdisjoint(rows)
    assert "Group namespace=other" in lines
    assert "  refusals: 1 quota <of> *x*" in lines
    assert lines[-1] == "  kwokctl measure report run.jsonl.gz"
    assert len(lines) < len(text_of(found).splitlines()) / 2


def test_the_summary_leaves_out_a_figure_that_repeats_another_unless_it_was_asked_for() -> None:
    found = report_on(history(life(1, 0, 1, 2, 2)), ReportRequest(record="run.jsonl.gz"))
    same = found.figures["pods.created_to_running"]
    figures = {**found.figures, "pods.created_to_ready": same, "latency.mine": same}

    names = [
        line.split()[0] for line in summary_of(replace(found, figures=figures)).splitlines() if line
    ]

    assert "pods.created_to_running" in names
    assert "pods.created_to_ready" not in names
    assert "latency.mine" in names


def test_the_summary_says_why_what_was_asked_for_could_not_be_measured() -> None:
    asked = ("example.com/rack",)
    of_label = history(life(1, 0, 1, 2), topology=asked)

    text = summary_of(report_on(of_label, ReportRequest(record="run.jsonl.gz")))

    assert "fleet.spread.example.com/rack" in text
    assert "fleet.spread.topology.kubernetes.io/zone" not in text


def test_markdown_is_not_broken_by_what_it_quotes() -> None:
    lines = markdown_of(report(*ASSERTED)).splitlines()

    assert lines[0] == "# FAILED: the cluster 'x', 2026-01-02 03:04:05 UTC, 3,600 s"
    assert "- refusals: 1 quota \\<of\\> \\*x\\*" in lines
    tables = [line for line in lines if line.startswith("|")]
    assert "| latency | number | p50 | p90 | p99 | max |  |" in tables
    row = "| pods.created\\_to\\_bound | 3 | 200.0 ms | 300.0 ms | 300.0 ms | 300.0 ms | 1 open |"
    assert row in tables


def test_csv_has_a_line_for_each_number_also_of_groups() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_of(report(by=("namespace",))))))

    def values(group: str, name: str) -> dict[str, str]:
        chosen = [row for row in rows if (row["group"], row["figure"]) == (group, name)]
        return {row["statistic"]: row["value"] for row in chosen}

    assert values("", "pods.created") == {"": "4"}
    assert values("", "pods.created_to_bound")["p99"] == "0.3"
    assert values("namespace=other", "pods.bound") == {"": "0"}
    assert values("", "rates.bound") == {"count": "3", "peak": "3", "sustained": ""}
    levels = values("", "pods.waiting")
    assert (levels["min"], levels["max"], levels["last"]) == ("1.0", "4.0", "1.0")
    missing = next(row for row in rows if row["figure"] == "jobs.jct")
    assert (missing["value"], missing["not measured"]) == ("", "no Job came so far")


def test_junit_has_a_case_for_each_assertion_and_one_for_the_run() -> None:
    suite = ET.fromstring(junit_of(report(*ASSERTED)))

    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "4",
        "failures": "3",
        "errors": "0",
    }
    failed = {
        case.get("name"): failure.get("message")
        for case in suite.iter("testcase")
        if (failure := case.find("failure")) is not None
    }
    assert failed == {
        "the run is valid and came to its end": "not drained: 1 pods not yet bound",
        ASSERTED[1]: f"FAILED {ASSERTED[1]}: 300.0 ms",
        ASSERTED[2]: f"FAILED {ASSERTED[2]}: not measured: no Job came so far",
    }


def test_json_fulfils_its_schema() -> None:
    document = json.loads(json_of(report(*ASSERTED, by=("namespace",))))

    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    assert document["figures"]["jobs.jct"]["value"] == {
        "kind": "missing",
        "why": "no Job came so far",
    }
    assert document["figures"]["pods.created_to_bound"]["value"]["leftOut"] == 0
    assert document["verdict"]["passed"] is False
    assert document["conditions"]["machine during"] == "1.50 of 2 processors"
    assert document["groups"]["namespace"]["other"]["pods.created"]["value"]["value"] == 1


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.txt", "text"),
        ("a.md", "markdown"),
        ("a.json", "json"),
        ("a.csv", "csv"),
        ("a.xml", "junit"),
    ],
)
def test_the_ending_of_a_file_says_its_form(tmp_path: Path, name: str, form: str) -> None:
    found = report()
    write_report(found, tmp_path / name)

    assert (tmp_path / name).read_text("utf-8") == FORMS[form](found)


def test_another_ending_is_refused() -> None:
    with pytest.raises(UsageError, match="whose ending names no form") as raised:
        form_of(Path("a.pdf"))

    assert ".xml (junit)" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0 ms"), (0.0123, "12.3 ms"), (1.0, "1.00 s"), (61.239, "61.24 s"), (1234.5, "1,234 s")],
)  # fmt: skip
def test_durations_have_three_digits_or_so(value: float, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(12345, "", "12,345"), (1.5, "/s", "1.50 /s"), (99.8, "%", "99.80 %"), (0.5, "s", "500.0 ms")],
)
def test_numbers_have_their_unit(value: float, unit: str, text: str) -> None:
    assert number(value, unit) == text

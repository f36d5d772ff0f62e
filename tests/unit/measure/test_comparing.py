"""Comparisons of records: what they find, what they refuse, and what they say."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from kwokctl.errors import ConfigError, KwokctlError, NotFoundError, UsageError
from kwokctl.measure.comparing.comparison import (
    USUAL_FIGURES,
    ComparedFigure,
    CompareRequest,
    RunComparison,
    compared,
)
from kwokctl.measure.comparing.sample import RunSample, SampleRequest, read_sample, records_of
from kwokctl.measure.record.file import RecordWriter
from kwokctl.measure.record.lines import Lines
from kwokctl.measure.reports.compared_sheet import sheet_of
from kwokctl.measure.reports.forms import sheet_in, write_sheet
from tests.support.measured import BEGIN, END, MS, SECOND, SHAPE, TEXTS, header, life

SCHEMA = Path(__file__).parents[3] / "docs/reference/measure-comparison.schema.json"
P50 = "pods.created_to_bound.p50"
USUAL = (100, 104, 96, 101, 99)
"""Latencies of a pod, in milliseconds, one for each run."""
LATER = (130, 135, 125, 131, 129)


def write(path: Path, latency: int, *, end: Lines | None = END, **fields: Any) -> Path:
    """Write the record of a run with one pod."""
    path.parent.mkdir(exist_ok=True)
    lines = [BEGIN, *TEXTS, SHAPE, *life(1, 0, latency * MS, SECOND), *([end] if end else [])]
    with RecordWriter(path) as writer:
        writer.begin(header(**fields))
        for line in lines:
            writer.add(line)
    return path


def sample(
    tmp_path: Path, name: str, latencies: Sequence[int], *figures: str, **fields: Any
) -> RunSample:
    """Write a run for each latency, and read them."""
    for number, latency in enumerate(latencies, 1):
        write(tmp_path / f"{name}-{number}.jsonl.gz", latency, **fields)
    base = str(tmp_path / name)
    return read_sample(base, records_of(base), SampleRequest(figures=figures or (P50,)))


def found(
    tmp_path: Path,
    a: Sequence[int],
    b: Sequence[int],
    max_worse: float | None = None,
    figure: str = P50,
) -> ComparedFigure:
    """Return what is found of one figure."""
    sides = sample(tmp_path, "a", a, figure), sample(tmp_path, "b", b, figure)
    return compared(*sides, CompareRequest(max_worse=max_worse)).figures[0]


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (USUAL, LATER, "worse"),
        (LATER, USUAL, "better"),
        (USUAL, USUAL, "no difference seen"),
        (USUAL[:3], LATER[:3], "too few runs"),
        (USUAL[:4], LATER[:4], "worse"),
    ],
)
def test_less_latency_is_better(
    tmp_path: Path, a: Sequence[int], b: Sequence[int], verdict: str
) -> None:
    figure = found(tmp_path, a, b)

    assert (figure.verdict, figure.passed) == (verdict, True)


def test_more_of_a_rate_is_better(tmp_path: Path) -> None:
    def rates(name: str, spans: Sequence[int]) -> RunSample:
        for number, span in enumerate(spans, 1):
            lives = (line for pod in range(1, 11) for line in life(pod, 0, pod * span * MS))
            with RecordWriter(tmp_path / f"{name}-{number}.jsonl.gz") as writer:
                writer.begin(header())
                for line in (BEGIN, *TEXTS, SHAPE, *lives, END):
                    writer.add(line)
        base = str(tmp_path / name)
        return read_sample(base, records_of(base), SampleRequest(figures=("rates.bound.peak",)))

    slow, fast = rates("slow", (200, 210, 220, 230)), rates("fast", (100, 101, 102, 103))

    up = compared(slow, fast, CompareRequest(max_worse=0.05))
    down = compared(fast, slow, CompareRequest(max_worse=0.05))

    assert (up.figures[0].verdict, up.passed) == ("better", True)
    assert (down.figures[0].verdict, down.passed) == ("worse", False)
    assert down.figures[0].ratio == 0.5


def test_the_ratio_is_within_its_interval_and_the_smallest_difference_is_its_half_width(
    tmp_path: Path,
) -> None:
    figure = found(tmp_path, USUAL, LATER)

    assert figure.ratio == pytest.approx(1.3, abs=0.01)
    assert figure.low is not None
    assert figure.high is not None
    assert figure.ratio is not None
    assert 1 < figure.low < figure.ratio < figure.high < 1.4
    widest = max(figure.ratio / figure.low, figure.high / figure.ratio)
    assert figure.smallest == pytest.approx(widest - 1)


@pytest.mark.parametrize(
    ("max_worse", "passed"), [(0.0, False), (0.05, False), (0.22, False), (0.3, True), (0.5, True)]
)
def test_a_limit_fails_only_if_the_interval_lies_beyond_it(
    tmp_path: Path, max_worse: float, *, passed: bool
) -> None:
    assert found(tmp_path, USUAL, LATER, max_worse).passed is passed


def test_what_cannot_be_judged_fails_a_limit(tmp_path: Path) -> None:
    few = found(tmp_path / "few", USUAL[:3], USUAL[:3], 0.05)
    missing = found(tmp_path / "missing", USUAL, USUAL, 0.05, "jobs.jct.p50")

    assert (few.verdict, few.passed) == ("too few runs", False)
    assert (missing.verdict, missing.passed) == ("not measured", False)
    assert missing.why.startswith("no Job came so far (")


def test_usual_figures_that_no_run_has_are_left_out(tmp_path: Path) -> None:
    a, b = (sample(tmp_path, side, USUAL, *USUAL_FIGURES) for side in "ab")

    comparison = compared(a, b, CompareRequest(omits_missing=True))

    assert [each.figure for each in comparison.figures] == [*USUAL_FIGURES[:2]]
    assert comparison.false_alarms == pytest.approx(2 * 4 / 252)


def test_conditions_that_differ_are_named_and_refused_unless_the_user_says_so(
    tmp_path: Path,
) -> None:
    a = sample(tmp_path, "a", USUAL, conditions={"kubernetes": "v1.35.1", "runtime": "binary"})
    b = sample(tmp_path, "b", USUAL, conditions={"kubernetes": "v1.36.3", "runtime": "docker"})

    with pytest.raises(ConfigError, match="under conditions that differ") as raised:
        compared(a, b, CompareRequest(across=("runtime",)))
    assert raised.value.detail == "kubernetes: v1.35.1 in A, v1.36.3 in B"
    assert raised.value.hint == "if that is what you compare, say so: --across 'kubernetes'"
    comparison = compared(a, b, CompareRequest(across=("runtime", "kubernetes")))
    assert comparison.differences["runtime"] == ("binary", "docker")
    with pytest.raises(UsageError, match="no condition of these runs"):
        compared(a, b, CompareRequest(across=("kubernets",)))


def test_another_version_of_kwokctl_and_another_scope_are_conditions(tmp_path: Path) -> None:
    a, b = sample(tmp_path, "a", USUAL), sample(tmp_path, "b", USUAL, kwokctl="9.9")

    with pytest.raises(ConfigError) as raised:
        compared(a, b, CompareRequest())

    assert raised.value.detail == "kwokctl: 0.0 in A, 9.9 in B"


def test_a_condition_may_vary_within_the_sides_if_it_does_so_in_both(tmp_path: Path) -> None:
    def seeded(name: str) -> RunSample:
        for seed, latency in enumerate(USUAL, 1):
            conditions = {"seed": str(seed), "load before": f"{seed}.5", "cluster": name}
            write(tmp_path / f"{name}-{seed}.jsonl.gz", latency, conditions=conditions)
        base = str(tmp_path / name)
        return read_sample(base, records_of(base), SampleRequest(figures=(P50,)))

    assert compared(seeded("a"), seeded("b"), CompareRequest()).differences == {}


@pytest.mark.parametrize(
    ("hours", "remarks"),
    [
        ((1, 2, 3, 4), 1),
        ((1, 3, 2, 4), 0),
        ((3, 4, 1, 2), 1),
    ],
)
def test_sides_that_were_not_made_in_turn_are_remarked(
    tmp_path: Path, hours: Sequence[int], remarks: int
) -> None:
    for side, times in (("a", hours[:2]), ("b", hours[2:])):
        for hour in times:
            wall = f"2026-01-02T0{hour}:00:00.000+00:00"
            write(tmp_path / f"{side}-{hour}.jsonl.gz", 5, wall=wall)
    a, b = (
        read_sample(side, records_of(str(tmp_path / side)), SampleRequest(figures=(P50,)))
        for side in "ab"
    )

    said = compared(a, b, CompareRequest()).remarks

    assert len([each for each in said if "were not made in turn" in each]) == remarks


def test_the_load_of_the_machine_is_said_where_it_is_known(tmp_path: Path) -> None:
    a = sample(tmp_path, "a", USUAL, conditions={"load before": "1.20"})
    b = sample(tmp_path, "b", USUAL, conditions={"load before": "24.00"})

    said = compared(a, b, CompareRequest()).remarks

    assert said == ("load of the machine before the runs: 1.2 in A, 24.0 in B",)


def test_runs_that_failed_are_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path / "web-1.jsonl.gz", 5)
    write(tmp_path / "web-2.jsonl.gz", 5, end=None)

    with pytest.raises(ConfigError, match="has runs that cannot be compared") as raised:
        read_sample("web", records_of(str(tmp_path / "web")), SampleRequest(figures=(P50,)))

    assert raised.value.detail == (
        f"{tmp_path}/web-2.jsonl.gz: invalid: the end of the record is missing"
    )


def test_warm_up_runs_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / "web" / "web-1.jsonl.gz", 5)
    write(tmp_path / "web" / "web-warm-up-1.jsonl.gz", 9000, warm_up=True)
    wanted = SampleRequest(figures=(P50,))

    read = read_sample("web", records_of(str(tmp_path / "web")), wanted)

    assert [Path(run.record).name for run in read.runs] == ["web-1.jsonl.gz"]
    warm_ups = records_of(str(tmp_path / "web" / "web-warm-up*"))
    with pytest.raises(NotFoundError, match="no runs but warm-up runs"):
        read_sample("web", warm_ups, wanted)


@pytest.mark.parametrize("name", ["web", "web.jsonl.gz", "web-*.jsonl.gz", "folder", "folder/"])
def test_records_are_named_by_folder_pattern_or_base_and_are_in_their_order(
    tmp_path: Path, name: str
) -> None:
    at = tmp_path / "folder" if name.startswith("folder") else tmp_path
    for number in (10, 9, 1):
        write(at / f"web-{number}.jsonl.gz", 5)
    (at / "report.json").touch()

    found = records_of(str(tmp_path / name))

    assert [each.name for each in found] == [f"web-{number}.jsonl.gz" for number in (1, 9, 10)]


def test_runs_that_were_numbered_twice_are_in_the_order_of_both_numbers(tmp_path: Path) -> None:
    for name in ("a-10-1", "a-9-2", "a-9-1", "a-9-10"):
        write(tmp_path / f"{name}.jsonl.gz", 5)

    found = [each.name.removesuffix(".jsonl.gz") for each in records_of(str(tmp_path / "a-*"))]

    assert found == ["a-9-1", "a-9-2", "a-9-10", "a-10-1"]


def test_a_name_of_no_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="names no record"):
        records_of(str(tmp_path / "web"))


@pytest.mark.parametrize(
    ("figure", "problem"),
    [
        ("pods.bound", "of which neither less nor more is better"),
        ("pods.created_to_bound.count", "of which neither less nor more is better"),
        ("pods.created_to_bound", "it is not one number"),
        ("pods.created_to_bond.p50", "there is no figure"),
        (f"{P50} < 5s", "not a figure"),
        (f"{P50} 5s", "'5s' is too much"),
    ],
)
def test_a_figure_that_cannot_be_compared_is_refused(
    tmp_path: Path, figure: str, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        found(tmp_path, USUAL, USUAL, None, figure)


def test_a_figure_of_a_group_can_be_compared(tmp_path: Path) -> None:
    figure = "pods.created_to_bound[namespace=default].p50"

    assert found(tmp_path, USUAL, LATER, None, figure).verdict == "worse"


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


def test_figures_must_be_measured_at_least_somewhere(tmp_path: Path) -> None:
    a, b = (sample(tmp_path, side, USUAL, "jobs.jct.p50") for side in "ab")

    with pytest.raises(KwokctlError, match="none of the usual figures was measured"):
        compared(a, b, CompareRequest(omits_missing=True))

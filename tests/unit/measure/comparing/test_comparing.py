"""Comparisons of records: what they find, and what they refuse."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kwokctl.errors import ConfigError, KwokctlError, UsageError
from kwokctl.measure.comparing.comparison import (
    USUAL_FIGURES,
    CompareRequest,
    compared,
)
from kwokctl.measure.comparing.sample import RunSample, SampleRequest, read_sample, records_of
from kwokctl.measure.record.incident_lines import ScheduleState
from kwokctl.measure.record.record_file import RecordWriter
from tests.support.compared import LATER, P50, USUAL, found, sample, write
from tests.support.measured import BEGIN, END, MS, SECOND, SHAPE, TEXTS, header, life


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


def test_one_run_of_each_is_in_turn(tmp_path: Path) -> None:
    sides = sample(tmp_path, "a", [100]), sample(tmp_path, "b", [130])

    assert compared(*sides, CompareRequest()).remarks == ()


def test_the_load_of_the_machine_is_said_where_it_is_known(tmp_path: Path) -> None:
    a = sample(tmp_path, "a", USUAL, conditions={"load before": "1.20"})
    b = sample(tmp_path, "b", USUAL, conditions={"load before": "24.00"})

    said = compared(a, b, CompareRequest()).remarks

    assert said == ("load of the machine before the runs: 1.2 in A, 24.0 in B",)


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


def test_figures_must_be_measured_at_least_somewhere(tmp_path: Path) -> None:
    a, b = (sample(tmp_path, side, USUAL, "jobs.jct.p50") for side in "ab")

    with pytest.raises(KwokctlError, match="none of the usual figures was measured"):
        compared(a, b, CompareRequest(omits_missing=True))


def stormy(tmp_path: Path, name: str, *suppressed: int) -> RunSample:
    """Write a run for each number of faults that were not injected, and read them."""
    for number, count in enumerate(suppressed, 1):
        path = tmp_path / f"{name}-{number}.jsonl.gz"
        with RecordWriter(path) as writer:
            writer.begin(header())
            state = ScheduleState(
                1, 1, "storm", "Completed", 500, 500 - count, {"Limit": count}, 1.0, 1.0
            )
            for line in (BEGIN, *TEXTS, SHAPE, state, *life(1, 0, 100 * MS, SECOND), END):
                writer.add(line)
    base = str(tmp_path / name)
    return read_sample(base, records_of(base), SampleRequest(figures=(P50,)))


@pytest.mark.parametrize(
    ("a", "b", "is_equal"),
    [
        ((100, 96), (95, 98), True),
        ((100, 96), (94, 98), False),
        ((0, 0), (0, 0), True),
        ((0, 0), (0, 1), False),
        ((4, 1), (1, 4), True),
        ((4, 1), (4, 2), False),
    ],
)
def test_runs_that_have_suppressed_other_numbers_of_faults_are_marked_and_a_limit_refuses_them(
    tmp_path: Path, a: tuple[int, int], b: tuple[int, int], *, is_equal: bool
) -> None:
    sides = stormy(tmp_path, "a", *a), stormy(tmp_path, "b", *b)

    remarks = compared(*sides, CompareRequest()).remarks

    words = "suppressed different numbers of faults"
    assert any(words in each for each in remarks) is not is_equal
    if is_equal:
        compared(*sides, CompareRequest(max_worse=0.5))
    else:
        with pytest.raises(ConfigError, match=words):
            compared(*sides, CompareRequest(max_worse=0.5))

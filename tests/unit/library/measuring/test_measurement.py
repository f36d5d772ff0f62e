"""Measurements without a cluster: words, states, and what is asserted of a run that is over."""

import json
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.errors import ConfigError, KwokctlError, NotFoundError, UsageError
from kwokctl.library.measuring.finished_run import FinishedRun
from kwokctl.library.measuring.measure_words import plan_of
from kwokctl.library.measuring.measurement import Measurement
from kwokctl.library.progress_log import LoggedProgress
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.verdict import UNDRAINED
from kwokctl.measure.record.record_lines import RunMoment
from kwokctl.measure.reports.forms import json_of
from kwokctl.measure.reports.report import ReportRequest, report_on
from kwokctl.replacing import replace
from tests.support.fake_runtime import FakeRuntime
from tests.support.measured import SECOND, history, life
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")
LINES = [each for n in range(1, 5) for each in life(n, n * SECOND, (2 * n + 1) * SECOND)]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return home_with(tmp_path, NAME, cluster_options(), FakeRuntime())


def measurement(home: Home, **words: Any) -> Measurement:
    return Measurement(home, NAME, words)  # type: ignore[arg-type]  # tests give wrong ones, too


class Over(Measurement):
    """A measurement whose run is over."""

    def __init__(self, home: Home, found: History, **words: Any) -> None:
        super().__init__(home, NAME, words)  # type: ignore[arg-type]  # as above
        self._run = FinishedRun(found, self._plan)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"untl": "x"}, "'untl' is no word of a measurement"),
        ({"latency": "ready"}, "ready"),
        ({"metric": "x y z"}, "x y z"),
        ({"topology": ["a", "-b"]}, "'topology' is '-b', not the key of a label"),
        ({"gang_label": "a b"}, "'gang_label' is 'a b', not the key"),
        ({"by": "ownr"}, "'by' is 'ownr'"),
        ({"since": "noon"}, "'since' is 'noon'"),
        ({"speed": 0}, "'speed' is 0"),
        ({"timeout": -1.0}, "'timeout' is -1.0"),
        ({"assertions": "pods.bond == 1"}, "'assertions' is 'pods.bond == 1', column 1"),
        ({"assert_file": "none.yaml"}, "none.yaml' cannot be read"),
    ],
)
def test_what_cannot_be_understood_is_refused_at_once(
    home: Home, words: dict[str, Any], said: str
) -> None:
    with pytest.raises(KwokctlError, match=said):
        measurement(home, **words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"load": "none.yaml"}, "there is no file 'none.yaml'"),
        ({"load": {"kind": "Pod"}}, "load 1 of the program: 'kind' is 'Pod'"),
        ({"until": "jobs.makespan"}, "'--until' is 'jobs.makespan'"),
        ({"selector": "a b"}, "a b"),
    ],
)
def test_loads_and_conditions_are_read_before_anything_is_recorded(
    home: Home, words: dict[str, Any], said: str
) -> None:
    made = measurement(home, **words)

    with pytest.raises((ConfigError, UsageError), match=said):
        made.begin()
    assert not made.record.exists()


def test_words_are_those_of_the_command(home: Home, tmp_path: Path) -> None:
    plan = plan_of(home, NAME, {
        "load": [tmp_path / "a.yaml", {"kind": "Load"}], "seed": 3, "by": ["load", "label:team"],
        "topology": "example.com/rack", "latency": "ready=nodes,exists,Ready", "record": tmp_path / "x.jsonl",
        "assertions": "latency.ready.p99 < 5s", "metric": "x=workqueue_depth max", "profile_components": True,
    })  # fmt: skip

    run = plan.run
    assert run.load == (str(tmp_path / "a.yaml"), {"kind": "Load"})
    assert (run.seed, run.labels, run.topology) == (3, ("team",), ("example.com/rack",))
    assert (run.record, run.profiles) == (tmp_path / "x.jsonl", True)
    assert [each.text for each in plan.assertions] == ["latency.ready.p99 < 5s"]


def test_each_new_record_has_a_path_of_its_own(home: Home) -> None:
    first = measurement(home).record
    first.parent.mkdir(parents=True)
    for _ in range(3):
        path = measurement(home).record
        assert not path.exists()
        path.touch()


def test_figures_of_a_run_that_is_not_over_are_refused_with_what_to_do(home: Home) -> None:
    made = measurement(home)

    assert repr(made) == str(made) == "<measurement of 'dev': has not begun>"
    assert not made.is_over
    with pytest.raises(UsageError, match="figures are known when the run is over") as error:
        assert made.pods.bound
    assert "with" in str(error.value.hint)
    with pytest.raises(UsageError, match="has not begun"):
        made.end()


def test_a_run_that_is_over_has_the_report_of_the_command(home: Home, tmp_path: Path) -> None:
    found = history(LINES)
    run = Over(home, found, by="owner")
    wanted = report_on(found, ReportRequest(record=str(run.record), by=("owner",)))

    assert run.to_dict() == json.loads(json_of(wanted))
    assert run.report(tmp_path / "run.json").read_text() == json_of(wanted)
    assert json.loads((tmp_path / "run.json").read_text()) == run.to_dict()
    assert run.verdict == wanted.verdict
    assert run.seconds == wanted.seconds
    assert run.conditions["nodes before"] == "3"
    assert str(run).startswith("PASSED: the cluster 'x'")
    assert run.pods.created_to_bound.p99 == run.number("pods.created_to_bound.p99") == 5.0
    group = run.groups["owner"]["ReplicaSet"]
    assert group.pods.created_to_bound.p99 == run.number(
        "pods.created_to_bound[owner=ReplicaSet].p99"
    )
    with pytest.raises(UsageError, match="whose ending names no form"):
        run.report(tmp_path / "run.doc")


def test_expectations_hold_or_say_what_was_measured(home: Home, tmp_path: Path) -> None:
    run = Over(home, history(LINES), assertions="pods.bound == 4")

    assert run.expect("pods.created_to_bound.p99 <= 5s", "pods.created == 4") is run
    assert run.expect() is run
    with pytest.raises(AssertionError) as error:
        run.expect("pods.created_to_bound.p99 < 4s", "jobs.makespan < 5s", "pods.bound == 4")
    said = str(error.value)
    assert said.startswith("FAILED: the cluster 'x'")
    assert "FAILED pods.created_to_bound.p99 < 4s: 5.00 s" in said
    assert "FAILED jobs.makespan < 5s: not measured: no Job was complete" in said
    assert "ok     pods.bound == 4: 4" in said
    assert str(run.record) in said
    # What was asked is in reports from then on, and fails no other expectation.
    assert run.expect("pods.bound == 4") is run
    assert [each["passed"] for each in run.to_dict()["assertions"]] == [
        True, True, True, False, False, True, True,
    ]  # fmt: skip
    assert not run.verdict.passed
    with pytest.raises(AssertionError, match="2 of 7 assertions failed"):
        run.expect()
    with pytest.raises(UsageError, match=r"'expect' is 'pods\.bond == 4', column 1"):
        run.expect("pods.bond == 4")
    with pytest.raises(NotFoundError, match=r"'jobs\.makespan' was not measured"):
        run.number("jobs.makespan")


def test_an_expectation_of_a_run_that_means_nothing_fails(home: Home) -> None:
    lines = [*LINES, RunMoment(9 * SECOND, UNDRAINED, "3 pods not yet bound")]

    with pytest.raises(AssertionError, match="not drained: 3 pods not yet bound"):
        Over(home, history(lines)).expect("pods.created == 4")
    Over(home, history(lines), allow_undrained=True).expect("pods.created == 4")


def test_a_page_has_its_pods_beside_it_and_a_note_says_so(
    home: Home, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = Over(replace(home, progress=LoggedProgress()), history(LINES))

    with caplog.at_level("INFO", logger="kwokctl"):
        run.report(tmp_path / "run.html")
        run.report(tmp_path / "run.json")
    [note] = [each.getMessage() for each in caplog.records]
    assert str(tmp_path / "run.pods.csv") in note
    assert (tmp_path / "run.pods.csv").read_text().count("\n") == 5
    run.report(tmp_path / "whole.html", with_pods=True)
    assert not (tmp_path / "whole.pods.csv").exists()
    with pytest.raises(UsageError, match="'with_pods' needs a page"):
        run.report(tmp_path / "run.md", with_pods=True)

"""Runs that Python programs measure in a real cluster: the figures are those of the command, from the same record."""

import html
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from kwokctl import Cluster
from kwokctl.errors import ConflictError, NotFoundError, UsageError
from kwokctl.json_value import Json
from tests.support.installed import Installed

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = [pytest.mark.e2e, pytest.mark.components]
TESTS = """
import pytest

def web(replicas):
    meta = {"labels": {"app": "web"}}
    template = {"metadata": meta, "spec": {"containers": [{"name": "a", "image": "x"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": meta["labels"]}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}

def test_passes(kwok, measured):
    kwok.apply(web(4))
    assert measured.pods.bound == 4
    assert measured.pods.created_to_bound.p99 < 60
    measured.expect("pods.created_to_bound.p99 < 1m", "pods.bound == 4")
    assert measured.is_over

def test_misses(kwok, measured):
    kwok.apply(web(3))
    assert measured.pods.created_to_bound.max < 0

def test_expects(kwok, measured):
    kwok.apply(web(2))
    measured.expect("pods.bound == 2").expect("pods.created_to_bound.max < 0s")

@pytest.mark.kwok_measured(timeout=1.0)
def test_is_stuck(kwok, measured):
    body = web(1)
    body["spec"]["template"]["spec"]["nodeSelector"] = {"no": "where"}
    kwok.apply(body)
    assert measured.pods.created == 1

def test_fails_before_it_reads(kwok, measured):
    assert not measured.is_over
    assert kwok.find("pods") == ["what is not there"]

@pytest.mark.kwok_measured(load="burst.yaml", by="load", allow_undrained=True)
class TestLoads:
    @pytest.mark.kwok_measured(seed=3)
    def test_run_beside_the_test(self, measured):
        assert measured.groups["load"]["burst"].pods.bound == 5
        assert "3" in measured.conditions["seed"]

@pytest.mark.kwok_measured(lod="burst.yaml")
def test_misspelt(measured):
    pass

def test_reads_nothing(measured):
    pass
"""
JOB = """
apiVersion: batch/v1
kind: Job
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: x}]}}}
"""
POD = "{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: x}]}}"


def deployment(name: str, replicas: int) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "web", "image": "web"}]},
            },
        },
    }


def load(name: str, count: int, template: str = POD) -> Json:
    return {
        "kind": "Load",
        "metadata": {"name": name},
        "spec": {"arrivals": {"every": "20ms"}, "count": count, "create": [{"template": template}]},
    }


@pytest.fixture(scope="module")
def folder(usual: Installed) -> Path:
    """The work folder."""
    return usual.workdir


@pytest.fixture(scope="module")
def cluster(usual: Installed) -> Cluster:
    """A cluster with a few nodes, as a program reaches it."""
    usual.ok("scale", "node", "--replicas", "3", "--wait")
    return Cluster.open(usual.name, workdir=usual.workdir)


def reported(cluster: Installed, *words: str) -> Any:
    """Return what the command reports, as JSON."""
    return json.loads(cluster.ok("measure", *words, "-o", "json"))


def test_what_a_block_does_is_measured_until_nothing_moves(
    usual: Installed, cluster: Cluster, folder: Path
) -> None:
    with cluster.measure(by="owner", assertions="pods.bound == 5") as run:
        cluster.apply(deployment("first", 5))

    assert run.verdict.passed, run
    assert run.pods.created == run.pods.bound == run.pods.running == 5
    bound = run.pods.created_to_bound
    assert 0 <= bound.min <= bound.p50 <= bound.p99 <= bound.max < run.seconds
    assert run.groups["owner"]["ReplicaSet"].pods.bound == 5
    assert run.components.cpu["etcd"].max > 0
    run.expect("pods.created_to_bound.p99 < 10m", "api.bindings[code=201] == 5")
    assert run.report(folder / "run.json").is_file()
    words = ("--by", "owner", "--assert", "pods.bound == 5", "--assert",
             "pods.created_to_bound.p99 < 10m", "--assert", "api.bindings[code=201] == 5")  # fmt: skip
    assert run.to_dict() == reported(usual, str(run.record), *words)
    assert run.to_dict() == json.loads((folder / "run.json").read_text())


def test_loads_of_files_and_of_the_program_run_beside_the_block(
    cluster: Cluster, folder: Path
) -> None:
    file = folder / "burst.yaml"
    file.write_text(json.dumps(load("quick", 4)))

    with cluster.measure(load=[file, load("steady", 6)], by="load", seed=7) as run:
        cluster.apply(deployment("other", 2))

    assert run.verdict.passed, run
    assert run.arrivals == 10
    assert run.refusals == 0
    groups = run.groups["load"]
    assert groups["quick"].pods.bound == 4
    assert groups["steady"].pods.bound == 6
    assert run.pods.bound == 10  # with loads, only what they have made counts
    assert run.arrivals.lateness.count == 10
    assert "7" in run.conditions["seed"]


def test_a_run_ends_when_its_condition_holds(cluster: Cluster) -> None:
    over = threading.Event()
    with cluster.measure(until="pods.created >= 3", timeout=120.0) as run:
        cluster.apply(deployment("until", 3))
        over.set()

    assert over.is_set()
    assert run.pods.created >= 3


def test_a_block_that_fails_raises_its_error_and_leaves_a_record(
    cluster: Cluster, folder: Path
) -> None:
    run = cluster.measure()

    def fail() -> None:
        with run:
            assert repr(run) == "<measurement of 'kwok': goes on>"
            with pytest.raises(UsageError, match="known when the run is over"):
                assert run.pods.created
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert run.verdict.problems == ("it was interrupted before its end",)
    with pytest.raises(AssertionError, match="it was interrupted"):
        run.expect("pods.created == 0")
    with pytest.raises(ConflictError, match="begun already"):
        run.begin()
    assert run.record.is_file()


def test_what_the_cluster_lacks_is_said_before_the_block_begins(cluster: Cluster) -> None:
    run = cluster.measure(latency="ready=widgets,exists,Ready")

    with pytest.raises(NotFoundError, match="no kind 'widgets'"):
        run.begin()
    assert not run.is_over


def test_two_programs_measure_one_cluster_at_once(cluster: Cluster) -> None:
    with cluster.measure(selector="app=one") as one, cluster.measure(selector="app=two") as two:
        cluster.apply([deployment("one", 1), deployment("two", 2)])

    assert one.pods.bound == 1
    assert two.pods.bound == 2
    assert one.record != two.record


def test_faults_of_a_run_are_in_its_report(cluster: Cluster, tmp_path: Path) -> None:
    with cluster.measure() as run:
        cluster.apply(deployment("faulty", 2))
        # The first fault of a cluster: until now it does not serve the kind.
        fault = cluster.faults.inject("not-ready", count=1, seed=1)
        fault.clear()

    assert run.fleet.not_ready.max == 1
    page = run.report(tmp_path / "run.html").read_text()
    [band] = shown_data(page)["bands"]
    assert band["name"] == f"not-ready, 1 unit ({fault.name})"
    assert 0 < band["start"] < band["end"] <= run.seconds


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(cluster: Cluster) -> None:
    run = cluster.measure()
    assert run._repr_html_() is None
    with run:
        cluster.apply(deployment("noted", 1))
        assert run._repr_html_() is None

    shown = run._repr_html_()
    assert shown is not None
    [frame] = re.findall(r'srcdoc="([^"]*)"', shown)
    data = shown_data(html.unescape(frame))
    assert data["verdict"]["text"] == "PASSED"
    assert {each["name"] for each in data["headline"]} >= {"p99 until bound", "pods bound"}
    assert "<th>pods bound</th><td>1</td>" in shown


def shown_data(page: str) -> Any:
    """Return the document of a page."""
    [found] = re.findall(r'<script type="application/json" id="page-data">(.*?)</script>', page)
    return json.loads(found)


def block(page: str, heading: str, number: int = 0) -> str:
    """Return a block of Python below a heading of a page."""
    text = (DOCS / page).read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found: list[str] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    # A busy machine may be slower than what a page asks for.
    return re.sub(r"< \d+(s?)\b", r"< 6000\1", found[number]).replace("> 99%", "> 1%")


def test_what_the_pages_measure_is_measured(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("web.yaml").write_text(json.dumps(deployment("documented", 3)))
    reference: dict[str, Any] = {"cluster": cluster}
    exec(block("reference/python.md", "Measured runs"), reference)
    opened: dict[str, Any] = {}
    guide = block("how-to/measure-a-cluster.md", "Measure from Python, and in a notebook")
    monkeypatch.setattr(Cluster, "open", lambda _name: cluster)
    exec(guide, opened)

    assert reference["run"].pods.bound == 3
    assert opened["run"].groups["load"]["burst"].pods.bound == 100
    assert shown_data(Path("burst.html").read_text())["bands"]
    assert shown_data(Path("run.html").read_text())["verdict"]["level"] == "good"


def test_tests_are_measured_and_reports_of_those_that_fail_are_kept(
    usual: Installed, cluster: Cluster, folder: Path, tmp_path: Path
) -> None:
    page = "how-to/test-an-operator-with-pytest.md"
    documented = [block(page, "Assert how fast it is", number) for number in (0, 1)]
    (tmp_path / "test_page.py").write_text("\n".join(["import pytest", *documented]))
    (tmp_path / "web.yaml").write_text(json.dumps(deployment("web", 3)))
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "burst.yaml").write_text(json.dumps(load("burst", 5, JOB)))
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = --strict-markers\nasyncio_default_fixture_loop_scope = function\n"
    )
    options = ["--kwok-cluster", cluster.name, "--kwok-reports", "kept", "--kwok-log-lines", "0"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *options]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"KWOK_WORKDIR": str(folder)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr

    assert "4 failed, 5 passed, 1 error" in said, said
    # The figure explains the failure.
    assert re.search(r"where \S+ = pods.created_to_bound: count 3, p50 .*, p99 .*\.max", said), said
    assert "FAILED pods.created_to_bound.max < 0s: " in said
    assert "not drained: 1 pods unschedulable" in said
    assert "kwok_measured of test_misspelt: 'lod' is no word of a measurement" in said
    failed = ("test_misses", "test_expects", "test_is_stuck", "test_fails_before_it_reads")
    kept = {each.name for each in (tmp_path / "kept").iterdir()}
    assert kept == {
        f"test_it.py_{name}{end}" for name in failed for end in (".html", ".pods.csv", ".jsonl.gz")
    }
    assert f"report: {tmp_path / 'kept' / 'test_it.py_test_misses.html'}" in said
    report = (tmp_path / "kept" / "test_it.py_test_expects.html").read_text()
    assert r"pods.created_to_bound.max \u003c 0s" in report
    again = reported(usual, str(tmp_path / "kept" / "test_it.py_test_misses.jsonl.gz"))
    assert again["figures"]["pods.bound"]["value"]["value"] == 3

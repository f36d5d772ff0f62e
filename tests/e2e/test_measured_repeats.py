"""Runs that are repeated on a real cluster all begin with its state, and leave it as it was."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokctl.measure.repeating.start_state import MARK
from tests.support.installed import Installed, until
from tests.support.measured_runs import run_measure

pytestmark = [pytest.mark.components, pytest.mark.e2e]

NODES = 10
_EVENTS = "kubectl get events --field-selector reason=RegisteredNode -o name | wc -l"


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Iterator[Installed]:
    """A cluster with a few nodes, a Deployment, and a mark of its user."""
    installed.ok("create", "cluster", "--wait", "--nodes", str(NODES), "--etcd-fsync", "off")
    installed.deploy("there", replicas=2)
    installed.ok("snapshot", "mark", "mine")
    yield installed
    installed.ok("delete", "cluster")


LOAD = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {{name: hooked}}
spec:
  hooks: {{before: [{hook}]}}
  arrivals: {{every: 1s}}
  count: 1
  create:
  - template: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {{name: hooked}}
"""


def runs(pid: str) -> bool:
    """Return whether a process runs; one that has ended and was not waited for does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def pods(cluster: Installed) -> set[str]:
    return {each["metadata"]["uid"] for each in cluster.objects("pods")}


def marks(cluster: Installed) -> list[str]:
    return [each["name"] for each in json.loads(cluster.ok("snapshot", "list", "-o", "json"))]


def value(report: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in report["numbers"] if each["name"] == name)
    return found


def test_each_run_begins_with_the_same_state_and_the_cluster_is_left_as_it_was(
    cluster: Installed, tmp_path: Path
) -> None:
    before = pods(cluster)
    seen = tmp_path / "seen"
    script = (
        f"(kubectl get pods -o name | wc -l; {_EVENTS}) >> {seen};"
        "kubectl create deployment web --image=x --replicas=5;"
        "kubectl rollout status deployment web --timeout=120s;"
        f"{_EVENTS} >> {seen}"
    )
    words = ("--repeat", "2", "--warm-up", "1", "--record", str(tmp_path / "web.jsonl.gz"))

    out = run_measure(cluster, *words, "-o", "json", "--", "sh", "-ec", script).out

    report = json.loads(out)
    assert value(report, "pods.created")["values"] == [5, 5]
    assert value(report, "pods.created_to_bound.p50")["median"] > 0
    # Of kube-controller-manager's Events, one a node, none falls into a run.
    counts = [int(word) for word in seen.read_text().split()]
    runs = [counts[place : place + 3] for place in range(0, len(counts), 3)]
    assert [run[0] for run in runs] == [2, 2, 2]
    assert all(run[1] == run[2] >= NODES for run in runs)
    assert not [each for each in report["remarks"] if "not waited for" in each]
    assert {each.name for each in tmp_path.glob("*.gz")} == {
        "web-warm-up-1.jsonl.gz",
        "web-1.jsonl.gz",
        "web-2.jsonl.gz",
    }
    assert pods(cluster) == before
    assert marks(cluster) == ["mine"]


def test_an_interrupt_ends_the_run_and_the_cluster_is_as_it_was(
    cluster: Installed, tmp_path: Path
) -> None:
    before = pods(cluster)
    record = tmp_path / "web-1.jsonl"
    script = "kubectl create deployment web --image=x --replicas=5; exec sleep 300"
    words = ("--repeat", "3", "--record", str(tmp_path / "web.jsonl"), "-o", "json")
    process = cluster.start("measure", *words, "--", "sh", "-ec", script)
    until("a pod is recorded", lambda: record.exists() and '"p"' in record.read_text())

    assert process.stderr is not None
    process.stderr.close()  # Ctrl-C ends a reader such as `tee`, too
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)

    assert process.returncode == 1, out
    assert json.loads(out)["problems"][-2:] == [
        "web-1.jsonl: it was interrupted before its end",
        "there were 1 of 3 runs",
    ]
    assert pods(cluster) == before
    assert marks(cluster) == ["mine"]


def test_after_a_kill_nothing_runs_on_and_the_way_back_is_kept(
    cluster: Installed, tmp_path: Path
) -> None:
    before, pid = pods(cluster), tmp_path / "pid"
    script = f"kubectl create deployment web --image=x; echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 900"
    load = tmp_path / "load.yaml"
    load.write_text(LOAD.format(hook=json.dumps(f"sh -ec '{script}'")))
    words = ("measure", "--repeat", "2", "--load", str(load), "--allow-hooks", "--record")
    process = cluster.start(*words, str(tmp_path / "web.jsonl"))
    until("the hook runs", pid.exists)
    until("its pod is there", lambda: len(pods(cluster)) > len(before))
    hook = pid.read_text().strip()
    assert runs(hook)

    process.kill()
    process.communicate(timeout=120)

    until("the hook has ended", lambda: not runs(hook))
    refused = cluster.run(*words, str(tmp_path / "again.jsonl"))
    assert refused.code != 0
    assert f"snapshot rewind {MARK}" in refused.err
    assert len(pods(cluster)) > len(before), "nothing was changed"
    cluster.ok("snapshot", "rewind", MARK)
    assert pods(cluster) == before
    cluster.ok("snapshot", "drop", MARK)
    assert marks(cluster) == ["mine"]


def test_any_cluster_is_reset_by_a_command(cluster: Installed, tmp_path: Path) -> None:
    kubeconfig = cluster.workdir / "clusters" / cluster.name / "kubeconfig.yaml"
    elsewhere = Installed.within(tmp_path)
    words = (
        "--repeat", "2", "--kubeconfig", str(kubeconfig), "--record", str(tmp_path / "web.jsonl.gz"), "-o", "json",
        "--reset", "kubectl delete deployment web --ignore-not-found --wait",
    )  # fmt: skip

    command = ("--", "kubectl", "create", "deployment", "web", "--image=x")
    done = run_measure(elsewhere, *words, *command)
    cluster.delete("deployment", "web")

    report = json.loads(done.out)
    assert value(report, "pods.running")["values"] == [1, 1]
    assert marks(cluster) == ["mine"]
    assert MARK not in done.err


def test_two_commands_are_measured_in_turn_and_compared(cluster: Installed, tmp_path: Path) -> None:
    commands = (
        "--run-a", "kubectl create deployment web --image=x --replicas=3",
        "--run-b", "kubectl create deployment web --image=x --replicas=4",
    )  # fmt: skip
    words = ("--repeat", "1", "--record", str(tmp_path / "two.jsonl.gz"), "-o", "json")

    comparison = json.loads(run_measure(cluster, "compare", *commands, *words).out)
    assert [comparison[side]["records"] for side in "ab"] == [
        [str(tmp_path / f"two-{side}-1.jsonl.gz")] for side in "ab"
    ]
    assert {each["verdict"] for each in comparison["figures"]} == {"too few runs"}

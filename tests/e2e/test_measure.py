"""What `measure` says of real clusters, against what etcd and the audit log say."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from kwokctl.clusters.direct_etcd.access import own_objects
from kwokctl.clusters.state.home import Home
from kwokctl.dataplane.objects.stored_values import decoded
from kwokctl.etcd.kv.kv import KeyChange, prefix_end
from kwokctl.etcd.marks.present import current_revision
from kwokctl.host.paths import WorkDir
from kwokctl.host.processes.supervise import read_pid_file
from kwokctl.json_value import Json
from kwokctl.measure.histories.history_files import history_of
from kwokctl.measure.record.record_file import RecordReader
from kwokctl.measure.record.record_lines import Lines, PodChange, PodGone, PodSeen, RecordText
from kwokctl.measure.record.record_names import newest_record
from kwokctl.model import ClusterName
from kwokctl.progress import Silent
from tests.support.installed import Installed, until
from tests.support.measured_runs import report_in, report_of, run_measure, value

pytestmark = [pytest.mark.components, pytest.mark.e2e]

_GONE = "gone"
_PODS = b"/registry/pods/"
_LAST = "the-last"
"""A pod that is created when all else is over."""
State = tuple[str, str, str, bool] | str
"""The node, the phase, the true conditions, and whether it is being deleted; or that it is gone."""
Change = tuple[str, State]
"""The uid of a pod, and what it has become."""
_JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: batch}
spec:
  parallelism: 2
  completions: 4
  template: {spec: {restartPolicy: Never, containers: [{name: x, image: x}]}}
"""


@pytest.fixture(scope="module")
def cluster(usual: Installed) -> Installed:
    """A cluster with a few nodes."""
    usual.ok("scale", "node", "--replicas", "10", "--wait")
    return usual


def shell(text: str) -> tuple[str, ...]:
    return ("--", "sh", "-ec", text)


async def in_etcd(cluster: Installed, since: int) -> list[KeyChange]:
    """Return all changes of pods from a revision until the last pod."""
    found: list[KeyChange] = []
    async with own_objects(home_of(cluster), ClusterName(cluster.name)) as access:
        changes = access.kv.watch(_PODS, prefix_end(_PODS), since=since)
        async with aclosing(changes):
            async for batch in changes:
                found += batch
                if any(each.item.key.endswith(_LAST.encode()) for each in batch):
                    return found
    raise AssertionError("the watch has ended")


async def revision_of(cluster: Installed) -> int:
    async with own_objects(home_of(cluster), ClusterName(cluster.name)) as access:
        return await current_revision(access.kv)


def home_of(cluster: Installed) -> Home:
    return Home(
        workdir=WorkDir(cluster.workdir), cache=cluster.temporary / "cache", progress=Silent()
    )


def stored_states(changes: list[KeyChange]) -> list[Change]:
    """Return what etcd says of pods, in the order of its revisions."""
    uids: dict[bytes, str] = {}
    found: list[Change] = []
    for each in changes:
        key = each.item.key
        if key.endswith(_LAST.encode()):
            break
        if each.is_deleted:
            found.append((uids[key], _GONE))
            continue
        document = decoded(each.item.value).document
        uids[key] = document["metadata"]["uid"]
        found.append((uids[key], state_of(document)))
    return without_repetitions(found)


def state_of(pod: dict[str, Json]) -> State:
    status = pod.get("status", {})
    conditions = [c["type"] for c in status.get("conditions", ()) if c["status"] == "True"]
    going = "deletionTimestamp" in pod["metadata"]
    node = pod["spec"].get("nodeName", "")
    return node, status.get("phase", ""), ",".join(conditions), going


def recorded_states(lines: Iterator[Lines]) -> list[Change]:
    """Return what a record says of pods, in its order."""
    texts, uids = {0: ""}, dict[int, str]()
    found: list[Change] = []
    for line in lines:
        if isinstance(line, RecordText):
            texts[line.number] = line.text
        elif isinstance(line, PodSeen):
            uids[line.number] = line.uid
            state = (line.node, line.phase, texts[line.conditions], False)
            found.append((line.uid, state))
        elif isinstance(line, PodChange):
            state = (line.node, line.phase, texts[line.conditions], line.going)
            found.append((uids[line.number], state))
        elif isinstance(line, PodGone):
            found.append((uids[line.number], _GONE))
    return without_repetitions(found)


def without_repetitions(changes: list[Change]) -> list[Change]:
    latest: dict[str, State] = {}
    kept = []
    for uid, state in changes:
        if latest.get(uid) != state:
            kept.append((uid, state))
        latest[uid] = state
    return kept


def test_the_record_has_what_etcd_has_in_its_order(cluster: Installed, tmp_path: Path) -> None:
    since = asyncio.run(revision_of(cluster)) + 1
    (tmp_path / "job.yaml").write_text(_JOB)
    record = tmp_path / "run.jsonl.gz"

    report = report_of(
        cluster,
        record,
        *shell(
            "kubectl create deployment web --image=x --replicas=30;"
            f"kubectl apply -f {tmp_path}/job.yaml;"
            "kubectl wait --for=condition=complete job/batch --timeout=120s;"
            "kubectl rollout status deployment web --timeout=120s;"
            "kubectl delete deployment web --wait=false"
        ),
    )
    cluster.run_pod(_LAST)
    changes = asyncio.run(in_etcd(cluster, since))
    cluster.delete("pod", _LAST, "--wait=false")
    cluster.delete("job", "batch", "--wait=false")

    expected = stored_states(changes)
    assert recorded_states(RecordReader(record).lines()) == expected
    uids = {uid for uid, _ in expected}
    counts = {
        name: value(report, f"pods.{name}")["value"] for name in ("created", "bound", "deleted")
    }
    assert counts == {"created": len(uids), "bound": len(uids), "deleted": 30}
    assert value(report, "jobs.done")["value"] == 1
    assert report["verdict"]["passed"]


def test_a_record_gives_the_same_report_again(cluster: Installed, tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl.gz"
    command = shell("kubectl create job again --image=x; kubectl delete job again --wait=false")

    report = report_of(cluster, record, *command)
    again = report_in(run_measure(cluster, str(record), "-o", "json").out)

    assert again == report


def test_whole_objects_give_the_same_counts(cluster: Installed, tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl.gz"
    command = ("--", "kubectl", "create", "deployment", "whole", "--image=x", "--replicas=4")

    report = report_of(cluster, record, "--full", *command)
    cluster.delete("deployment", "whole", "--wait=false")
    whole = report_in(run_measure(cluster, str(tmp_path / "run.yaml.gz"), "-o", "json").out)

    for figure in ("pods.created", "pods.bound", "pods.running", "pods.ready"):
        assert value(whole, figure) == value(report, figure)
    assert value(whole, "pods.created_to_bound")["count"] == 4


def test_what_is_not_scheduled_keeps_a_run_from_draining(
    cluster: Installed, tmp_path: Path
) -> None:
    pod = '{"spec": {"containers": [{"name": "x", "image": "x", "resources": {"requests": {"cpu": "9k"}}}]}}'
    command = shell(f"kubectl run stuck --image=x --overrides='{pod}'")
    words = ("--timeout", "5s", "--assert", "pods.created == 1", *command)

    report = report_of(cluster, tmp_path / "1.gz", *words, code=1)
    cluster.delete("pod", "stuck", "--wait=false", "--force")
    allowed = ("--timeout", "5s", "--allow-undrained", *command)
    other = report_of(cluster, tmp_path / "2.gz", *allowed)
    cluster.delete("pod", "stuck", "--wait=false", "--force")

    assert report["verdict"]["problems"] == ["not drained: 1 pods unschedulable (Insufficient cpu)"]
    assert report["assertions"][0]["passed"]
    assert value(report, "pods.unschedulable")["detail"] == {"Insufficient cpu": 1}
    assert (other["verdict"]["passed"], other["verdict"]["drained"]) == (True, False)


_DEPLOYMENTS = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: services}
spec:
  arrivals: {every: 100ms}
  count: 3
  create:
  - template: |
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: "{{ .name }}"}
      spec:
        selector: {matchLabels: {app: x}}
        template: {metadata: {labels: {app: x}}, spec: {containers: [{name: x, image: x}]}}
"""


def test_a_deployment_that_no_controller_has_seen_keeps_a_run_from_draining(
    cluster: Installed, tmp_path: Path
) -> None:
    (tmp_path / "load.yaml").write_text(_DEPLOYMENTS)
    words = ("--load", str(tmp_path / "load.yaml"), "--timeout", "8s")
    with cluster.paused("kube-controller-manager"):
        report = report_of(cluster, tmp_path / "run.gz", *words, code=1)
    cluster.ok("load", "clear")

    stopped, not_drained = report["verdict"]["problems"]
    assert stopped.startswith("invalid: a signal (SIGSTOP) has stopped kube-controller-manager for")
    assert not_drained == "not drained: 3 Deployments at which no controller has looked"


def test_without_a_command_a_recording_goes_on_until_it_is_interrupted(
    cluster: Installed, tmp_path: Path
) -> None:
    record = tmp_path / "run.jsonl"
    process = cluster.start("measure", "--record", str(record), "-n", "default", "-o", "json")
    until("everything is watched", lambda: record.exists() and '"begin"' in record.read_text())
    cluster.run_pod("one")
    cluster.wait_for("Ready", "pod/one")
    until("the pod is recorded", lambda: '"Running"' in record.read_text())

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    cluster.delete("pod", "one", "--wait=false")

    assert process.returncode == 0, err
    assert value(json.loads(out), "pods.running")["value"] == 1


def test_a_run_ends_when_what_was_asked_for_holds(cluster: Installed, tmp_path: Path) -> None:
    cluster.deploy("before", replicas=2)

    words = ("-l", "app=before", "--until", "pods.running >= 5")
    scaling = ("--", "kubectl", "scale", "deployment", "before", "--replicas=5")
    report = report_of(cluster, tmp_path / "run.gz", *words, *scaling)
    cluster.delete("deployment", "before", "--wait=false")

    assert value(report, "pods.created")["value"] == 3
    assert value(report, "pods.running")["value"] >= 5
    assert report["verdict"]["passed"]


def test_any_cluster_is_measured_by_its_kubeconfig(cluster: Installed, tmp_path: Path) -> None:
    elsewhere = Installed.within(tmp_path)
    kubeconfig = cluster.workdir / "clusters" / cluster.name / "kubeconfig.yaml"
    words = (
        "--kubeconfig",
        str(kubeconfig),
        "--latency",
        "account=serviceaccounts,exists,.metadata",
    )
    command = ("--", "kubectl", "create", "deployment", "other", "--image=x", "--replicas=3")

    report = report_of(elsewhere, tmp_path / "run.gz", *words, *command)
    cluster.delete("deployment", "other", "--wait=false")

    assert value(report, "pods.running")["value"] == 3
    assert report["conditions"]["cluster"] == f"the cluster of '{kubeconfig}'"
    assert "runtime" not in report["conditions"]
    assert value(report, "latency.account")["kind"] == "missing"


_LOAD = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: jobs}
spec:
  arrivals: {every: 200ms}
  count: 4
  create:
  - template: |
      apiVersion: batch/v1
      kind: Job
      metadata: {name: "{{ .name }}"}
      spec:
        template: {spec: {restartPolicy: Never, containers: [{name: x, image: x}]}}
---
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: refused}
spec:
  arrivals: {at: [0s, 0s]}
  create:
  - template: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: same}
"""


def test_of_loads_only_what_they_have_made_counts(cluster: Installed, tmp_path: Path) -> None:
    (tmp_path / "load.yaml").write_text(_LOAD)
    record = tmp_path / "run.gz"
    words = ("--load", str(tmp_path / "load.yaml"), "--by", "load", "--assert", "refusals == 0")

    report = report_of(
        cluster, record, *words, "--", "kubectl", "run", "other", "--image=x", code=1
    )
    cluster.delete("pod", "other", "--wait=false")
    cluster.ok("load", "clear")

    assert value(report, "pods.created")["value"] == 4
    assert value(report, "jobs.done")["value"] == 4
    assert value(report, "jobs.jct_from_submission")["count"] == 4
    assert value(report, "arrivals") == {
        "kind": "number",
        "value": 6,
        "detail": {"jobs": 4, "refused": 2},
        "note": "",
    }
    assert value(report, "refusals")["detail"] == {"AlreadyExists": 1}
    assert list(report["groups"]["load"]) == ["jobs"]
    assert report["verdict"]["problems"] == ["1 of 1 assertions failed"]
    found = history_of(record)
    assert len(found.pods) == 5


def test_a_recording_in_the_background_goes_on_until_it_is_stopped(
    cluster: Installed, tmp_path: Path
) -> None:
    record = tmp_path / "afternoon.jsonl.gz"
    words = ("--record", str(record), "--by", "label:app", "--latency", "up=pods,exists,Ready")
    cluster.ok("measure", "start", *words)
    said = cluster.refused("measure", "start", "--record", str(tmp_path / "other.gz"))
    assert "is under way already" in said

    cluster.deploy("afternoon", replicas=3)
    until("three are recorded", lambda: record.exists() and _running(record) == 3)
    asserted = ("--assert", "latency.up.count == 3", "--assert", "pods.running == 3")
    out = run_measure(cluster, "stop", "--by", "label:app", "-o", "json", *asserted).out
    cluster.delete("deployment", "afternoon", "--wait=false")

    report = json.loads(out)
    assert report["record"] == str(record)
    assert list(report["groups"]["label:app"]) == ["afternoon"]
    assert [each["passed"] for each in report["assertions"]] == [True, True]
    assert "there is no recording" in cluster.refused("measure", "stop")


def test_what_a_recording_that_was_killed_has_left_is_named_and_can_be_reported(
    cluster: Installed,
) -> None:
    cluster.ok("measure", "start")
    folder = cluster.workdir / "measurements"
    recording = read_pid_file(folder / f"{cluster.name}.pid")
    assert recording is not None
    os.kill(recording.pid, signal.SIGKILL)
    until("it has ended", lambda: not recording.is_alive)

    said = cluster.refused("measure", "stop")

    record = newest_record(folder, cluster.name)
    assert "has ended by itself" in said
    assert f"kwokctl measure {record}" in said
    assert "the end of the record is missing" in cluster.run("measure", str(record)).out


def _running(record: Path) -> int:
    return sum(pod.running is not None for pod in history_of(record).pods.values())


def test_a_recording_that_cannot_begin_says_why(cluster: Installed, tmp_path: Path) -> None:
    (tmp_path / "taken.gz").touch()
    (tmp_path / "file").touch()

    taken = cluster.refused("measure", "start", "--record", str(tmp_path / "taken.gz"))
    said = cluster.refused("measure", "start", "--record", str(tmp_path / "file/run.gz"))

    assert "exists already" in taken
    assert "the recording has ended at once" in said
    assert "file" in said
    assert "there is no recording" in cluster.refused("measure", "stop")


def test_a_run_fails_when_its_cluster_is_deleted(cluster: Installed, tmp_path: Path) -> None:
    """The last test: the others need the cluster."""
    nowhere = '--overrides={"spec": {"nodeSelector": {"no": "such"}}}'
    command = ("kubectl", "run", "waiting", "--image=x", nowhere)
    process = cluster.start("measure", "--record", str(tmp_path / "run.gz"), "--", *command)
    until("a pod waits for ever", lambda: "waiting" in str(cluster.objects("pods")))

    cluster.ok("delete", "cluster")
    _, err = process.communicate(timeout=120)

    assert process.returncode == 1
    assert "the cluster was deleted while it was measured" in err

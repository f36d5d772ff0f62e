"""What `measure` says of the control plane, against the texts of metrics and the audit log that a test reads itself."""

import gzip
import json
import re
import ssl
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokctl.host.paths import ClusterPaths
from tests.support import changing
from tests.support.audit_policy import log_of
from tests.support.installed import Installed
from tests.support.measured_runs import report_in, report_of, run_measure, value

pytestmark = [pytest.mark.components, pytest.mark.e2e]

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
"""
_PODS = 40
_BINDING = {"resource": "pods", "subresource": "binding", "verb": "POST", "code": "201"}
_CREATED = {"resource": "pods", "subresource": "", "verb": "POST"}
_LATENCY = "apiserver_request_sli_duration_seconds_bucket"
Text = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def cluster(audited_by_api: Installed) -> Installed:
    audited_by_api.ok("scale", "node", "--replicas", "10", "--wait")
    return audited_by_api


def paths(cluster: Installed) -> ClusterPaths:
    return ClusterPaths(cluster.workdir / "clusters" / cluster.name)


def metrics(cluster: Installed, component: str) -> Text:
    """Return the samples in the text of a component, by name and labels."""
    found: Text = {}
    for line in _text(cluster, component).splitlines():
        match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
        if match and match[3] != "NaN":
            labels = frozenset(re.findall(r'(\w+)="([^"]*)"', match[2] or ""))
            found[match[1], labels] = float(match[3])
    return found


def _text(cluster: Installed, component: str) -> str:
    if component == "kube-apiserver":
        return cluster.kubectl("get", "--raw", "/metrics")
    described = json.loads(cluster.ok("get", "components", "-o", "json"))
    (port,) = (each["ports"][0]["hostPort"] for each in described if each["name"] == component)
    pki, client = paths(cluster).pki, "etcd-client" if component == "etcd" else "admin"
    context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    context.load_cert_chain(pki / f"{client}.crt", pki / f"{client}.key")
    url = f"https://localhost:{port}/metrics"
    with urllib.request.urlopen(url, context=context) as answer:
        text: str = answer.read().decode()
    return text


def total(text: Text, name: str, labels: dict[str, str]) -> float:
    wanted = frozenset(labels.items())
    return sum(number for (each, of), number in text.items() if each == name and wanted <= of)


def counted(before: Text, after: Text, name: str, **labels: str) -> float:
    return total(after, name, labels) - total(before, name, labels)


def test_figures_are_those_of_the_texts_before_and_after(
    cluster: Installed, tmp_path: Path
) -> None:
    names = ("kube-apiserver", "kube-scheduler", "etcd")
    record = tmp_path / "run.gz"
    asked = (
        *("--metric", 'workqueue_depth{name="deployment"} max'),
        *("--metric", "scheduler_pod_scheduling_attempts_count delta"),
        *("--metric", "etcd_disk_wal_fsync_duration_seconds p99"),
        *("--assert", "metrics.workqueue_depth >= 0"),
        *("--assert", "scheduler.pending[queue=active].max < 1000"),
        *("--assert", "components.cpu[component=kube-apiserver].mean > 0"),
        *("--assert", "api.bindings[code=201] == 40"),
    )
    before = {name: metrics(cluster, name) for name in names}
    command = ("--", "kubectl", "create", "deployment", "web", "--image=x", f"--replicas={_PODS}")
    report = report_of(cluster, record, *asked, *command)
    after = {name: metrics(cluster, name) for name in names}
    again = report_in(run_measure(cluster, str(record), "-o", "json").out)
    cluster.delete("deployment", "web")

    _check_api_server(report, before["kube-apiserver"], after["kube-apiserver"])
    _check_scheduler(report, before["kube-scheduler"], after["kube-scheduler"])
    _check_etcd(report, before["etcd"], after["etcd"])
    assert {*value(report, "components.memory")["parts"]} == set(
        report["conditions"]["components"].split(",")
    )
    assert value(report, "api.held_back")["why"] == "flow control is off in this cluster"
    assert [each["passed"] for each in report["assertions"]] == [True] * 4
    assert again["figures"] == report["figures"]


def _check_api_server(report: dict[str, Any], before: Text, after: Text) -> None:
    bound = counted(before, after, "apiserver_request_total", **_BINDING)
    assert value(report, "api.bindings")["detail"]["201"] == bound == _PODS
    pods = value(report, "api.mutating")["parts"]["POST pods"]
    assert pods["count"] == counted(before, after, _LATENCY, **_CREATED, le="+Inf") == _PODS
    for share in (50, 90, 99):
        below = {
            bound: counted(before, after, _LATENCY, **_CREATED, le=bound) for bound in _bounds()
        }
        reached = [bound for bound, count in below.items() if count >= _PODS * share / 100]
        assert pods[f"p{share}"] == float(reached[0])


def _check_scheduler(report: dict[str, Any], before: Text, after: Text) -> None:
    tried = counted(before, after, "scheduler_schedule_attempts_total", result="scheduled")
    assert value(report, "scheduler.attempts")["detail"] == {"scheduled": tried}
    placed = counted(before, after, "scheduler_pod_scheduling_attempts_count")
    assert value(report, "metrics.scheduler_pod_scheduling_attempts_count")["value"] == placed


def _check_etcd(report: dict[str, Any], before: Text, after: Text) -> None:
    sizes = [total(text, "etcd_mvcc_db_total_size_in_bytes", {}) for text in (before, after)]
    size = value(report, "etcd.size")
    assert sizes[0] <= size["min"] <= size["last"] <= sizes[1]
    written = counted(before, after, "etcd_disk_wal_fsync_duration_seconds_count")
    assert _PODS < value(report, "etcd.fsync")["count"] <= written
    fsync = value(report, "metrics.etcd_disk_wal_fsync_duration_seconds")
    assert fsync["value"] == value(report, "etcd.fsync")["p99"]


def _bounds() -> list[str]:
    numbers = "0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3 4 5 6 8 10 15 20 30 45 60"
    return numbers.split()


def test_clients_are_told_apart_and_profiles_are_kept(cluster: Installed, tmp_path: Path) -> None:
    (tmp_path / "load.yaml").write_text(_LOAD)
    cluster.create(changing.config_map("stale"))
    stale = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "stale", "resourceVersion": "1"}}'
    script = (
        f"echo '{stale}' | kubectl replace -f - || true; "
        "kubectl get nodes nobody || true; kubectl get nodes --as=somebody || true"
    )
    log = log_of(cluster)
    start = log.stat().st_size
    words = ("--load", str(tmp_path / "load.yaml"), "--profile-components")
    report = report_of(cluster, tmp_path / "run.gz", *words, "--", "sh", "-c", script)
    lines = log.read_bytes()[start:].splitlines()
    cluster.ok("load", "clear")

    requests, conflicts, refusals = (
        value(report, f"clients.{name}")["detail"] for name in ("requests", "conflicts", "refusals")
    )
    own = Counter(event["responseStatus"]["code"] for event in _events(lines, "kubectl/"))
    assert requests["kubectl"] == own.total()
    assert conflicts["kubectl"] == own[409] == 1
    assert refusals["kubectl"] == own[404] + own[403] == 2
    assert requests["loads"] >= 4
    assert requests["the recorder"] > 0
    jobs = [event for event in _events(lines, "") if event["userAgent"].endswith(":job-controller")]
    assert requests["kube-controller-manager/job-controller"] == len(jobs) > 4
    assert conflicts["loads"] == refusals["loads"] == 0
    profiles = sorted((tmp_path / "run.profiles").iterdir())
    assert {each.name.rpartition("-")[0] for each in profiles} == {
        "kube-apiserver", "kube-controller-manager", "kube-scheduler",
    }  # fmt: skip
    assert all(len(gzip.decompress(each.read_bytes())) > 1000 for each in profiles)
    (said,) = (each for each in report["verdict"]["remarks"] if each.startswith("CPU profiles"))
    assert "0 of etcd (it answers 404)" in said


def _events(lines: list[bytes], agent: str) -> Iterator[dict[str, Any]]:
    for line in lines:
        event = json.loads(line)
        if event["userAgent"].startswith(agent) and event["verb"] != "watch":
            yield event


def test_of_a_cluster_named_by_its_kubeconfig_only_the_api_server_is_seen(
    cluster: Installed, tmp_path: Path
) -> None:
    elsewhere = Installed.within(tmp_path)
    kubeconfig = ("--kubeconfig", str(paths(cluster).kubeconfig))
    command = ("--", "kubectl", "create", "deployment", "other", "--image=x", "--replicas=3")

    report = report_of(elsewhere, tmp_path / "run.gz", *kubeconfig, *command)
    named = ("--metric", "kube-scheduler:scheduler_pending_pods max")
    said = elsewhere.run("measure", *kubeconfig, *named, "--", "true")
    cluster.delete("deployment", "other", "--wait=false")

    assert value(report, "api.bindings")["value"] == 3
    reasons = {
        "scheduler.attempts": "kube-scheduler: it cannot be reached by a kubeconfig alone",
        "etcd.fsync": "etcd: it cannot be reached by a kubeconfig alone",
        "components.cpu": "the components are not processes that this host can see",
    }
    assert {name: value(report, name)["why"] for name in reasons} == reasons
    assert "--kube-audit-policy" in value(report, "clients.requests")["why"]
    assert report["verdict"]["passed"]
    assert (said.code, "choose from: kube-apiserver" in said.err) == (2, True)


def test_a_component_that_is_killed_makes_the_run_invalid(
    cluster: Installed, tmp_path: Path
) -> None:
    script = f"kill -KILL {cluster.pids()['kube-scheduler']}"

    report = report_of(cluster, tmp_path / "run.gz", "--", "sh", "-c", script, code=1)
    cluster.ok("start", "cluster")

    assert not report["verdict"]["valid"]
    problem = "invalid: kube-scheduler ended while it was measured"
    assert report["verdict"]["problems"][0].startswith(problem)
    assert value(report, "scheduler.attempts")["kind"] == "missing"

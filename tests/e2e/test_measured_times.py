"""The times of a record, against those of the API server's audit log."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kwokctl.measure.figures.values import percentile
from kwokctl.measure.histories.history import History
from kwokctl.measure.histories.history_files import history_of
from tests.support.installed import Installed

pytestmark = [pytest.mark.components, pytest.mark.e2e]

_POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create]
  resources: [{group: "", resources: [pods]}]
- level: Metadata
  verbs: [create]
  resources: [{group: "", resources: [pods/binding]}]
- level: None
"""
_LOAD = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: pods}
spec:
  arrivals: {poisson: RATE/s}
  count: COUNT
  create:
  - template: |
      apiVersion: v1
      kind: Pod
      metadata: {name: "{{ .name }}"}
      spec: {containers: [{name: x, image: x}]}
"""
_RATES = (20, 10, 5, 2)
"""Pods a second, from which the first is taken that the machine sustains."""
_SECONDS = 8
_QUICK = 0.1
"""Seconds in which nine of ten probes are answered where a machine sustains a rate."""


@pytest.fixture(scope="module", params=["etcd", "api"])
def audited(installed: Installed, request: pytest.FixtureRequest) -> Iterator[Installed]:
    """A cluster with an audit log, for each way in which fake kubelets write."""
    cluster = installed.called(f"by-{request.param}")
    policy = installed.folder / "audit.yaml"
    policy.write_text(_POLICY)
    words = ("--kube-audit-policy", str(policy), "--data-path", request.param)
    cluster.ok("create", "cluster", "--wait", "--nodes", "10", *words)
    yield cluster
    cluster.ok("delete", "cluster")


def sustained(cluster: Installed, folder: Path) -> History:
    """Return a run at the highest rate that the machine sustains."""
    for rate in _RATES:
        text = _LOAD.replace("RATE", str(rate)).replace("COUNT", str(rate * _SECONDS))
        (folder / "load.yaml").write_text(text)
        record = folder / f"{rate}.jsonl.gz"
        words = ("--load", str(folder / "load.yaml"), "--record", str(record))
        done = cluster.run("measure", *words, "-o", "json", "--assert", "arrivals.late == 0")
        report = json.loads(done.out)
        cluster.ok("load", "clear")
        answer = report["figures"]["api.answer"]["value"]["p90"]
        if report["verdict"]["passed"] and answer < _QUICK and not history_of(record).gaps:
            return history_of(record)
    pytest.skip("this machine sustains no rate")


def audit(cluster: Installed) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the events of creations by uid, and those of bindings by the name of the pod."""
    log = cluster.workdir / "clusters" / cluster.name / "logs/audit.log"
    events = [json.loads(line) for line in log.read_text().splitlines()]
    created, bound = {}, {}
    for event in events:
        reference = event["objectRef"]
        if reference.get("subresource") == "binding":
            bound[reference["name"]] = event
        elif event["responseStatus"]["code"] == 201:
            created[event["responseObject"]["metadata"]["uid"]] = event
    return created, bound


def microseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1e6)


def test_times_of_receipt_agree_with_the_audit_log(audited: Installed, tmp_path: Path) -> None:
    found = sustained(audited, tmp_path)
    created, bound = audit(audited)
    wall = microseconds(found.header.wall)

    ours, shortest, longest, delays = [], [], [], []
    for pod in found.pods_of_run():
        assert pod.created is not None
        assert pod.bound is not None
        creation, binding = created[pod.uid], bound[pod.name]
        for event, time in ((creation, pod.created), (binding, pod.bound)):
            delays.append(wall + time // 1000 - microseconds(event["requestReceivedTimestamp"]))
        ours.append((pod.bound - pod.created) / 1e9)
        # A request has done what it does between these two; on a busy machine they are far apart.
        (began, made), (asked, done) = (
            (microseconds(each["requestReceivedTimestamp"]), microseconds(each["stageTimestamp"]))
            for each in (creation, binding)
        )
        shortest.append((asked - made) / 1e6)
        longest.append((done - began) / 1e6)

    assert len(ours) == len(found.arrivals)
    assert min(delays) > 0
    for share, part, least in ((50, 0.10, 0.010), (99, 0.20, 0.040)):
        mine, low, high = (percentile(sorted(times), share) for times in (ours, shortest, longest))
        off = max(part * high, least)
        assert low - off <= mine <= high + off, (share, mine, low, high)

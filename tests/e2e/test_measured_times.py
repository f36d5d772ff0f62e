"""The times of a record, against those of the API server's audit log."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kwokctl.measure.figures.values import percentile
from kwokctl.measure.histories.history import History
from kwokctl.measure.histories.history_files import history_of
from tests.support.audit_policy import creations
from tests.support.installed import Installed

pytestmark = [pytest.mark.components, pytest.mark.e2e]

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
    created = {
        event["responseObject"]["metadata"]["uid"]: event
        for event in creations(cluster, "pods")
        if event["responseStatus"]["code"] == 201
    }
    bound = {event["objectRef"]["name"]: event for event in creations(cluster, "pods", "binding")}
    return created, bound


def microseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1e6)


def test_times_agree_with_the_audit_log_where_fake_kubelets_write_to_etcd(
    audited_by_etcd: Installed, tmp_path: Path
) -> None:
    assert_times_agree(audited_by_etcd, tmp_path)


def test_times_agree_with_the_audit_log_where_fake_kubelets_use_the_api(
    audited_by_api: Installed, tmp_path: Path
) -> None:
    assert_times_agree(audited_by_api, tmp_path)


def assert_times_agree(cluster: Installed, folder: Path) -> None:
    """Check that times of receipt are those of the audit log, in a run that the machine sustains."""
    cluster.ok("scale", "node", "--replicas", "10", "--wait")
    found = sustained(cluster, folder)
    created, bound = audit(cluster)
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

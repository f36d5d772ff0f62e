"""The published experiment as the example has it: a queue grows where Jobs come more often than nodes can run them.

It takes minutes in which next to nothing is computed, so its parts run side by side, each on nodes of its own.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.scaling.scale_request import LABEL
from tests.support.installed import Installed

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900)]

_EXAMPLE = Path(__file__).parents[2] / "examples/measure/arrivals"
_LIMITS = ("--assert-file", str(_EXAMPLE / "limits.yaml"))
_FEWER = {"count: 25": "count: 3"}
_POD = "restartPolicy: Never"
_SECONDS = 600
"""In which a part ends on a busy machine."""
_ROUND = 20.0
"""Seconds until four Jobs have come where there is no queue: nodes that are taken for longer make one."""
_WITHOUT_QUEUE, _QUEUE, _GANGS = "jobs", "jobs-with-a-queue", "gangs"

Parts = dict[str, subprocess.Popen[str]]


@pytest.fixture(scope="module")
def parts(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    """Begin all parts, each on four nodes with eight GPUs, whose pods live as on a kubelet."""
    folder = tmp_path_factory.mktemp("arrivals")
    # A scheduler tries pods of a queue again whenever any pod ends: the queue has a scheduler of its own.
    fleets = {"fleet": (_WITHOUT_QUEUE, _GANGS), "queue": (_QUEUE,)}
    begun: Parts = {}
    for cluster, names in fleets.items():
        fleet = installed.called(cluster)
        fleet.ok("create", "cluster", "--wait", "--stage", "pod-kubelet", "--etcd-fsync", "off")
        for name in names:
            words = ("--replicas=4", "--param", '.allocatable["nvidia.com/gpu"] = "8"', "--wait")
            fleet.ok("scale", "node", name, *words)
            begun[name] = begin(fleet, folder, name, *(_LIMITS if name == _WITHOUT_QUEUE else ()))
    yield begun
    for each in begun.values():
        each.kill()
        each.wait()
    for cluster in fleets:
        installed.called(cluster).ok("delete", "cluster")


def begin(installed: Installed, folder: Path, name: str, *words: str) -> subprocess.Popen[str]:
    """Measure a load of the example, which runs on the nodes of its name only."""
    text = (_EXAMPLE / f"{name}.yaml").read_text("utf-8")
    for slow, fast in _FEWER.items():
        text = text.replace(slow, fast)
    text = text.replace("metadata: {name: jobs}", f"metadata: {{name: {name}}}")
    own = f"nodeSelector: {{{LABEL}: {name}}}"
    before, _, after = text.partition(_POD)
    indent = before.rpartition("\n")[2]
    load = folder / f"{name}.yaml"
    load.write_text(f"{before}{own}\n{indent}{_POD}{after}")
    record = ("--record", str(folder / f"{name}.gz"))
    return installed.start("measure", "--load", str(load), *record, "-o", "json", *words)


def report_of(parts: Parts, name: str, *, demands_time: bool = True) -> dict[str, Any]:
    """Return the report of a part, once it has ended; skip if the machine had no time for it."""
    out, said = parts[name].communicate(timeout=_SECONDS)
    report: dict[str, Any] = json.loads(out)
    if demands_time:
        _demand_time(report)
    assert parts[name].returncode == 0, said
    return report


def _demand_time(report: dict[str, Any]) -> None:
    """Skip where the machine was so busy that pods took their nodes for longer than the experiment has them."""
    longest = value(report, "jobs.occupancy")["p90"]
    if longest > _ROUND:
        pytest.skip(
            f"this machine is too busy: nodes were taken for {longest:.1f} s by pods of 18 s"
        )


def value(report: dict[str, Any], figure: str) -> Any:
    return report["figures"][figure]["value"]


def test_a_gang_is_bound_when_its_last_pod_is(parts: Parts) -> None:
    report = report_of(parts, _GANGS, demands_time=False)

    assert value(report, "pods.bound")["value"] == 6
    assert value(report, "jobs.scheduling_latency")["count"] == 3
    first, last = (
        value(report, f"jobs.{name}")["max"] for name in ("first_bound", "scheduling_latency")
    )
    assert first <= last


def test_a_queue_grows_where_jobs_come_more_often_than_they_end(parts: Parts) -> None:
    report = report_of(parts, _QUEUE)

    assert value(report, "jobs.done")["value"] == 50
    assert 6 <= value(report, "jobs.scheduling_growth")["value"] <= 16
    jct, latency = (value(report, f"jobs.{name}")["mean"] for name in ("jct", "scheduling_latency"))
    assert jct > latency + 18


def test_without_a_queue_the_last_jobs_wait_as_short_as_the_first(parts: Parts) -> None:
    report = report_of(parts, _WITHOUT_QUEUE)

    assert value(report, "jobs.done")["value"] == 50
    assert -1 <= value(report, "jobs.scheduling_growth")["value"] <= 1
    assert value(report, "jobs.occupancy")["p50"] >= 18
    bound = value(report, "gangs.queue_free_inter_arrival")
    # The condition counts all nodes of the cluster, of which the Jobs have half.
    assert bound["value"] == pytest.approx(value(report, "gangs.occupancy")["mean"] / 8)

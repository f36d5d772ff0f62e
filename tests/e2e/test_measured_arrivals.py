"""The example of arrivals, faster and with fewer Jobs: a queue grows where Jobs come too often."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.installed import Installed

pytestmark = [pytest.mark.components, pytest.mark.e2e]

_EXAMPLE = Path(__file__).parents[2] / "examples/measure/arrivals"
_FASTER = {"run=18s": "run=6s", "count: 50": "count: 20", "count: 25": "count: 3"}
_RHYTHMS = {"every: 5s": "every: 2500ms", "every: 4.25s": "every: 1s"}


@pytest.fixture(scope="module")
def fleet(installed: Installed) -> Iterator[Installed]:
    """Four nodes with eight GPUs, whose pods live as on a kubelet."""
    installed.ok("create", "cluster", "--wait", "--stage", "pod-kubelet")
    gpus = '.allocatable["nvidia.com/gpu"] = "8"'
    installed.ok("scale", "node", "gpu", "--replicas=4", "--param", gpus, "--wait")
    yield installed
    installed.ok("delete", "cluster")


def measured(fleet: Installed, folder: Path, name: str, *words: str) -> dict[str, Any]:
    text = (_EXAMPLE / f"{name}.yaml").read_text("utf-8")
    for slow, fast in {**_FASTER, **_RHYTHMS}.items():
        text = text.replace(slow, fast)
    (folder / "load.yaml").write_text(text)
    record = ("--record", str(folder / f"{name}.gz"))
    report = fleet.ok("measure", "--load", str(folder / "load.yaml"), *record, "-o", "json", *words)
    fleet.ok("load", "clear")
    found: dict[str, Any] = json.loads(report)
    return found


def value(report: dict[str, Any], figure: str) -> Any:
    return report["figures"][figure]["value"]


def test_without_a_queue_the_last_jobs_wait_as_short_as_the_first(
    fleet: Installed, tmp_path: Path
) -> None:
    limits = str(_EXAMPLE / "limits.yaml")

    report = measured(fleet, tmp_path, "jobs", "--assert-file", limits)

    assert value(report, "jobs.done")["value"] == 20
    assert -1 < value(report, "jobs.scheduling_growth")["value"] < 1
    assert value(report, "jobs.scheduling_latency")["mean"] < 1
    assert value(report, "jobs.occupancy")["p50"] >= 6
    bound = value(report, "gangs.queue_free_inter_arrival")
    assert bound["note"] == "1 of 4 nodes for a gang"
    assert bound["value"] == pytest.approx(value(report, "gangs.occupancy")["mean"] / 4)


def test_a_queue_grows_where_jobs_come_more_often_than_they_end(
    fleet: Installed, tmp_path: Path
) -> None:
    report = measured(fleet, tmp_path, "jobs-with-a-queue")

    assert value(report, "jobs.done")["value"] == 20
    jct, latency = (value(report, f"jobs.{name}")["mean"] for name in ("jct", "scheduling_latency"))
    # The scheduler lets some of the first Jobs wait longest: with so few, growth says little.
    assert latency > 1
    assert jct > latency + 6


def test_a_gang_is_bound_when_its_last_pod_is(fleet: Installed, tmp_path: Path) -> None:
    report = measured(fleet, tmp_path, "gangs")

    assert value(report, "pods.bound")["value"] == 6
    assert value(report, "jobs.scheduling_latency")["count"] == 3
    first, last = (
        value(report, f"jobs.{name}")["max"] for name in ("first_bound", "scheduling_latency")
    )
    assert first <= last

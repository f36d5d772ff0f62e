"""Schedules of faults in a real cluster: played by their plan, whatever reacts, is killed, or is put back."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokctl.expr import yaml
from kwokctl.faults.storms.plan_pages import plan_page, read_planned
from kwokctl.faults.storms.storm_plan import PlannedFault
from tests.support.injected import shows
from tests.support.installed import Installed, condition, until

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900, func_only=True)]

NODES = [f"node-{number:06d}" for number in range(4)]
OVER = ("Completed", "Stopped")


@pytest.fixture(scope="module")
def cluster(with_faults: Installed) -> Installed:
    with_faults.ok("scale", "node", "--replicas", str(len(NODES)), "--wait")
    return with_faults


@pytest.fixture(autouse=True)
def tidy(cluster: Installed) -> Iterator[None]:
    """Leave no schedule, no Fault and no page of a schedule."""
    yield
    cluster.ok("fault", "clear", "--all", "--wait")
    until("nothing is left of schedules", lambda: not left(cluster))


def left(cluster: Installed) -> list[str]:
    """Return the names of all that is left of schedules."""
    pages = [each for each in cluster.objects("faultpages") if each["spec"].get("schedule")]
    found = (*cluster.objects("faultschedules"), *cluster.objects("faults"), *pages)
    return [each["metadata"]["name"] for each in found]


def written(folder: Path, name: str, *processes: Any, horizon: str = "12s", **spec: Any) -> str:
    """Write a schedule, and return the path of its file."""
    file = folder / f"{name}.yaml"
    document = {
        "apiVersion": "kwokctl.dev/v1alpha1",
        "kind": "FaultSchedule",
        "metadata": {"name": name},
        "spec": {"horizon": horizon, "seed": 7, "processes": [*processes], **spec},
    }
    file.write_text(yaml.dump(document))
    return str(file)


def every(gap: str, lasts: str, **more: Any) -> dict[str, Any]:
    return {"class": "not-ready", "every": {"fixed": {"gap": gap}}, "for": lasts, **more}


def at(*faults: tuple[str, str], lasts: str, class_name: str = "not-ready") -> dict[str, Any]:
    trace = [{"at": when, "unit": unit} for when, unit in faults]
    name = f"{class_name}-{lasts}-{faults[0][0]}"
    return {"name": name, "class": class_name, "every": {"trace": trace}, "for": lasts}


def status(cluster: Installed, name: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.found("faultschedules", name).get("status", {})
    return found


def come(cluster: Installed, name: str) -> int:
    """Return the number of faults that were made or suppressed by now."""
    return int(status(cluster, name).get("next", 0))


def wait_over(cluster: Installed, name: str) -> dict[str, Any]:
    until(f"{name} is over", lambda: status(cluster, name).get("phase") in OVER, patience=180)
    return status(cluster, name)


def plan(cluster: Installed, name: str) -> list[str]:
    """Return the rows of the plan, as they are stored."""
    meta, pages = cluster.found("faultschedules", name)["metadata"], status(cluster, name)["pages"]
    names = [plan_page(name, meta["uid"], number) for number in range(pages)]
    return [row for each in names for row in cluster.found("faultpages", each)["spec"]["rows"]]


def planned(cluster: Installed, name: str) -> list[PlannedFault]:
    return [*map(read_planned, plan(cluster, name))]


def made(cluster: Installed, name: str) -> dict[int, Any]:
    """Return the Faults of a schedule by their numbers."""
    label = f"kwokctl.dev/fault-schedule={name}"
    found = cluster.objects("faults", "-l", label)
    return {int(each["metadata"]["name"].rpartition("-")[2]): each for each in found}


def suppressed(cluster: Installed, name: str) -> dict[int, str]:
    """Return the reasons of what the log says to be suppressed, by number."""
    lines = cluster.ok("fault", "log", "-o", "json").splitlines()
    found = [yaml.load(line) for line in lines if '"suppressed"' in line]
    return {
        int(each["fault"].rpartition("-")[2]): each["signal"]
        for each in found
        if each["fault"].startswith(name) and each["phase"] == "suppressed"
    }


def check_whole(cluster: Installed, name: str) -> None:
    """Check that each planned fault was made or suppressed, once, and none before its time."""
    found, faults, known = status(cluster, name), made(cluster, name), planned(cluster, name)
    reasons = suppressed(cluster, name)
    assert found["planned"] == len(known)
    assert sorted([*faults, *reasons]) == [*range(len(known))]
    assert found.get("injected", 0) == len(faults)
    assert found.get("suppressed", 0) == len(reasons)
    for number, fault in faults.items():
        began = fault.get("status", {}).get("clock")
        assert began is None or began - found["start"] >= known[number].at
        assert fault["spec"]["target"]["nodes"] == [*known[number].nodes]
        assert fault["spec"].get("seed") == known[number].seed


def test_a_plan_does_not_depend_on_what_reacts(cluster: Installed, tmp_path: Path) -> None:
    storm = every("1s", "4s")
    alone = written(tmp_path, "alone", storm, limits={"maxOpen": "50%"})
    cluster.ok("fault", "run", "-f", alone, "--wait")
    check_whole(cluster, "alone")
    before = plan(cluster, "alone")
    cluster.ok("fault", "clear", "--schedule", "alone", "--wait")

    cluster.ok("fault", "run", "-f", alone, "--id", "watched")
    cured: set[str] = set()

    def react() -> bool:
        """End each Fault as soon as it is seen; return whether the schedule is over."""
        is_over = status(cluster, "watched").get("phase") in OVER
        for fault in made(cluster, "watched").values():
            name = fault["metadata"]["name"]
            if name not in cured:
                cluster.patch("fault", name, "--type=merge", "-p", '{"spec":{"for":"1ms"}}')
                cured.add(name)
        return is_over

    until("watched is over", react, patience=180)
    check_whole(cluster, "watched")

    assert cured
    assert plan(cluster, "watched") == before
    shown = yaml.load(cluster.ok("fault", "plan", "-f", alone, "-o", "json"))
    assert shown["faults"] == [yaml.load(row) for row in before]


def test_what_cannot_come_is_suppressed_with_its_reason(cluster: Installed, tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "hard",
        at(("1s", NODES[0]), ("3s", NODES[0]), ("5s", NODES[1]), lasts="1h"),
        at(("6s", NODES[2]), lasts="1h", class_name="ntp"),
        at(("7s", "node-extra"), lasts="1h"),
        horizon="8s",
        limits={"maxOpen": 2},
    )
    extra = cluster.found("nodes", NODES[0])
    meta = {
        "name": "node-extra",
        "labels": extra["metadata"]["labels"],
        "annotations": {"kwok.x-k8s.io/node": "fake"},
    }
    cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": meta})
    until("it is ready", lambda: condition(cluster.found("nodes", "node-extra"), "Ready") == "True")
    with cluster.paused("kwok-controller"):
        cluster.ok("fault", "run", "-f", file)
        cluster.delete("node", "node-extra", "--wait=false")

    found = wait_over(cluster, "hard")

    check_whole(cluster, "hard")
    assert suppressed(cluster, "hard") == {1: "Broken", 3: "Limit", 4: "Gone"}
    assert found["suppressedBy"] == {"Broken": 1, "Gone": 1, "Limit": 1}
    assert shows(cluster, NODES[0]) == {"hard-000000"}


def test_a_controller_that_is_killed_goes_on_with_the_plan(
    cluster: Installed, tmp_path: Path
) -> None:
    file = written(tmp_path, "killed", every("1s", "2s"), horizon="20s")
    cluster.ok("fault", "run", "-f", file)
    for number in (2, 8):
        until("some have come", lambda least=number: come(cluster, "killed") > least)  # type: ignore[misc]  # a number
        before = {each["metadata"]["uid"] for each in made(cluster, "killed").values()}
        os.kill(cluster.pids()["kwok-controller"], signal.SIGKILL)
        cluster.ok("start", "cluster", "--wait")
        assert before <= {each["metadata"]["uid"] for each in made(cluster, "killed").values()}

    wait_over(cluster, "killed")

    check_whole(cluster, "killed")


def test_faults_come_late_where_the_api_server_stands_still(
    cluster: Installed, tmp_path: Path
) -> None:
    file = written(tmp_path, "late", every("1s", "2s"), horizon="20s")
    cluster.ok("fault", "run", "-f", file)
    until("some have come", lambda: made(cluster, "late"))
    with cluster.paused("kube-apiserver"):
        time.sleep(5)  # nothing can be waited for meanwhile
    known = planned(cluster, "late")
    start = status(cluster, "late")["start"]

    found = wait_over(cluster, "late")

    check_whole(cluster, "late")
    begins = {
        number: each.get("status", {}).get("clock")
        for number, each in made(cluster, "late").items()
    }
    delays = [began - start - known[number].at for number, began in begins.items() if began]
    assert max(delays) > 1
    assert found["late"] >= 1
    assert found["latest"] > 1


def test_a_schedule_goes_back_with_its_cluster(cluster: Installed, tmp_path: Path) -> None:
    file = written(tmp_path, "back", every("2s", "3s"), horizon="24s")
    cluster.ok("fault", "run", "-f", file)
    until("some have come", lambda: come(cluster, "back") > 2)
    marked, early = made(cluster, "back"), come(cluster, "back")
    cluster.ok("snapshot", "mark", "early")
    until("more have come", lambda: come(cluster, "back") > early + 2)

    cluster.ok("snapshot", "rewind", "early")
    # Nor does the next controller know of what came after the mark.
    os.kill(cluster.pids()["kwok-controller"], signal.SIGKILL)
    cluster.ok("start", "cluster", "--wait")

    wait_over(cluster, "back")
    check_whole(cluster, "back")
    uids = {number: each["metadata"]["uid"] for number, each in made(cluster, "back").items()}
    assert {n: each["metadata"]["uid"] for n, each in marked.items()}.items() <= uids.items()


def test_a_schedule_that_is_stopped_brings_no_more_and_is_not_run_twice(
    cluster: Installed, tmp_path: Path
) -> None:
    file = written(tmp_path, "stopped", every("2s", "1h"), horizon="1h")
    cluster.ok("fault", "run", "-f", file)
    until("one has come", lambda: made(cluster, "stopped"))
    assert "fault clear --schedule stopped" in cluster.refused("fault", "run", "-f", file)

    cluster.ok("fault", "stop", "stopped")

    found = wait_over(cluster, "stopped")
    assert found["phase"] == "Stopped"
    assert found["injected"] + found.get("suppressed", 0) == found["next"] < found["planned"]
    assert made(cluster, "stopped").keys() == {
        number for number in range(found["next"]) if number not in suppressed(cluster, "stopped")
    }
    assert '"phase": "Stopped"' in cluster.ok("fault", "status", "--schedules", "-o", "json")


def test_deleting_a_schedule_clears_its_faults(cluster: Installed, tmp_path: Path) -> None:
    file = written(tmp_path, "gone", every("1s", "1h"), horizon="1h")
    cluster.ok("fault", "run", "-f", file)
    until("a node shows one", lambda: any(shows(cluster, node) for node in NODES))

    cluster.delete("faultschedule", "gone")

    until("nothing is left of it", lambda: not left(cluster))
    until("no node shows any", lambda: not any(shows(cluster, node) for node in NODES))

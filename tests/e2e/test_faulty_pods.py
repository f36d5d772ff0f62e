"""Pods on nodes that say which faults they show, in a real cluster: what becomes of them, and that it is over."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kwokctl.expr.duration import parse_time
from kwokctl.faults.overlays.open_entries import OpenEntry, PodEffect, WorkloadEffect
from kwokctl.fleet.allocations import allocations_of
from kwokctl.fleet.devices import GPU, gpu_uuid
from tests.support import entry_faults
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e]

ONE, TWO = "dgx-h100-000000", "dgx-h100-000001"
XID = WorkloadEffect(effect="fail", exit_code=134, reason="Xid79", message="fell off the bus")
HANG = WorkloadEffect(effect="hang")
PROGRAM = "kwokctl.dev/program"


@pytest.fixture(scope="module")
def cluster(as_on_kubelets: Installed) -> Installed:
    as_on_kubelets.ok("scale", "dgx-h100", "--replicas", "2", "--wait")
    return as_on_kubelets


@pytest.fixture(autouse=True)
def healthy(cluster: Installed) -> Iterator[None]:
    """Leave no pod and no fault behind."""
    yield
    show(cluster)
    cluster.delete("pods", "--all", "--now")


def run(
    cluster: Installed,
    name: str,
    *,
    on: str = ONE,
    gpus: int = 0,
    policy: str = "Never",
    init: bool = False,
    **annotations: str,
) -> None:
    """Create a pod with a program that runs for a minute unless `program` says something else."""
    notes = {PROGRAM: annotations.pop("program", "run=60s")}
    notes |= {f"kwokctl.dev/{key}": value for key, value in annotations.items()}
    main: dict[str, Any] = {"name": "main", "image": "x"}
    if gpus:
        main["resources"] = {"limits": {GPU: str(gpus)}}
    spec = {"nodeName": on, "restartPolicy": policy, "containers": [main]}
    if init:
        spec["initContainers"] = [{"name": "check", "image": "x"}]
        notes["program.kwokctl.dev/check"] = "run=2s"
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": notes}}
    cluster.create({**body, "spec": spec})


def show(cluster: Installed, *entries: OpenEntry, on: str = ONE) -> None:
    """Let a node show these faults, or none."""
    entry_faults.show(cluster, *entries, on=on)


def fault(**effects: Any) -> OpenEntry:
    return OpenEntry(fault="f-1", uid="u-1", class_name="c", since=time.time(), **effects)


def pod(cluster: Installed, name: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.found("pods", name)
    return found


def phase(cluster: Installed, name: str) -> str:
    return str(pod(cluster, name)["status"].get("phase"))


def is_in(cluster: Installed, name: str, wanted: str) -> Callable[[], bool]:
    return lambda: phase(cluster, name) == wanted


def running(cluster: Installed, *names: str) -> None:
    for name in names:
        until(f"{name} runs", is_in(cluster, name, "Running"))


def container(cluster: Installed, name: str, part: str = "containerStatuses") -> dict[str, Any]:
    statuses = pod(cluster, name)["status"].get(part) or [{"state": {}, "lastState": {}}]
    found: dict[str, Any] = statuses[0]
    return found


def end(cluster: Installed, name: str, part: str = "containerStatuses") -> dict[str, Any]:
    """Return the last end of a container; empty without one."""
    found = container(cluster, name, part)
    last: dict[str, Any] = (
        found["state"].get("terminated") or found["lastState"].get("terminated") or {}
    )
    return last


def took(cluster: Installed, name: str) -> float:
    last = end(cluster, name)
    return parse_time(last["finishedAt"]) - parse_time(last["startedAt"])


def test_a_device_takes_with_it_exactly_the_pod_that_has_it(cluster: Installed) -> None:
    for name in ("a", "b"):
        run(cluster, name, gpus=4, program="run=forever")
        running(cluster, name)
    [index] = [
        number
        for number in range(8)
        if gpu_uuid(ONE, number) == next(allocations_of(pod(cluster, "b"))).device_id
    ]
    show(cluster, fault(gpu=index, workload=XID))
    until("b has failed", is_in(cluster, "b", "Failed"))
    last = end(cluster, "b")
    assert (last["exitCode"], last["reason"], last["message"]) == (134, "Xid79", XID.message)
    assert phase(cluster, "a") == "Running"
    assert container(cluster, "a")["restartCount"] == 0


def test_a_pod_that_is_started_again_fails_again_until_the_fault_is_over(
    cluster: Installed,
) -> None:
    run(cluster, "again", policy="Always", program="run=forever")
    running(cluster, "again")
    show(cluster, fault(workload=XID))
    until("it was started twice", lambda: container(cluster, "again")["restartCount"] >= 2)
    show(cluster)
    until("it is ready", lambda: container(cluster, "again")["ready"])
    assert end(cluster, "again")["exitCode"] == 134


def test_a_program_loses_the_time_for_which_it_hangs_and_a_restart_changes_nothing(
    cluster: Installed,
) -> None:
    run(cluster, "hung", program="run=14s")
    running(cluster, "hung")
    show(cluster, fault(workload=HANG))
    until(
        "it is written down",
        lambda: "kwokctl.dev/progress" in pod(cluster, "hung")["metadata"]["annotations"],
    )
    os.kill(cluster.pids()["kwok-controller"], signal.SIGKILL)
    cluster.ok("start", "cluster")
    run(cluster, "well", on=TWO, program="run=16s")
    until("another is done", is_in(cluster, "well", "Succeeded"))
    assert phase(cluster, "hung") == "Running"

    show(cluster)
    until("it is done as well", is_in(cluster, "hung", "Succeeded"))
    assert took(cluster, "hung") >= took(cluster, "well")
    assert took(cluster, "well") == 16


def test_a_slow_program_takes_longer_and_a_wrong_result_is_said(cluster: Installed) -> None:
    show(
        cluster,
        fault(workload=WorkloadEffect(effect="slow", factor=3.0)),
        fault(order=1, workload=WorkloadEffect(effect="corrupt")),
    )
    run(cluster, "slow", program="run=4s")
    until("it is done", is_in(cluster, "slow", "Succeeded"))
    # The first second is before a fault shows in a program.
    assert took(cluster, "slow") == 10
    until("it is reported", lambda: "WrongResult" in reasons(cluster, "slow"))


def reasons(cluster: Installed, name: str) -> set[str]:
    found = cluster.objects("events")
    return {each["reason"] for each in found if each["involvedObject"]["name"] == name}


def test_all_pods_of_a_gang_end_by_their_watchdogs(cluster: Installed) -> None:
    for name, node in (("one", ONE), ("two", TWO)):
        run(cluster, name, on=node, gang="train", watchdog="3s", program="run=forever")
    run(cluster, "alone", on=TWO, watchdog="3s", program="run=forever")
    running(cluster, "one", "two", "alone")
    hang = WorkloadEffect(effect="hang", gang=True)
    show(cluster, fault(workload=hang))
    for name in ("one", "two"):
        until(f"{name} has failed", is_in(cluster, name, "Failed"))
        assert end(cluster, name)["exitCode"] == 134
        assert "3000 milliseconds" in end(cluster, name)["message"]
    assert phase(cluster, "alone") == "Running"


def test_nothing_is_silent_about_a_program_that_is_not_known(cluster: Installed) -> None:
    cluster.run_pod("dark", {"nodeName": ONE})
    running(cluster, "dark")
    show(cluster, fault(workload=HANG))
    until("it is said", lambda: "FaultWithoutEffect" in reasons(cluster, "dark"))


@pytest.mark.parametrize(
    ("fails", "part", "code", "reason"),
    [
        ("init-container", "initContainerStatuses", 3, "Own"),
        ("app-container", "containerStatuses", 3, "Own"),
        ("memory-limit", "containerStatuses", 137, "OOMKilled"),
    ],
)
def test_containers_fail_as_the_fault_says_and_go_on_when_it_is_over(
    cluster: Installed, fails: Any, part: str, code: int, reason: str
) -> None:
    own = {} if fails == "memory-limit" else {"exit_code": 3, "reason": "Own"}
    show(cluster, fault(pod=PodEffect(fails=fails, **own)))  # type: ignore[arg-type]  # words
    run(cluster, "pod", policy="Always", init=True, program="run=forever")
    until("it has failed", lambda: end(cluster, "pod", part).get("exitCode") == code)
    assert end(cluster, "pod", part)["reason"] == reason
    show(cluster)
    until("it is ready", lambda: container(cluster, "pod").get("ready"))


def test_an_image_is_pulled_when_the_fault_is_over(cluster: Installed) -> None:
    show(cluster, fault(pod=PodEffect(fails="image-pull", message="registry is down")))
    run(cluster, "pod")

    def waiting() -> dict[str, str]:
        found: dict[str, str] = container(cluster, "pod")["state"].get("waiting") or {}
        return found

    until("it backs off", lambda: waiting().get("reason") == "ImagePullBackOff")
    assert waiting()["message"].endswith("registry is down")
    show(cluster)
    running(cluster, "pod")


def test_a_pod_is_refused_and_the_next_is_not(cluster: Installed) -> None:
    show(cluster, fault(pod=PodEffect(fails="admission", message="no devices")))
    run(cluster, "refused")
    until("it is refused", is_in(cluster, "refused", "Failed"))
    assert pod(cluster, "refused")["status"]["reason"] == "UnexpectedAdmissionError"
    show(cluster)
    run(cluster, "taken")
    running(cluster, "taken")


def test_a_pod_stays_that_cannot_end_until_the_fault_is_over(cluster: Installed) -> None:
    for name, node in (("stuck", ONE), ("other", TWO)):
        run(cluster, name, on=node, program="run=forever")
    running(cluster, "stuck", "other")
    show(cluster, fault(pod=PodEffect(fails="termination")))
    cluster.delete("pod", "stuck", "other", "--grace-period=1", "--wait=false")
    until("the other is gone", lambda: names(cluster) == {"stuck"})
    until("it is said", lambda: "FailedKillPod" in reasons(cluster, "stuck"))
    assert "running" in container(cluster, "stuck")["state"]
    show(cluster)
    until("it is gone", lambda: not names(cluster))


def names(cluster: Installed) -> set[str]:
    return {each["metadata"]["name"] for each in cluster.objects("pods")}

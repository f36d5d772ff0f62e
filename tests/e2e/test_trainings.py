"""Gangs that train in a real cluster: what a fault costs them, as their Jobs say it and as it follows from the formula."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kwokctl.expr.duration import parse_time
from kwokctl.faults.overlays.open_entries import OpenEntry, WorkloadEffect
from kwokctl.training.plan import STEP_TIME, STEPS, TrainingPlan
from kwokctl.training.preflight import REASON
from tests.support import entry_faults
from tests.support.installed import Installed, until
from tests.support.trainings import (
    JOB_SET_KIND,
    LONG,
    gang_job,
    has_come_to,
    job_set,
    jobs_of,
    pods_of,
    training,
)

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900, func_only=True)]

FAIL = WorkloadEffect(effect="fail", exit_code=134, reason="Xid79")
HANG = WorkloadEffect(effect="hang")
SLOW = WorkloadEffect(effect="slow", factor=2.0)
PODS = 4


@pytest.fixture(scope="module")
def cluster(as_on_kubelets: Installed) -> Installed:
    as_on_kubelets.ok("scale", "dgx-h100", "--replicas", str(PODS + 1), "--wait")
    return as_on_kubelets


@pytest.fixture(autouse=True)
def healthy(cluster: Installed) -> Iterator[None]:
    """Leave no Job and no fault behind."""
    yield
    cluster.delete("jobs", "--all")
    cluster.delete("pods", "--all", "--now")
    cluster.delete("faults", "--all")


def hit(cluster: Installed, effect: WorkloadEffect, node: str) -> None:
    """Let the programs on a node suffer a fault."""
    entry = OpenEntry(fault="f", uid="u", class_name="c", since=time.time(), workload=effect)
    entry_faults.show(cluster, entry, on=node)


def nodes(cluster: Installed, name: str) -> dict[str, str]:
    """Return the nodes of the pods of a Job, by the uids of the pods."""
    return {each["metadata"]["uid"]: each["spec"]["nodeName"] for each in pods_of(cluster, name)}


def ends(cluster: Installed, name: str, part: str = "containerStatuses") -> list[dict[str, Any]]:
    """Return how the first containers of the pods of a Job have ended, with the node of each."""
    return [
        {**over, "node": pod["spec"]["nodeName"]}
        for pod in pods_of(cluster, name)
        for status in (pod["status"].get(part) or [])[:1]
        if (over := status["state"].get("terminated"))
    ]


def test_a_gang_ends_with_its_last_step(cluster: Installed) -> None:
    plan = TrainingPlan(steps=6, step_time=0.5, checkpoint_every=2, checkpoint_cost=1)
    cluster.create(gang_job("short", plan))

    done = has_come_to(cluster, "short", "all steps are done", phase="Done")

    assert (done.step, done.lost, done.attempt, done.ranks) == (6, 0, 1, PODS)
    assert done.since - done.begun == done.ran == 3 + 2 * 1
    until("the Job is complete", lambda: len(ends(cluster, "short")) == PODS)
    finished = {parse_time(each["finishedAt"]) for each in ends(cluster, "short")}
    assert finished == {done.since}


def test_a_failed_rank_costs_the_steps_since_the_checkpoint_and_a_rewind_undoes_that(
    cluster: Installed,
) -> None:
    cluster.create(gang_job("llama"))
    begun = has_come_to(cluster, "llama", "all ranks run", phase="Running")
    before = nodes(cluster, "llama")
    until("a checkpoint is written", lambda: begun.at(time.time()).checkpoint)
    cluster.ok("snapshot", "mark", "running")

    hit(cluster, FAIL, next(iter(before.values())))
    resumed = has_come_to(cluster, "llama", "the gang runs again", phase="Running", attempt=2)

    [failed] = [each for each in ends(cluster, "llama") if each["exitCode"] == 134]
    work = parse_time(failed["finishedAt"]) - begun.begun
    there = LONG.position(0, work, is_restart=False)
    assert (resumed.stops, resumed.lost) == (1, there.step - there.checkpoint)
    assert (resumed.start, resumed.ran) == (there.checkpoint, work)
    assert resumed.begun > parse_time(failed["finishedAt"])
    assert before.keys() != nodes(cluster, "llama").keys()

    # A controller that is late must not let the pod that is put back fail once more, by a fault that is gone.
    with cluster.paused("kwok-controller"):
        rewind = cluster.start("snapshot", "rewind", "running")
        until("the fault is gone", lambda: not cluster.objects("faults"))
    said = rewind.communicate(timeout=300)[1]
    assert rewind.returncode == 0, said
    again = has_come_to(cluster, "llama", "nothing has happened", phase="Running", attempt=1)
    assert (again.begun, again.stops, again.lost) == (begun.begun, 0, 0)
    until("its pods are those of before", lambda: nodes(cluster, "llama") == before)
    assert ends(cluster, "llama") == []


def test_the_slowest_rank_slows_all_and_loses_no_step(cluster: Installed) -> None:
    cluster.create(gang_job("slow"))
    begun = has_come_to(cluster, "slow", "all ranks run", phase="Running")
    hit(cluster, SLOW, next(iter(nodes(cluster, "slow").values())))

    slow = has_come_to(cluster, "slow", "the gang is slow", speed=0.5)
    cluster.delete("faults", "--all")
    well = has_come_to(cluster, "slow", "the gang is well", speed=1.0)

    assert slow.work == pytest.approx(slow.since - begun.begun, abs=0.01)
    halved = 0.5 * (well.since - slow.since)
    assert well.work == pytest.approx(slow.work + halved, abs=0.01)  # each is rounded
    assert (well.stops, well.lost, well.attempt) == (0, 0, 1)


def test_a_rank_that_hangs_ends_all_by_the_watchdog(cluster: Installed) -> None:
    cluster.create(gang_job("hung", watchdog="3s"))
    has_come_to(cluster, "hung", "all ranks run", phase="Running")
    first = set(nodes(cluster, "hung"))
    hit(cluster, HANG, next(iter(nodes(cluster, "hung").values())))

    def by_watchdog() -> int:
        over = [each for each in ends(cluster, "hung") if "Watchdog" in each.get("message", "")]
        return len(over)

    until("the watchdogs of all ranks have ended them", lambda: by_watchdog() >= PODS)

    def has_stopped() -> bool:
        state = training(cluster, "hung")
        return state is not None and state.stops >= 1

    until("the Job says that its training has stopped", has_stopped)
    failed = [each for each in pods_of(cluster, "hung") if each["metadata"]["uid"] in first]
    assert {each["status"]["phase"] for each in failed} == {"Failed"}


def test_a_check_of_its_node_fails_alone_and_the_gang_does_not_start(cluster: Installed) -> None:
    bad = f"dgx-h100-{0:06}"
    hit(cluster, FAIL, bad)
    cluster.create(gang_job("alone", pods=PODS + 1, init="check", preflight="check=loopback"))

    part = "initContainerStatuses"
    until("all have been checked", lambda: len(ends(cluster, "alone", part)) > PODS)

    over = ends(cluster, "alone", part)
    assert {each["node"] for each in over if each["exitCode"]} == {bad}
    assert {each["reason"] for each in over if each["exitCode"]} == {REASON}
    state = has_come_to(cluster, "alone", "the gang waits", phase="Waiting")
    assert (state.attempt, state.step) == (0, 0)


def test_a_check_of_all_nodes_fails_for_the_gang(cluster: Installed) -> None:
    bad = f"dgx-h100-{1:06}"
    hit(cluster, SLOW, bad)
    whole = gang_job("whole", pods=PODS + 1, init="check", preflight="check=all-reduce")
    cluster.create(whole)
    part = "initContainerStatuses"

    until("all have failed", lambda: len(ends(cluster, "whole", part)) > PODS)

    over = ends(cluster, "whole", part)[: PODS + 1]
    words = f"nccl checking failed: 2 times too slow on {bad}; avg bus bandwidth 188.6 GB/s, expected 377.2"
    assert {(each["exitCode"], each["reason"], each["message"]) for each in over} == {
        (1, REASON, words)
    }

    cluster.delete("faults", "--all")
    cluster.delete("job", "whole")
    until("its pods are gone", lambda: not pods_of(cluster, "whole"))
    cluster.create({**whole, "metadata": {"name": "healed"}})
    has_come_to(cluster, "healed", "the gang trains", phase="Running")
    passed = {(each["exitCode"], each["message"]) for each in ends(cluster, "healed", part)}
    assert passed == {(0, "avg bus bandwidth 377.2 GB/s")}


def test_a_check_gives_up_when_a_rank_does_not_come(cluster: Installed) -> None:
    size = PODS + 2  # and there are PODS + 1 nodes
    cluster.create(
        gang_job(
            "missed", pods=size, init="check", preflight="check=all-reduce", preflight_timeout="10s"
        )
    )
    part = "initContainerStatuses"

    until(
        "as many have failed as there are nodes", lambda: len(ends(cluster, "missed", part)) > PODS
    )

    for each in ends(cluster, "missed", part):
        assert (each["exitCode"], each["reason"]) == (1, REASON)
        assert re.fullmatch(
            rf"timed out: [1-{size - 1}] of {size} ranks were there", each["message"]
        )
    assert ends(cluster, "missed") == []
    state = training(cluster, "missed")
    assert state is None or (state.phase, state.attempt) == ("Waiting", 0)


def test_a_check_gives_up_when_a_node_does_not_answer(cluster: Installed) -> None:
    silent = f"dgx-h100-{2:06}"
    hit(cluster, HANG, silent)
    cluster.create(
        gang_job(
            "silent",
            pods=PODS + 1,
            init="check",
            preflight="check=all-reduce",
            preflight_timeout="30s",
        )
    )
    part = "initContainerStatuses"

    until("all have failed", lambda: len(ends(cluster, "silent", part)) > PODS)

    first = ends(cluster, "silent", part)[: PODS + 1]
    assert {each["message"] for each in first} == {f"timed out: no answer from {silent}"}
    for each in first:
        assert parse_time(each["finishedAt"]) - parse_time(each["startedAt"]) == 30


def test_a_job_set_keeps_the_checkpoint_of_jobs_that_it_makes_anew(cluster: Installed) -> None:
    cluster.create(JOB_SET_KIND)
    cluster.wait_for("Established", f"crd/{JOB_SET_KIND['metadata']['name']}")  # type: ignore[index] # of a literal
    cluster.create(job_set("both", replicas=2, pods=2))
    whole = cluster.found("jobsets", "both")
    cluster.create(*jobs_of(whole))
    begun = has_come_to(cluster, "both", "all ranks of both run", of="jobsets", phase="Running")
    assert (begun.ranks, begun.attempt) == (4, 1)
    # Two, because pods say their ends in whole seconds.
    every = LONG.checkpoint_every
    until("two checkpoints are written", lambda: begun.at(time.time()).checkpoint > every)
    names = [each["metadata"]["name"] for each in jobs_of(whole)]
    first = {uid for name in names for uid in nodes(cluster, name)}

    for name in names:
        cluster.delete("job", name)
    until("their pods are gone", lambda: not any(pods_of(cluster, name) for name in names))
    stopped = has_come_to(cluster, "both", "it has stopped", of="jobsets", phase="Stopped")
    cluster.create(*jobs_of(whole))

    again = has_come_to(cluster, "both", "all run again", of="jobsets", phase="Running", attempt=2)
    assert (again.stops, again.start) == (1, stopped.checkpoint)
    assert again.start >= every
    assert again.lost == stopped.lost
    assert first.isdisjoint(uid for name in names for uid in nodes(cluster, name))
    # The Jobs themselves say nothing: others will have their names.
    assert [training(cluster, name) for name in names] == [None, None]
    cluster.delete("jobset", "both")


def test_a_job_is_told_that_its_own_annotations_do_nothing(cluster: Installed) -> None:
    misplaced = gang_job("misplaced", None)
    misplaced["spec"]["suspend"] = True  # its pods would take the nodes
    misplaced["metadata"]["annotations"] = {STEPS: "10", STEP_TIME: "1s"}
    cluster.create(gang_job("trains"), misplaced)
    has_come_to(cluster, "trains", "Jobs are followed", phase="Running")

    def told() -> list[str]:
        events = cluster.objects("events", "-n", "default")
        return [
            each["message"]
            for each in events
            if each["reason"] == "IgnoredAnnotations"
            and each["involvedObject"]["name"] == "misplaced"
        ]

    until("an Event says so", told)
    words = "write them into the template of the pods"
    assert told() == [f"no effect here: '{STEP_TIME}', '{STEPS}'; {words}"]
    assert training(cluster, "misplaced") is None

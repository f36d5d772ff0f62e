"""Which pods are a gang, and how many it needs: figures of gangs against what is computed by hand."""

import pytest

from kwokctl.fleet.gangs import (
    JOB_SETS,
    LEADER_WORKER_SETS,
    PLUGIN_POD_GROUPS,
    POD_GROUPS,
    VOLCANO_POD_GROUPS,
    WORKLOADS,
)
from kwokctl.measure.figures.values import Missing, SingleNumber
from kwokctl.measure.histories.history import History
from kwokctl.measure.record.gang_lines import GangChange
from kwokctl.measure.record.record_lines import Lines, RunScope
from tests.support.measured import (
    MS,
    SECOND,
    done,
    figure,
    gang,
    history,
    job,
    life,
    sent,
)
from tests.support.measured_gangs import latency, number, seconds, shape, two_pods

POD_GROUP_KINDS = (POD_GROUPS, PLUGIN_POD_GROUPS, VOLCANO_POD_GROUPS)


TIMES = {
    "scheduling_latency": 6.0,
    "first_bound": 3.0,
    "start": 2.0,
    "occupancy": 12.0,
    "jct": 20.0,
}
"""Of the two pods, if their gang began at 2 s."""


def test_a_job_is_a_gang_and_is_done_when_it_is_complete() -> None:
    found = history(
        [shape(2, job=1), job(1, 2 * SECOND, pods=2), *two_pods(2), done(1, 23 * SECOND, pods=2)]
    )

    assert figure("gangs", found) == SingleNumber(1, detail={"jobs.batch": 1})
    assert seconds(found, *TIMES) == {**TIMES, "occupancy": 13.0, "jct": 21.0}
    assert number(".done", found) == 1
    assert number(".makespan", found) == 21.0


@pytest.mark.parametrize("kind", POD_GROUP_KINDS)
def test_a_pod_group_needs_as_many_pods_as_it_says(kind: str) -> None:
    """A third pod is bound later, and is not needed; the gang is done when all have ended."""
    third = life(3, 4 * SECOND, 15 * SECOND, 16 * SECOND, 21 * SECOND, shape=2)
    group = gang(1, 2 * SECOND, kind, pods=2)
    found = history([shape(2, f"{kind}=gang-1"), group, *two_pods(2), *third])

    assert figure("gangs", found) == SingleNumber(1, detail={kind: 1})
    assert seconds(found, *TIMES) == TIMES


@pytest.mark.parametrize("member", ["kwokctl.dev/gang=ring", "example.com/gang=ring"])
def test_pods_that_only_name_a_gang_are_needed_all(member: str) -> None:
    found = history([shape(2, member), *two_pods(2)])

    assert figure("gangs", found) == SingleNumber(1, detail={member.partition("=")[0]: 1})
    assert seconds(found, "scheduling_latency", "first_bound") == {
        "scheduling_latency": 4.0,
        "first_bound": 1.0,
    }
    assert number(".done", found) == 1


def test_an_annotation_may_say_how_many_pods_a_gang_needs() -> None:
    found = history([shape(2, "kwokctl.dev/gang=ring:3"), *two_pods(2)])

    assert latency("first_bound", found).count == 1
    assert figure("gangs.scheduling_latency", found) == Missing("no gang came so far")
    assert number(".done", found) == 0


def test_gangs_of_one_name_in_two_namespaces_are_two() -> None:
    found = history(
        [
            shape(2, "kwokctl.dev/gang=ring"),
            *life(1, 0, 5, shape=2),
            *life(2, 0, 5, shape=2, namespace="b"),
        ]
    )

    assert number("", found) == 2


def test_the_pods_of_all_jobs_of_a_job_set_are_one_gang() -> None:
    member = f"{JOB_SETS}=gang-1"
    found = history(
        [
            shape(2, member, job=1),
            shape(3, member, job=2),
            gang(1, 2 * SECOND, JOB_SETS, pods=2),
            job(1, 3 * SECOND, owner_uid="uid-of-gang-1"),
            job(2, 3 * SECOND, owner_uid="uid-of-gang-1"),
            *life(1, 4 * SECOND, 5 * SECOND, 6 * SECOND, 20 * SECOND, shape=2),
            *life(2, 4 * SECOND, 8 * SECOND, 10 * SECOND, 22 * SECOND, shape=3),
            done(1, 21 * SECOND),
            done(2, 23 * SECOND),
            GangChange(24 * SECOND, 1, "Complete", 2),
        ]
    )

    assert figure("gangs", found) == SingleNumber(1, detail={JOB_SETS: 1})
    assert seconds(found, *TIMES) == {**TIMES, "occupancy": 14.0, "jct": 22.0}
    assert figure("jobs.done", found) == SingleNumber(2)


def test_each_group_of_a_leader_worker_set_is_a_gang_of_its_size() -> None:
    lines: list[Lines] = [gang(1, SECOND, LEADER_WORKER_SETS, pods=2)]
    for index in (0, 1):
        of = 2 + index
        lines += [
            shape(of, f"{LEADER_WORKER_SETS}=gang-1/{index}:2"),
            *life(10 * index, 2 * SECOND, 3 * SECOND, 4 * SECOND, shape=of),
            *life(10 * index + 1, 2 * SECOND, (5 + index) * SECOND, 7 * SECOND, shape=of),
        ]
    found = history(lines)

    assert number("", found) == 2
    wait = latency("scheduling_latency", found)
    assert (wait.count, wait.min, wait.max) == (2, 3.0, 4.0)
    assert number(".done", found) == 0


def admission(time: int, number: int = 9) -> GangChange:
    return GangChange(time, number, "Admitted", 2)


def test_a_job_that_kueue_admits_is_given_to_the_scheduler_then() -> None:
    found = history(
        [
            shape(2, job=1),
            job(1, SECOND, pods=2, state="Suspended"),
            gang(9, SECOND, WORKLOADS, pods=2, owner_uid="uid-of-job-1"),
            admission(2 * SECOND),
            *two_pods(2),
            GangChange(30 * SECOND, 9, "Complete", 2),
            done(1, 22 * SECOND, pods=2),
        ]
    )

    assert figure("gangs", found) == SingleNumber(1, detail={"jobs.batch": 1})
    assert seconds(found, "dispatch", *TIMES) == {"dispatch": 1.0, **TIMES}
    assert seconds(found, "jct_from_submission") == {"jct_from_submission": 21.0}


def test_kueue_admits_a_job_set_by_the_workload_that_it_owns() -> None:
    found = history(
        [
            shape(2, f"{JOB_SETS}=gang-1", job=1),
            gang(1, SECOND, JOB_SETS, pods=2),
            gang(9, SECOND, WORKLOADS, pods=2, owner_uid="uid-of-gang-1"),
            admission(2 * SECOND),
            job(1, 3 * SECOND, pods=2, owner_uid="uid-of-gang-1"),
            *two_pods(2),
        ]
    )

    assert seconds(found, "dispatch", "scheduling_latency") == {
        "dispatch": 1.0,
        "scheduling_latency": 6.0,
    }


@pytest.mark.parametrize(("workload", "left_out"), [({"state": "Admitted"}, 1), ({"state": ""}, 0)])
def test_an_admission_that_was_not_seen_is_lost_and_one_that_did_not_come_is_open(
    workload: dict[str, str], left_out: int
) -> None:
    known = [shape(3, "kwokctl.dev/gang=ring"), *life(8, 0, 2 * SECOND, shape=3)]
    queued = gang(9, SECOND, WORKLOADS, pods=2, owner_uid="uid-of-job-1", **workload)
    found = history([*known, job(1, SECOND, pods=2), queued, shape(2, job=1), *two_pods(2)])

    wait = latency("scheduling_latency", found)
    assert (wait.count, wait.left_out) == (1, 1)
    assert number(".most_waiting", found) == 2 - left_out
    note = {1: "1 gangs with lost times are left out", 0: ""}[left_out]
    part = figure("gangs.bound_in_part", found)
    assert isinstance(part, SingleNumber)
    assert part.note == note


def test_pods_of_a_group_of_kueue_are_a_gang() -> None:
    found = history(
        [
            shape(2, f"{WORKLOADS}=gang-9:2"),
            gang(9, SECOND, WORKLOADS, pods=2),
            admission(2 * SECOND),
            *two_pods(2),
        ]
    )

    assert figure("gangs", found) == SingleNumber(1, detail={WORKLOADS: 1})
    assert seconds(found, "dispatch", "scheduling_latency") == {
        "dispatch": 1.0,
        "scheduling_latency": 6.0,
    }


def test_dispatch_needs_a_load_or_kueue() -> None:
    found = history([shape(2, job=1), job(1, SECOND, pods=2), *two_pods(2)])

    assert figure("gangs.dispatch", found) == Missing("there was no load, and no Workload of Kueue")


def test_a_gang_of_a_load_is_submitted_when_the_arrival_of_its_job_was_due() -> None:
    arrival = sent(0, SECOND, made=("uid-of-job-1",))
    found = history(
        [
            arrival,
            shape(2, f"{POD_GROUPS}=gang-1", job=1),
            job(1, 1500 * MS, pods=2),
            gang(1, 2 * SECOND, POD_GROUPS, pods=2, owner_uid="uid-of-job-1"),
            *two_pods(2),
            done(1, 23 * SECOND, pods=2),
        ]
    )

    assert figure("gangs", found) == SingleNumber(1, detail={POD_GROUPS: 1})
    assert seconds(found, "dispatch", "jct_from_submission") == {
        "dispatch": 1.0,
        "jct_from_submission": 22.0,
    }
    assert figure("jobs.done", found) == SingleNumber(1)


def test_jobs_and_job_sets_wait_before_they_have_pods() -> None:
    found = history(
        [
            job(1, SECOND),
            gang(2, 2 * SECOND, JOB_SETS, pods=4),
            job(3, 3 * SECOND, owner_uid="uid-of-gang-2"),
            gang(4, 3 * SECOND, POD_GROUPS, pods=2, owner_uid="uid-of-job-5"),
            job(5, 3 * SECOND),
            gang(6, 3 * SECOND, JOB_SETS, pods=4, listed=True),
            gang(7, 3 * SECOND, PLUGIN_POD_GROUPS, pods=4),
        ]
    )

    assert figure("gangs", found) == SingleNumber(2, detail={"jobs.batch": 1, JOB_SETS: 1})
    assert number(".most_waiting", found) == 2


def of_load(scope: RunScope) -> History:
    lines: list[Lines] = [
        gang(1, SECOND, JOB_SETS, labels={"kwokctl.dev/run": "r1"}),
        gang(2, SECOND, JOB_SETS),
    ]
    return history(lines, scope=scope)


def test_with_loads_or_a_selector_other_job_sets_do_not_count() -> None:
    assert number("", of_load(RunScope(run="r1"))) == 1
    assert number("", of_load(RunScope(selector="app=x"))) == 0
    assert number("", of_load(RunScope())) == 2

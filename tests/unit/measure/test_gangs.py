"""Figures of gangs, against what is computed by hand."""

from typing import Any

import pytest

from kwokctl.measure.figures.catalogue import groups, whole_run
from kwokctl.measure.figures.gangs import gangs_in
from kwokctl.measure.figures.values import Durations, Missing, SingleNumber
from kwokctl.measure.gangs import (
    JOB_SETS,
    LEADER_WORKER_SETS,
    PLUGIN_POD_GROUPS,
    POD_GROUPS,
    VOLCANO_POD_GROUPS,
    WORKLOADS,
)
from kwokctl.measure.history import History
from kwokctl.measure.record.gang_lines import GangChange, GangGone
from kwokctl.measure.record.lines import Gap, JobChange, Lines, PodGone, PodShape, RunScope
from tests.support.measured import (
    MS,
    SECOND,
    bound,
    done,
    ended,
    figure,
    gang,
    history,
    job,
    life,
    names,
    running,
    seen,
    sent,
)

POD_GROUP_KINDS = (POD_GROUPS, PLUGIN_POD_GROUPS, VOLCANO_POD_GROUPS)


def shape(number: int, gang: str = "", job: int = 0, **labels: str) -> PodShape:
    owner = ("Job", f"job-{job}", f"uid-of-job-{job}") if job else ("", "", "")
    return PodShape(number, *owner, 0, "cpu=1", labels, gang)


def number(name: str, found: History) -> float:
    value = figure(f"gangs{name}", found)
    assert isinstance(value, SingleNumber), value
    return value.value


def latency(name: str, found: History) -> Durations:
    value = figure(f"gangs.{name}", found)
    assert isinstance(value, Durations), value
    return value


def seconds(found: History, *figures: str) -> dict[str, float]:
    """Return the only duration of each of these figures."""
    found_by_name = {name: latency(name, found) for name in figures}
    assert {each.count for each in found_by_name.values()} == {1}
    return {name: each.max for name, each in found_by_name.items()}


def two_pods(of: int, *, ends: tuple[int, int] = (20, 22)) -> list[Lines]:
    """Return two pods, bound at 5 and 8 s, Running at 6 and 10 s, which end then."""
    first = life(1, 4 * SECOND, 5 * SECOND, 6 * SECOND, ends[0] * SECOND, shape=of)
    return [
        *first,
        *life(2, 4 * SECOND, 8 * SECOND, 10 * SECOND, ends[1] * SECOND, shape=of),
    ]


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


def in_steps(*times: int, size: int = 3, **fields: Any) -> list[Lines]:
    """Return a gang of which a pod is bound at each of these times, in milliseconds."""
    pods = [line for n, time in enumerate(times) for line in life(n, 0, time * MS, shape=2)]
    return [shape(2, f"kwokctl.dev/gang=ring:{size}"), *pods]


@pytest.mark.parametrize(
    ("lines", "part", "time"),
    [
        (in_steps(100, 200, 1300), 1, 1.2),
        (in_steps(100, 200, 1200), 0, None),
        (in_steps(0, 900, 1800, 2700, size=4), 0, None),
        (in_steps(100, 200, 300, 9000), 0, None),
        (in_steps(100, size=1), 0, None),
        (in_steps(), 0, None),
    ],
)
def test_a_gang_is_bound_in_part_if_a_second_passes_before_its_next_pod_is_bound(
    lines: list[Lines], part: int, time: float | None
) -> None:
    found = history(lines)

    assert number(".bound_in_part", found) == part
    if time is None:
        why = Missing("no gang stayed bound in part")
        assert figure("gangs.time_in_part", found) == why
    else:
        assert seconds(found, "time_in_part") == {"time_in_part": time}


def test_a_gang_that_is_never_bound_as_a_whole_stays_bound_in_part() -> None:
    found = history(in_steps(100, 200))

    detail = {"never bound as a whole": 1}
    assert figure("gangs.bound_in_part", found) == SingleNumber(1, detail=detail)
    assert figure("gangs.time_in_part", found) == Missing("no gang stayed bound in part")


def test_a_gang_that_is_deleted_is_bound_in_part_until_then() -> None:
    found = history([*in_steps(100, 200), PodGone(5 * SECOND, 0), PodGone(5100 * MS, 1)])

    assert number(".bound_in_part", found) == 1
    assert seconds(found, "time_in_part") == {"time_in_part": 5.0}


def test_most_waiting_counts_gangs_until_they_are_bound_or_gone() -> None:
    lines: list[Lines] = []
    for n, (created, until) in enumerate([(0, 4), (1, 3), (2, 5), (3, 6)], 1):
        lines += [
            shape(n + 1, f"kwokctl.dev/gang=ring-{n}"),
            seen(n, created * SECOND, shape=n + 1),
        ]
        lines += [bound(n, until * SECOND)] if n < 4 else [PodGone(until * SECOND, n)]
    found = history(lines)

    assert number(".most_waiting", found) == 3


def test_the_time_between_gangs_without_a_queue_follows_from_occupancy_and_nodes() -> None:
    """Two gangs of two pods: 12 s on two nodes, and 6 s on one, of three nodes: 9 s x 1.5 / 3."""
    lines: list[Lines] = []
    for number_, (node, end) in enumerate([("n2", 14), ("n1", 8)]):
        of, first = number_ + 2, 2 * number_
        lines += [shape(of, f"kwokctl.dev/gang=ring-{number_}")]
        for pod, where in ((first, "n1"), (first + 1, node)):
            lines += [
                seen(pod, 0, shape=of),
                bound(pod, SECOND, where),
                running(pod, 2 * SECOND, where),
                ended(pod, end * SECOND, where),
            ]
    found = history(lines)

    expected = SingleNumber(4.5, note="1.5 of 3 nodes for a gang")
    assert figure("gangs.queue_free_inter_arrival", found) == expected


def test_without_the_number_of_nodes_it_is_not_known() -> None:
    found = history([*in_steps(1, 2, 3)], conditions={})

    why = "the number of nodes is not known ('nodes before' of the conditions)"
    assert figure("gangs.queue_free_inter_arrival", found) == Missing(why)


def test_a_makespan_needs_all_gangs_to_be_over() -> None:
    whole: list[Lines] = [shape(2, "kwokctl.dev/gang=a"), *two_pods(2)]
    other: list[Lines] = [shape(3, "kwokctl.dev/gang=b"), seen(9, 0, shape=3)]

    assert number(".makespan", history(whole)) == 18.0
    assert figure("gangs.makespan", history([*whole, *other])) == Missing("1 gangs were not done")
    assert number(".makespan", history([*whole, *other, PodGone(SECOND, 9)])) == 22.0


def test_a_pod_group_of_jobs_is_done_with_the_last_of_them_and_over_with_the_first_that_fails() -> (
    None
):
    member = f"{POD_GROUPS}=gang-1"
    lines: list[Lines] = [
        shape(2, member, job=1), shape(3, member, job=2), gang(1, 2 * SECOND, POD_GROUPS, pods=2),
        job(1, 3 * SECOND), job(2, 3 * SECOND),
        *life(1, 4 * SECOND, 5 * SECOND, 6 * SECOND, 20 * SECOND, shape=2),
        *life(2, 4 * SECOND, 8 * SECOND, 10 * SECOND, 22 * SECOND, shape=3),
        done(1, 21 * SECOND),
    ]  # fmt: skip

    open_gang = history(lines)
    ended_gang = history([*lines, done(2, 23 * SECOND)])
    failed = history([*lines, JobChange(23 * SECOND, 2, "Failed", 1)])

    assert seconds(ended_gang, "jct") == {"jct": 21.0}
    assert latency("start", open_gang).count == 1
    assert figure("gangs.jct", open_gang) == Missing("no gang came so far")
    assert figure("gangs.makespan", open_gang) == Missing("no gang was done")
    assert number(".done", failed) == 0
    other = history([*lines, JobChange(23 * SECOND, 2, "Failed", 1), job(7, 0), done(7, SECOND)])
    assert number(".makespan", other) == 1.0


def test_a_gang_whose_object_fails_or_goes_is_over() -> None:
    whole: list[Lines] = [shape(2, "kwokctl.dev/gang=a"), *two_pods(2)]
    sets: list[Lines] = [gang(1, 5 * SECOND, JOB_SETS), gang(2, 5 * SECOND, JOB_SETS)]
    ends: list[Lines] = [GangChange(6 * SECOND, 1, "Failed", 0), GangGone(6 * SECOND, 2)]

    assert number(".makespan", history([*whole, *sets, *ends])) == 18.0


def test_a_gang_with_a_lost_time_is_left_out() -> None:
    group = gang(1, 2 * SECOND, POD_GROUPS, pods=2)
    lines = [shape(2, f"{POD_GROUPS}=gang-1"), group, *two_pods(2)]
    lost = Missing("of 1 that ended, the times were lost or never seen")

    waiting: list[Lines] = [shape(3, "kwokctl.dev/gang=other:2"), seen(9, 30 * SECOND, shape=3)]
    for gap in (Gap(SECOND, 2 * SECOND, POD_GROUPS, "x"), Gap(7 * SECOND, 8 * SECOND, "pods", "x")):
        found = history([*lines, gap])
        assert figure("gangs.scheduling_latency", found) == lost
        assert number("", found) == 1
        all_lost = Missing("of 1 gangs, the times were lost or never seen")
        partly = SingleNumber(1, note="1 gangs with lost times are left out")
        assert figure("gangs.bound_in_part", found) == all_lost
        assert figure("gangs.most_waiting", found) == all_lost
        assert figure("gangs.most_waiting", history([*lines, gap, *waiting])) == partly
    other = history([*lines, Gap(SECOND, 2 * SECOND, VOLCANO_POD_GROUPS, "x")])
    assert latency("scheduling_latency", other).count == 1


def test_a_gang_whose_object_may_not_be_read_says_why() -> None:
    why = f"the API server refused to list {POD_GROUPS}"
    found = history([shape(2, f"{POD_GROUPS}=gang-1"), *two_pods(2)], missing={POD_GROUPS: why})

    assert figure("gangs", found) == SingleNumber(1, detail={POD_GROUPS: 1}, note=why)
    for name in ("scheduling_latency", "bound_in_part", "time_in_part", "most_waiting"):
        assert figure(f"gangs.{name}", found) == Missing(why)


def test_a_record_of_version_1_has_no_gangs() -> None:
    found = history([job(1, 0)], version=1)

    of_gangs = [name for name in names() if name.partition(".")[0] == "gangs"]
    why = Missing("a record of version 1 has no gangs")
    assert {name: figure(name, found) for name in of_gangs} == dict.fromkeys(of_gangs, why)


def test_a_gang_is_in_each_group_that_has_a_pod_of_it_and_whole_there() -> None:
    member = "kwokctl.dev/gang=ring"
    found = history(
        [
            shape(2, member, team="a"),
            shape(3, member, team="b"),
            *life(1, 0, SECOND, shape=2),
            *life(2, 0, 2 * SECOND, shape=3),
            *life(3, 0, SECOND),
        ]
    )

    by_team = groups(whole_run(found), "label:team")
    by_kind = groups(whole_run(found), "gang")

    assert {
        name: [len(gang.pods) for gang in gangs_in(part)] for name, part in by_team.items()
    } == {
        "a": [2],
        "b": [2],
        "none": [],
    }
    assert {name: len(part.pods) for name, part in by_kind.items()} == {
        "kwokctl.dev/gang": 2,
        "none": 1,
    }

"""Figures of gangs over time, bound in part, waiting and over, against what is computed by hand."""

import pytest

from kwokctl.fleet.gangs import (
    JOB_SETS,
    POD_GROUPS,
    VOLCANO_POD_GROUPS,
)
from kwokctl.measure.figures.figure_catalogue import groups, whole_run
from kwokctl.measure.figures.gangs import gangs_in
from kwokctl.measure.figures.values import Missing, SingleNumber
from kwokctl.measure.record.gang_lines import GangChange, GangGone
from kwokctl.measure.record.record_lines import Gap, JobChange, Lines, PodGone
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
)
from tests.support.measured_gangs import in_steps, latency, number, seconds, shape, two_pods


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

"""Figures of records that were written by hand, against what is computed by hand."""

import pytest

from kwokctl.measure.figures.figure_catalogue import groups, whole_run
from kwokctl.measure.figures.pods import reasons_of
from kwokctl.measure.figures.values import Durations, Levels, Missing, Series, SingleNumber
from kwokctl.measure.histories.history import RUN_LABEL, History
from kwokctl.measure.record.record_lines import (
    ApiProbe,
    Gap,
    JobChange,
    JobGone,
    Lines,
    Milestone,
    PodChange,
    PodGone,
    PodShape,
    RecordText,
    RunScope,
)
from tests.support.measured import (
    MS,
    READY,
    SECOND,
    bound,
    done,
    figure,
    history,
    job,
    life,
    names,
    running,
    seen,
    sent,
)


def number(name: str, found: History) -> float:
    value = figure(name, found)
    assert isinstance(value, SingleNumber)
    return value.value


def latency(name: str, found: History) -> Durations:
    value = figure(name, found)
    assert isinstance(value, Durations)
    return value


def test_pods_are_counted_by_what_they_have_reached() -> None:
    found = history(
        [
            *life(1, 0, 1 * SECOND, 2 * SECOND, 9 * SECOND),
            *life(2, 0, 1 * SECOND, 2 * SECOND),
            *life(3, 0, 1 * SECOND),
            *life(4, 0),
            PodGone(10 * SECOND, 2),
        ]
    )

    reached = ("created", "bound", "running", "ready", "ended", "deleted")
    assert [number(f"pods.{name}", found) for name in reached] == [4, 3, 2, 2, 1, 1]


def test_latencies_are_the_times_between_receipts() -> None:
    found = history(
        [
            *life(1, 0, 100 * MS, 300 * MS, 5 * SECOND),
            *life(2, 10 * MS, 60 * MS, 160 * MS, 6 * SECOND),
            *life(3, 20 * MS),
        ]
    )

    to_bound = latency("pods.created_to_bound", found)
    assert (to_bound.count, to_bound.p50, to_bound.max, to_bound.open) == (2, 0.05, 0.1, 1)
    assert latency("pods.bound_to_running", found).max == 0.2
    assert latency("pods.created_to_running", found).max == 0.3
    assert latency("pods.created_to_ready", found).min == 0.15
    assert latency("pods.running_to_ended", found).p99 == 5.84


def test_a_pod_that_is_gone_is_not_open_any_more() -> None:
    found = history([*life(1, 0, 5), *life(2, 0), PodGone(SECOND, 2)])

    assert latency("pods.created_to_bound", found).open == 0


def test_what_was_so_when_a_pod_was_seen_first_is_left_out_of_latencies() -> None:
    found = history(
        [
            *life(1, 0, 100 * MS, 200 * MS),
            seen(2, 0, node="n1"),
            running(2, 50 * MS),
            seen(3, 0, node="n1", phase="Running", conditions=READY),
        ]
    )

    assert number("pods.bound", found) == 3
    to_bound = latency("pods.created_to_bound", found)
    assert (to_bound.count, to_bound.left_out) == (1, 2)
    to_running = latency("pods.created_to_running", found)
    assert (to_running.count, to_running.left_out) == (2, 1)
    assert number("pods.in_gaps", found) == 2


def test_what_was_received_at_the_end_of_a_gap_is_left_out_of_latencies() -> None:
    found = history(
        [
            *life(1, 0, 100 * MS, 500 * MS),
            *life(2, 0, 300 * MS, 600 * MS),
            seen(3, 300 * MS),
            bound(3, 400 * MS),
            Gap(200 * MS, 300 * MS, "pods", "the watch ended"),
            *life(4, 310 * MS, 320 * MS),
        ]
    )

    to_bound = latency("pods.created_to_bound", found)
    assert (to_bound.count, to_bound.left_out, to_bound.max) == (2, 2, 0.1)
    to_running = latency("pods.created_to_running", found)
    assert (to_running.count, to_running.left_out) == (2, 0)
    assert figure("pods.in_gaps", found) == SingleNumber(2.0, note="1 gaps")


def test_what_was_received_when_a_gap_began_was_received_in_time() -> None:
    gap = Gap(100 * MS, 300 * MS, "pods", "the watch ended")
    found = history([*life(1, 0, 100 * MS), gap])

    assert latency("pods.created_to_bound", found).left_out == 0


def test_gaps_of_other_kinds_do_not_count_for_pods() -> None:
    gap = Gap(0, SECOND, "jobs", "the watch ended")
    found = history([*life(1, 0, 100 * MS), gap])

    assert latency("pods.created_to_bound", found).left_out == 0


def test_pods_that_come_with_a_second_list_have_no_creation() -> None:
    found = history([*life(1, SECOND, 2 * SECOND, listed=True)])

    assert number("pods.created", found) == 0
    lost = "of 1 that ended, the times were lost or never seen"
    assert figure("pods.created_to_bound", found) == Missing(lost)


def test_rates_count_the_receipts_of_each_second() -> None:
    found = history([each for pod in range(1, 5) for each in life(pod, pod * 400 * MS)])

    assert figure("rates.created", found) == Series(
        count=4, start=0.0, values=(2, 2), peak=3, sustained=None
    )


def test_a_pod_waits_until_it_is_bound_or_gone() -> None:
    found = history(
        [
            *life(1, 0, 600 * SECOND),
            *life(2, 0, 1800 * SECOND),
            seen(3, 1200 * SECOND),
            PodGone(2400 * SECOND, 3),
            seen(4, 0, node="n1"),
            seen(5, 0, phase="Failed"),
        ]
    )

    waiting = figure("pods.waiting", found)

    assert isinstance(waiting, Levels)
    # for an hour: 2 pods for 600 s, 1 for 600 s, 2 for 600 s, 1 for 600 s
    assert (waiting.mean, waiting.max, waiting.last) == (1.0, 2, 0)


MESSAGE = (
    "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient nvidia.com/gpu. "
    "no new claims to deallocate, preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod."
)


def test_reasons_are_read_from_what_the_scheduler_says() -> None:
    assert reasons_of(MESSAGE) == (
        "node(s) had untolerated taint(s)",
        "Insufficient nvidia.com/gpu",
    )
    assert reasons_of("no nodes available to schedule pods") == (
        "no nodes available to schedule pods",
    )


def test_unschedulable_pods_are_counted_with_their_last_reasons() -> None:
    texts = [RecordText(7, MESSAGE), RecordText(8, "0/4 nodes are available: 4 Insufficient cpu.")]
    stuck = [PodChange(1, 1, "", "Pending", 0, 8), PodChange(2, 1, "", "Pending", 0, 7)]
    found = history([*texts, seen(1, 0), *stuck, *life(2, 0, 5)])

    assert figure("pods.unschedulable", found) == SingleNumber(
        1.0, detail={"node(s) had untolerated taint(s)": 1, "Insufficient nvidia.com/gpu": 1}
    )
    assert number("pods.unschedulable_attempts", found) == 2


JOB_SHAPE = PodShape(2, "Job", "job-1", "uid-of-job-1", 0, "", {})


def test_a_job_has_the_times_of_the_pods_that_run_at_once() -> None:
    found = history(
        [
            JOB_SHAPE,
            job(1, 1 * SECOND, pods=2),
            *life(1, 2 * SECOND, 3 * SECOND, 5 * SECOND, 9 * SECOND, shape=2),
            *life(2, 2 * SECOND, 4 * SECOND, 6 * SECOND, 9 * SECOND, shape=2),
            *life(3, 7 * SECOND, 8 * SECOND, 9 * SECOND, shape=2),
            done(1, 11 * SECOND, pods=2),
        ]
    )

    expected = {
        "scheduling_latency": 3.0,
        "first_bound": 2.0,
        "start": 2.0,
        "occupancy": 5.0,
        "jct": 10.0,
    }
    assert {name: latency(f"jobs.{name}", found).max for name in expected} == expected
    assert number("jobs.makespan", found) == 10.0
    assert figure("jobs.dispatch", found) == Missing("there was no load")


def test_latencies_of_a_load_count_from_when_its_arrival_was_due() -> None:
    arrival = sent(0, 1 * SECOND, sent=3 * SECOND, accepted=4 * SECOND, made=("uid-of-job-1",))
    lines = [
        JOB_SHAPE,
        arrival,
        job(1, 5 * SECOND),
        *life(1, 6 * SECOND, 7 * SECOND, 8 * SECOND, shape=2),
        done(1, 10 * SECOND),
    ]
    found = history(lines)

    assert latency("jobs.dispatch", found).max == 4.0
    assert latency("jobs.jct_from_submission", found).max == 9.0
    assert latency("pods.submitted_to_running", found).max == 7.0
    assert number("jobs.makespan", found) == 9.0
    by_sent = figure("jobs.jct_from_submission", found, "sent")
    assert isinstance(by_sent, Durations)
    assert by_sent.max == 7.0
    by_accepted = figure("jobs.dispatch", found, "accepted")
    assert isinstance(by_accepted, Durations)
    assert by_accepted.max == 1.0


def test_a_makespan_needs_all_jobs_to_be_over() -> None:
    open_jobs = history([job(1, 0), done(1, SECOND), job(2, 0)])
    failed = history([job(1, 0), done(1, SECOND), job(2, 0), JobChange(5, 2, "Failed", 1)])
    gone = history([job(1, 0), done(1, SECOND), job(2, 0), JobGone(5, 2)])

    assert figure("jobs.makespan", open_jobs) == Missing("1 Jobs were not complete")
    assert number("jobs.makespan", failed) == 1.0
    assert number("jobs.makespan", gone) == 1.0
    assert number("jobs.failed", failed) == 1


def test_a_part_that_was_not_recorded_says_why() -> None:
    found = history([], missing={"jobs": "the API server refused to list jobs"})

    refused = Missing("the API server refused to list jobs")
    of_jobs = [name for name in names() if name.startswith("jobs.")]
    assert {name: figure(name, found) for name in of_jobs} == dict.fromkeys(of_jobs, refused)


def test_arrivals_are_counted_by_load_and_refusals_by_reason() -> None:
    found = history(
        [
            sent(0, SECOND),
            sent(1, SECOND, sent=1200 * MS, accepted=1300 * MS, load="batch"),
            sent(2, SECOND, accepted=None, refusal="exceeded quota"),
        ]
    )

    assert figure("arrivals", found) == SingleNumber(3.0, detail={"web": 2, "batch": 1})
    assert figure("refusals", found) == SingleNumber(1.0, detail={"exceeded quota": 1})
    assert number("arrivals.late", found) == 1
    assert latency("arrivals.lateness", found).max == 0.2
    answer = latency("arrivals.answer", found)
    assert (answer.count, answer.max, answer.open) == (2, 0.1, 1)


def test_no_refusal_of_a_load_is_zero_and_without_a_load_there_is_no_number() -> None:
    assert number("refusals", history([sent(0, SECOND)])) == 0
    assert figure("refusals", history([])) == Missing("there was no load")


def test_availability_is_the_share_of_probes_that_were_answered() -> None:
    probes = [
        ApiProbe(0, 2 * MS, 200),
        ApiProbe(1, 9 * MS, 500),
        ApiProbe(2, MS, 401),
        ApiProbe(3, SECOND, 0),
    ]
    found = history(probes)

    assert figure("api.availability", found) == SingleNumber(50.0, note="2 of 4 probes")
    assert latency("api.answer", found).count == 3


def test_a_latency_of_any_kind_counts_what_was_seen_to_begin_and_to_end() -> None:
    def reached(uid: str, time: int, *, is_end: bool, known: bool = True) -> Milestone:
        return Milestone(time, 0, uid, "", uid, is_end, known)

    found = history(
        [
            reached("a", SECOND, is_end=False),
            reached("b", SECOND, is_end=False, known=False),
            reached("c", SECOND, is_end=False),
            reached("a", 3 * SECOND, is_end=True),
            reached("b", 3 * SECOND, is_end=True),
            reached("d", 3 * SECOND, is_end=True),
        ],
        latencies=("ready=nodes,exists,Ready",),
    )

    ready = latency("latency.ready", found)
    assert (ready.count, ready.max, ready.left_out, ready.open) == (1, 2.0, 2, 1)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("namespace", {"default": 1, "other": 2}),
        ("owner", {"ReplicaSet": 2, "none": 1}),
        ("priority", {"0": 2, "1000": 1}),
        ("size", {"cpu=1": 2, "none": 1}),
        ("label:team", {"blue": 1, "none": 2}),
    ],
)
def test_pods_are_grouped(key: str, expected: dict[str, int]) -> None:
    alone = PodShape(2, "", "", "", 1000, "", {"team": "blue"})
    found = history(
        [
            alone,
            *life(1, 0, 5),
            *life(2, 0, 5, namespace="other"),
            *life(3, 0, 5, namespace="other", shape=2),
        ]
    )

    parted = groups(whole_run(found), key)

    assert {name: len(part.pods) for name, part in parted.items()} == expected


def test_of_a_run_with_loads_is_what_has_its_label_or_an_owner_of_it() -> None:
    labelled = PodShape(2, "", "", "", 0, "", {RUN_LABEL: "r1"})
    of_other_run = PodShape(3, "", "", "", 0, "", {RUN_LABEL: "r0"})
    of_made = PodShape(4, "Widget", "w", "uid-of-widget", 0, "", {})
    of_job = PodShape(5, "Job", "job-1", "uid-of-job-1", 0, "", {})
    found = history(
        [
            labelled,
            of_other_run,
            of_made,
            of_job,
            sent(0, 0, made=("uid-of-widget", "uid-of-set")),
            job(1, 0, owner_uid="uid-of-set"),
            job(2, 0),
            seen(1, 0),
            seen(2, 0, shape=2),
            seen(3, 0, shape=3),
            seen(4, 0, shape=4),
            seen(5, 0, shape=5),
        ],
        scope=RunScope(run="r1"),
    )

    assert [pod.name for pod in found.pods_of_run()] == ["web-2", "web-4", "web-5"]
    assert [each.name for each in found.jobs_of_run()] == ["job-1"]


def waiting_jobs(count: int, wait: int) -> History:
    """Return a run in which each Job waits so much longer than the one before."""
    shapes = [PodShape(10 + n, "Job", "", f"uid-of-job-{n}", 0, "", {}) for n in range(count)]
    lines: list[Lines] = [*shapes]
    for n in range(count):
        created = n * SECOND
        lines += [job(n, created), *life(n, created, created + n * wait, shape=10 + n)]
    return history(lines)


def test_a_queue_that_grows_shows_in_the_last_ten_jobs() -> None:
    assert number("jobs.scheduling_growth", waiting_jobs(20, 100 * MS)) == 1.0
    assert number("jobs.scheduling_growth", waiting_jobs(50, 0)) == 0.0
    why = "it needs 20 Jobs whose pods were all bound; there were 19"
    assert figure("jobs.scheduling_growth", waiting_jobs(19, 0)) == Missing(why)

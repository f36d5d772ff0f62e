"""The waterfall: the phases of each Job, gang or pod, and of groups of them if there are many."""

from itertools import pairwise

from kwokctl.measure.figures.figure_catalogue import whole_run
from kwokctl.measure.histories.history import History
from kwokctl.measure.pages.page_data import WaterfallItem
from kwokctl.measure.pages.waterfall import (
    MOST_GROUPS,
    MOST_LETTERS,
    MOST_SINGLE,
    PHASES,
    short,
    waterfall_of,
)
from kwokctl.measure.record.record_lines import JobChange, Lines, PodGone, PodShape
from tests.support.measured import SECOND, bound, done, history, job, life, running, seen, sent

QUEUED, STARTING, RUNNING, DONE, FAILED = range(1, 6)
HELD = 0
OF_JOB = PodShape(2, "Job", "job-1", "uid-of-job-1", 0, "cpu=1", {})


def of(found: History) -> WaterfallItem:
    item = waterfall_of(whole_run(found))
    assert item is not None
    return item


def rows(*lines: Lines) -> dict[str, object]:
    return {row.name: [*row.spans] for row in of(history(lines)).rows}


def of_job(number: int, *times: int) -> list[Lines]:
    return life(number, *(time * SECOND for time in times), shape=2)


def test_a_job_is_queued_until_all_its_pods_are_bound_then_starts_runs_and_is_done() -> None:
    found = rows(
        job(1, SECOND, pods=2), OF_JOB, *of_job(1, 1, 2, 3, 9), *of_job(2, 1, 4, 6, 8), done(1, 10 * SECOND, 2)
    )  # fmt: skip

    assert found == {
        "default/job-1": [(QUEUED, 1, 4), (STARTING, 4, 6), (RUNNING, 6, 10), (DONE, 10, 10)]
    }


def test_a_job_that_failed_says_so_and_one_on_its_way_is_open() -> None:
    failed = rows(
        job(1, 0, pods=1), OF_JOB, *of_job(1, 0, 2, 3), JobChange(5 * SECOND, 1, "Failed", 1)
    )
    waiting = rows(job(1, SECOND, pods=1), OF_JOB, *of_job(1, 1))

    assert failed["default/job-1"] == [
        (QUEUED, 0, 2), (STARTING, 2, 3), (RUNNING, 3, 5), (FAILED, 5, 5)
    ]  # fmt: skip
    assert waiting["default/job-1"] == [(QUEUED, 1, None)]


def test_what_a_load_submitted_late_was_held_back() -> None:
    found = rows(sent(0, SECOND, made=("uid-of-job-1",)), job(1, 3 * SECOND))

    assert found["default/job-1"] == [(HELD, 1, 3), (QUEUED, 3, None)]


def test_pods_are_shown_where_there_are_no_jobs() -> None:
    found = history(
        [
            *life(1, 0, SECOND, 2 * SECOND, 5 * SECOND),
            seen(2, SECOND),
            bound(2, 2 * SECOND),
            running(2, 2 * SECOND),
            PodGone(4 * SECOND, 2),
        ]
    )

    item = of(found)
    assert item.title == "Pods"
    assert [(row.name, [*row.spans]) for row in item.rows] == [
        ("default/web-1", [(QUEUED, 0, 1), (STARTING, 1, 2), (RUNNING, 2, 5), (DONE, 5, 5)]),
        ("default/web-2", [(QUEUED, 1, 2), (RUNNING, 2, 4), (DONE, 4, 4)]),
    ]


def test_pods_beside_jobs_are_counted_in_the_note() -> None:
    item = of(history([job(1, 0), *life(1, 0), *life(2, 0)]))

    assert (len(item.rows), item.note) == (1, "2 pods are in no Job or gang")


def test_a_run_without_anything_has_no_waterfall() -> None:
    assert waterfall_of(whole_run(history([]))) is None


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    long = "n" * 100 + "x" * 200 + "-" + "7" * 39

    assert short(long) == "n" * 89 + "…-" + "7" * 39
    assert short("n" * MOST_LETTERS) == "n" * MOST_LETTERS


def test_two_thousand_jobs_have_a_row_each_and_more_are_grouped() -> None:
    jobs = [job(number, number * SECOND) for number in range(1, MOST_SINGLE + 1)]
    each = of(history(jobs))
    grouped = of(history([*jobs, job(MOST_SINGLE + 1, 3000 * SECOND)]))

    assert (len(each.rows), each.aggregated) == (MOST_SINGLE, False)
    assert grouped.aggregated
    assert len(grouped.rows) <= MOST_GROUPS
    assert grouped.rows[0].name == "default/job-1 … default/job-6 (6)"
    assert [*grouped.rows[0].spans] == [(QUEUED, 3, None)]
    assert "2,001 of them: a row has 6" in grouped.note


def test_the_phases_of_a_row_follow_each_other() -> None:
    item = of(history([*life(1, 0, 5 * SECOND, 5 * SECOND, 5 * SECOND)]))

    spans = [*item.rows[0].spans]
    assert [phase for phase, _, _ in spans] == [QUEUED, DONE]
    assert all(before[2] == after[1] for before, after in pairwise(spans))
    assert [phase.name for phase in PHASES][QUEUED:] == [
        "queued", "starting", "running", "done", "failed"
    ]  # fmt: skip

"""Finds out when a run has ended: nothing of it is on its way any more, and nothing has changed for a while."""

import asyncio
from collections import Counter
from collections.abc import Callable

from kwokctl.measure.figures.figure_catalogue import whole_run
from kwokctl.measure.figures.pods import reasons_of
from kwokctl.measure.histories.history import History, PodHistory
from kwokctl.measure.histories.object_history import ObjectHistory
from kwokctl.measure.judging.assertions import Assertion, judge
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.running.workloads import Workloads

QUIET = 3.0
"""Seconds in which nothing of the run changes."""
_EVERY = 0.1
_REST = 9
"""Times as long as it takes to look at a condition, nothing is looked at."""
_NAMED = 3


async def drained(
    history: History,
    workloads: Workloads,
    now: Callable[[], int],
    *,
    is_watched: Callable[[], bool],
) -> None:
    """Return when nothing of the run is on its way, and nothing has changed for 3 s.

    On their way are pods, Jobs, and workloads at which no controller has looked. `is_watched` returns whether pods and Jobs are seen now:
    what happens while their watches are interrupted comes later.
    """
    begin, were_new = now(), False
    while True:
        if not is_watched():
            begin = now()
        quiet_since = max(history.last_change, begin)
        if now() - quiet_since >= QUIET * SECOND and not has_open(history):
            await workloads.look()
            if not (workloads.new or were_new):
                return
            # Their pods come after the look of a controller, and may be late as well.
            begin, were_new = now(), bool(workloads.new)
        await asyncio.sleep(_EVERY)


async def until(condition: Assertion, history: History, now: Callable[[], int]) -> None:
    """Return when a condition holds; looking at it takes a tenth of the time at most."""
    while True:
        begin = now()
        if judge([condition], whole_run(history))[0].passed:
            return
        await asyncio.sleep(max(_EVERY, (now() - begin) * _REST / SECOND))


def has_open(history: History) -> bool:
    """Return whether something of the run is still expected to change."""
    return any(history.has_pod(pod) for pod in history.open_pods()) or any(
        history.has_job(job) for job in history.open_jobs()
    )


def undrained(history: History, workloads: Workloads) -> str:
    """Say what of the run is still on its way; empty if nothing is."""
    pods = [pod for pod in history.open_pods() if history.has_pod(pod)]
    jobs = [job for job in history.open_jobs() if history.has_job(job)]
    found = [*_of_pods(pods, history), *_of_jobs(jobs), workloads.new]
    return ", ".join(filter(None, found))


def _of_pods(pods: list[PodHistory], history: History) -> list[str]:
    going = [pod for pod in pods if pod.going is not None]
    waiting = [pod for pod in pods if pod.going is None]
    unbound = [pod for pod in waiting if not pod.node]
    stuck = [pod for pod in unbound if pod.message]
    reasons = Counter(reason for pod in stuck for reason in reasons_of(history.texts[pod.message]))
    why = ", ".join(reason for reason, _ in reasons.most_common(_NAMED))
    parts = (
        (len(stuck), f"unschedulable ({why})"),
        (len(unbound) - len(stuck), "not yet bound"),
        (len(waiting) - len(unbound), "bound, but not Running"),
        (len(going), "being deleted"),
    )
    return [f"{number:,} pods {state}" for number, state in parts if number]


def _of_jobs(jobs: list[ObjectHistory]) -> list[str]:
    suspended = sum(job.state == "Suspended" for job in jobs)
    active = len(jobs) - suspended
    parts = ((active, "active"), (suspended, "suspended"))
    return [f"{number:,} Jobs {state}" for number, state in parts if number]

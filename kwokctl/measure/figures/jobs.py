"""Figures of Jobs, with the times that published experiments use.

s is when a Job was submitted, c when the object appeared, b when as many of its pods were bound as run at
once, r when as many had run, e when it was complete. The pods after those, such as replacements, do not count.
"""

from collections.abc import Callable
from functools import partial

import msgspec

from kwokctl.measure.figures.duration_spans import nth, spans
from kwokctl.measure.figures.figure import Better, Figure, RunView
from kwokctl.measure.figures.values import Missing, SingleNumber, Value
from kwokctl.measure.histories.history import PodHistory
from kwokctl.measure.histories.object_history import ObjectHistory
from kwokctl.measure.record.run_clock import SECOND

_ENDS = 10
"""Jobs at each end of a run that are compared."""


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """The times of a Job; None is what has not happened, or is not known."""

    submitted: int | None
    created: int | None
    first_bound: int | None
    bound: int | None
    running: int | None
    done: int | None
    is_lost: bool
    """Whether one of them was lost."""


def _times(view: RunView, job: ObjectHistory, pods: list[PodHistory]) -> Times:
    gaps, own = view.pod_gaps, view.job_gaps
    bound = sorted(pod.bound for pod in pods if pod.bound is not None)
    running = sorted(pod.running for pod in pods if pod.running is not None)
    own_times = (time for time in (job.created, job.done) if time is not None)
    return Times(
        submitted=view.submitted(job.uid, job.owner_uid),
        created=job.created,
        first_bound=bound[0] if bound else None,
        bound=nth(bound, job.pods),
        running=nth(running, job.pods),
        done=job.done,
        is_lost=job.created is None
        or any(own.hold(time) for time in own_times)
        or any(pod.at_first for pod in pods)
        or any(gaps.hold(time) for time in (*bound, *running)),
    )


def _all_times(view: RunView) -> list[Times]:
    by_owner: dict[str, list[PodHistory]] = {}
    for pod in view.pods:
        by_owner.setdefault(pod.shape.owner_uid, []).append(pod)
    return [_times(view, job, by_owner.get(job.uid, [])) for job in view.jobs]


def _latency(begin: str, end: str, view: RunView) -> Value:
    return spans(view.once(_all_times), begin, end, "no Job came so far")


def _growth(view: RunView) -> Value:
    """Return by how much the last Jobs waited longer than the first: a queue that grows shows here."""
    known = [
        times.bound - times.created
        for times in sorted(view.once(_all_times), key=lambda each: each.created or 0)
        if times.bound is not None and times.created is not None and not times.is_lost
    ]
    if len(known) < 2 * _ENDS:
        return Missing(
            f"it needs {2 * _ENDS} Jobs whose pods were all bound; there were {len(known)}"
        )
    first, last = sum(known[:_ENDS]) / _ENDS, sum(known[-_ENDS:]) / _ENDS
    return SingleNumber((last - first) / SECOND)


def _makespan(view: RunView) -> Value:
    done = [job.done for job in view.jobs if job.done is not None]
    if not done:
        return Missing("no Job was complete")
    if open_jobs := sum(not job.is_settled for job in view.jobs):
        return Missing(f"{open_jobs:,} Jobs were not complete")
    submitted = (view.submitted(job.uid, job.owner_uid) for job in view.jobs)
    begins = [*submitted, *(job.created for job in view.jobs)]
    return SingleNumber((max(done) - min(each for each in begins if each is not None)) / SECOND)


def _count(has: Callable[[ObjectHistory], bool], view: RunView) -> Value:
    return SingleNumber(sum(map(has, view.jobs)))


def _counted(name: str, title: str, has: Callable[[ObjectHistory], bool]) -> Figure:
    return Figure(
        name=f"jobs.{name}", unit="", title=title, compute=partial(_count, has), needs="jobs"
    )


def _between(name: str, title: str, begin: str, end: str, better: Better | None = None) -> Figure:
    compute = partial(_latency, begin, end)
    return Figure(
        name=f"jobs.{name}",
        unit="s",
        title=title,
        compute=compute,
        form="distribution",
        needs="jobs",
        better=better,
    )


def _submitted(name: str, title: str, end: str) -> Figure:
    def compute(view: RunView) -> Value:
        if not view.history.arrivals:
            return Missing("there was no load")
        return _latency("submitted", end, view)

    return Figure(
        name=f"jobs.{name}",
        unit="s",
        title=title,
        compute=compute,
        form="distribution",
        needs="jobs",
    )


FIGURES = (
    _counted("created", "Jobs that were created", lambda job: job.created is not None),
    _counted("done", "Jobs that were complete", lambda job: job.done is not None),
    _counted("failed", "Jobs that failed", lambda job: job.failed is not None),
    _submitted("dispatch", "from the arrival until the Job's object appeared", "created"),
    _between("scheduling_latency", "from the object until all pods were bound", "created", "bound"),
    Figure(name="jobs.scheduling_growth", unit="s", title="mean scheduling latency of the last ten minus that of the first ten",
           compute=_growth, needs="jobs"),
    _between("first_bound", "from the object until the first pod was bound", "created", "first_bound"),
    _between("start", "from all pods bound until all had run", "bound", "running"),
    # How long pods run is for the workload to say.
    _between("occupancy", "from all pods Running until complete", "running", "done", "neither"),
    _between("jct", "completion time, from the object", "created", "done"),
    _submitted("jct_from_submission", "completion time, from the arrival", "done"),
    Figure(name="jobs.makespan", unit="s", title="from the first submission until the last was complete",
           compute=_makespan, needs="jobs", better="less"),
)  # fmt: skip

"""Figures of pods: how many, how fast, and why some are not scheduled."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from kwokctl.measure.figures.figure import Better, Figure, RunView
from kwokctl.measure.figures.levels import after_steps, levels
from kwokctl.measure.figures.values import SingleNumber, Value, distribution, series
from kwokctl.measure.histories.history import PodHistory

_AVAILABLE = re.compile(r"^\d+/\d+ nodes are available: ")
_LEADING_COUNT = re.compile(r"^\d+ ")
_Begin = Callable[[RunView, PodHistory], int | None]


def _reached(pod: PodHistory, state: str) -> bool:
    return getattr(pod, state) is not None or state in pod.at_first


def _count(state: str, view: RunView) -> Value:
    if state == "created":
        return SingleNumber(sum(pod.created is not None for pod in view.pods))
    return SingleNumber(sum(_reached(pod, state) for pod in view.pods))


def _latency(begin: _Begin, end: str, view: RunView) -> Value:
    """Return the distribution of the times from a beginning to a state."""
    gaps = view.pod_gaps
    durations: list[int] = []
    left_out = still_open = 0
    for pod in view.pods:
        at: int | None = getattr(pod, end)
        start = begin(view, pod)
        if at is None and end not in pod.at_first:
            still_open += not (pod.gone is not None or pod.ended is not None) and start is not None
        elif at is None or start is None or gaps.hold(at) or gaps.hold(start):
            left_out += 1
        else:
            durations.append(at - start)
    return distribution(durations, left_out=left_out, still_open=still_open, what=_NEVER[end])


_NEVER = {
    "bound": "no pod was bound",
    "running": "no pod ran",
    "ready": "no pod was Ready",
    "ended": "no pod ended",
}


def _state(state: str, _view: RunView, pod: PodHistory) -> int | None:
    time: int | None = getattr(pod, state)
    return time


def _submitted(view: RunView, pod: PodHistory) -> int | None:
    return view.submitted(pod.uid, pod.shape.owner_uid)


def _rate(state: str, view: RunView) -> Value:
    times: Iterable[int | None] = (getattr(pod, state) for pod in view.pods)
    return series((time for time in times if time is not None), view.history.begin)


def _waiting(view: RunView) -> Value:
    steps = (step for pod in view.pods for step in _wait(pod))
    return levels(after_steps(steps), view.history.begin, view.history.end)


def _wait(pod: PodHistory) -> Iterator[tuple[int, float]]:
    """Yield when a pod begins to wait for a node, and when it waits no longer."""
    if {"bound", "ended"} & {*pod.at_first}:
        return
    yield pod.seen, 1
    ends = [time for time in (pod.bound, pod.ended, pod.gone) if time is not None]
    if ends:
        yield min(ends), -1


def _gap_count(view: RunView) -> Value:
    gaps = view.pod_gaps
    lost = sum(_is_lost(pod, gaps.hold) for pod in view.pods)
    return SingleNumber(lost, note=f"{len(gaps):,} gaps")


def _is_lost(pod: PodHistory, hold: Callable[[int], bool]) -> bool:
    times = (pod.created, pod.bound, pod.running, pod.ready, pod.ended)
    return bool(pod.at_first) or any(time is not None and hold(time) for time in times)


def _unschedulable(view: RunView) -> Value:
    reasons: Counter[str] = Counter()
    for pod in view.pods:
        if pod.attempts:
            reasons.update(reasons_of(view.history.texts[pod.last_message]))
    return SingleNumber(
        sum(bool(pod.attempts) for pod in view.pods), detail=dict(reasons.most_common())
    )


def _attempts(view: RunView) -> Value:
    total = sum(pod.attempts for pod in view.pods)
    note = "attempts with the same outcome are reported once" if total else ""
    return SingleNumber(total, note=note)


def reasons_of(message: str) -> tuple[str, ...]:
    """Return the reasons in a message of the scheduler, without the numbers of nodes."""
    body = _AVAILABLE.sub("", message).partition(". ")[0].rstrip(". ")
    parts = (_LEADING_COUNT.sub("", part).strip() for part in body.split(", "))
    return tuple(part for part in parts if part)


def _from(begin: str) -> _Begin:
    return partial(_state, begin)


def _latency_figure(
    name: str, title: str, begin: _Begin, end: str, needs: str = "", better: Better | None = None
) -> Figure:
    compute = partial(_latency, begin, end)
    return Figure(
        name=f"pods.{name}",
        unit="s",
        title=title,
        compute=compute,
        form="distribution",
        needs=needs,
        better=better,
    )


def _count_figure(name: str, title: str, state: str = "") -> Figure:
    return Figure(name=f"pods.{name}", unit="", title=title, compute=partial(_count, state or name))


def _rate_figure(name: str, title: str, state: str, better: Better | None = None) -> Figure:
    compute = partial(_rate, state)
    return Figure(
        name=f"rates.{name}", unit="/s", title=title, compute=compute, form="series", better=better
    )


FIGURES = (
    _count_figure("created", "pods that were created"),
    _count_figure("bound", "pods that were bound to a node"),
    _count_figure("running", "pods that have run"),
    _count_figure("ready", "pods that were Ready"),
    _count_figure("ended", "pods that ended, in success or failure"),
    _count_figure("deleted", "pods that were deleted", "gone"),
    Figure(name="pods.unschedulable", unit="", title="pods that the scheduler could not place at first, or at all",
           compute=_unschedulable),
    Figure(name="pods.unschedulable_attempts", unit="", title="attempts to place them that failed with a new reason",
           compute=_attempts),
    Figure(name="pods.in_gaps", unit="", title="pods of which a time is not known", compute=_gap_count),
    _latency_figure("created_to_bound", "from creation until bound to a node", _from("created"), "bound"),
    _latency_figure("bound_to_running", "from bound until Running", _from("bound"), "running"),
    _latency_figure("created_to_running", "from creation until Running", _from("created"), "running"),
    _latency_figure("created_to_ready", "from creation until Ready", _from("created"), "ready"),
    # How long pods run, and how many come and go, is for the workload to say.
    _latency_figure("running_to_ended", "from Running to the end", _from("running"), "ended", better="neither"),
    _latency_figure("submitted_to_bound", "from the arrival until bound to a node", _submitted, "bound", "loads"),
    _latency_figure("submitted_to_running", "from the arrival until Running", _submitted, "running", "loads"),
    Figure(name="pods.waiting", unit="", title="pods that waited for a node, over time", compute=_waiting, form="levels",
           better="less"),
    _rate_figure("created", "pods created a second", "created", "neither"),
    _rate_figure("bound", "pods bound a second", "bound"),
    _rate_figure("running", "pods that began to run a second", "running"),
    _rate_figure("deleted", "pods deleted a second", "gone", "neither"),
)  # fmt: skip

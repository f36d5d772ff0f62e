"""The waterfall of a run: each Job or gang, or each pod where there are none, with its phases over time. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median_low

import msgspec

from kwokctl.measure.figures.figure import RunView
from kwokctl.measure.figures.gangs import GangTimes, gang_times, gangs_in
from kwokctl.measure.grouping.gangs import Gang, membership, sized
from kwokctl.measure.histories.history import PodHistory
from kwokctl.measure.pages.page_data import WaterfallItem, WaterfallPhase, WaterfallRow
from kwokctl.measure.record.run_clock import SECOND

MOST_SINGLE = 2000
"""Rows of which each is one Job, gang or pod."""
MOST_GROUPS = 400
"""Rows of which each is several of them."""
MOST_LETTERS = 130
"""Letters of the name of a row: those of a namespace and a Job fit."""
_END = 40
"""Letters of the end of a longer name, which has its number."""
PHASES = (
    WaterfallPhase(name="held back"),
    WaterfallPhase(name="queued", level="warning"),
    WaterfallPhase(name="starting"),
    WaterfallPhase(name="running", level="good"),
    WaterfallPhase(name="done", level="good"),
    WaterfallPhase(name="failed", level="bad"),
)
_DONE, _FAILED = 4, 5
Span = tuple[int, float, float | None]


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """The times of a Job, a gang or a pod in nanoseconds; None is what has not happened, or is not known."""

    name: str
    begins: tuple[int | None, int | None, int | None, int | None]
    """The times at which the first four phases began: submitted, given to the scheduler, bound, running."""
    end: int | None
    is_done: bool
    """Whether its end is a success."""

    @property
    def first(self) -> int | None:
        """The time at which it was seen first."""
        return next((time for time in self.begins if time is not None), self.end)


def waterfall_of(view: RunView) -> WaterfallItem | None:
    """Return the waterfall of all Jobs and gangs, or of pods that are in none; None without any."""
    gangs = view.once(gangs_in)
    if gangs:
        times = view.once(gang_times)
        lives = [_of_gang(view, *each) for each in zip(gangs, times, strict=True)]
    else:
        lives = [_of_pod(view, pod) for pod in view.pods]
    begin, end = view.history.begin, view.history.end
    seen = sorted(
        (each for each in lives if each.first is not None), key=lambda each: each.first or 0
    )
    if not seen:
        return None
    rows, note = _rows(seen, begin)
    what = "Jobs and gangs" if gangs else "Pods"
    notes = [note, _unseen(len(lives) - len(seen)), _others(view) if gangs else ""]
    return WaterfallItem(
        id="waterfall",
        title=what,
        note="; ".join(filter(None, notes)),
        phases=PHASES,
        rows=rows,
        aggregated=len(seen) > MOST_SINGLE,
        end=_seconds(end, begin),
    )


def _unseen(count: int) -> str:
    return f"{count:,} without known times are left out" if count else ""


def _others(view: RunView) -> str:
    """Say how many pods have no row, for they are in no Job or gang."""
    count = sum(not membership(pod, view.history) for pod in view.pods)
    return f"{count:,} pods are in no Job or gang" if count else ""


def _rows(lives: Sequence[Life], begin: int) -> tuple[list[WaterfallRow], str]:
    """Return a row for each of them, or for groups of those that came one after the other."""
    if len(lives) <= MOST_SINGLE:
        return [
            WaterfallRow(name=short(each.name), spans=[*spans(each, begin)]) for each in lives
        ], ""
    size = -(-len(lives) // MOST_GROUPS)
    groups = [lives[start : start + size] for start in range(0, len(lives), size)]
    rows = [
        WaterfallRow(
            name=f"{short(group[0].name)} … {short(group[-1].name)} ({len(group):,})",
            spans=[*spans(_middle(group), begin)],
        )
        for group in groups
    ]
    return rows, (
        f"{len(lives):,} of them: a row has {size} that came one after the other, and of each phase the "
        "median beginning, if half of them have reached it"
    )


def short(name: str) -> str:
    """Return a name, without its middle if it is longer than `MOST_LETTERS`."""
    if len(name) <= MOST_LETTERS:
        return name
    return f"{name[: MOST_LETTERS - _END - 1]}…{name[-_END:]}"


def _middle(group: Sequence[Life]) -> Life:
    """Return the median times of a group; an end, or a phase, that most of them did not reach is left out."""
    columns = zip(*(each.begins for each in group), strict=True)
    submitted, created, bound, running = (_median(column, len(group)) for column in columns)
    end = _median((each.end for each in group), len(group))
    done = 2 * sum(each.is_done for each in group) >= len(group)
    return Life(name="", begins=(submitted, created, bound, running), end=end, is_done=done)


def _median(times: Iterable[int | None], size: int) -> int | None:
    known = [time for time in times if time is not None]
    return median_low(known) if 2 * len(known) >= size else None


def spans(life: Life, begin: int) -> Iterator[Span]:
    """Yield the phases in order: one that is open has no end, and that of the end has no length."""
    reached = [(phase, time) for phase, time in enumerate(life.begins) if time is not None]
    latest = 0
    for place, (phase, time) in enumerate(reached):
        following = reached[place + 1][1] if place + 1 < len(reached) else life.end
        latest = max(latest, time)
        until = None if following is None else _seconds(max(following, latest), begin)
        start = _seconds(latest, begin)
        if until != start:
            yield phase, start, until
    if life.end is not None:
        end = _seconds(max(life.end, latest), begin)
        yield (_DONE if life.is_done else _FAILED), end, end


def _of_gang(view: RunView, gang: Gang, times: GangTimes) -> Life:
    is_held = times.submitted is not None and times.submitted != times.created
    return Life(
        name=gang_name(view, gang),
        begins=(
            times.submitted if is_held else None,
            times.created,
            times.bound,
            times.running,
        ),
        end=times.over,
        is_done=times.done is not None,
    )


def gang_name(view: RunView, gang: Gang) -> str:
    """Return the name of a gang with its namespace."""
    if gang.owner and gang.has_own_object:
        return f"{gang.owner.namespace}/{gang.owner.name}"
    pod = gang.pods[0]
    name, _ = sized(membership(pod, view.history).partition("=")[2])
    return f"{pod.namespace}/{name}"


def _of_pod(view: RunView, pod: PodHistory) -> Life:
    over = [time for time in (pod.ended, pod.gone) if time is not None]
    submitted = view.submitted(pod.uid, pod.shape.owner_uid)
    return Life(
        name=f"{pod.namespace}/{pod.name}",
        begins=(submitted, pod.created, pod.bound, pod.running),
        end=min(over, default=None),
        is_done=pod.phase != "Failed",
    )


def _seconds(time: int, begin: int) -> float:
    return round((time - begin) / SECOND, 3)

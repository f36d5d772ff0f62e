"""Figures of gangs, with the times that published experiments use.

s is when a gang was submitted, c when it was given to the scheduler: its object appeared (or its first pod,
if it has no object for itself), or Kueue admitted it. At b all the pods that it needs were bound, at r they had
run, at e it was done: its JobSet or the Jobs of its pods were complete, or, where pods have no Job, all had ended.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate, pairwise

import msgspec

from kwokctl.fleet.gangs import JOBS
from kwokctl.measure.figures.duration_spans import nth, spans
from kwokctl.measure.figures.figure import Better, Figure, RunView
from kwokctl.measure.figures.values import Missing, SingleNumber, Value, distribution
from kwokctl.measure.grouping.gangs import Gang, gangs_of
from kwokctl.measure.histories.history import Gaps
from kwokctl.measure.histories.object_history import ObjectHistory
from kwokctl.measure.record.gang_lines import ADMITTED, COMPLETE
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.replacing import replace

PAUSE = SECOND
"""The time in which no pod of a gang is bound, after which a gang that was begun counts as bound in part."""
_NODES = "nodes before"
_NO_GAPS = Gaps()
_NONE = "no gang came so far"


class GangTimes(msgspec.Struct, frozen=True, kw_only=True):
    """The times of a gang; None is what has not happened, or is not known."""

    submitted: int | None
    appeared: int | None
    """The time at which its object, or else its first pod, was created."""
    created: int | None
    all_bound: Sequence[int]
    """The times at which the pods that it needs were bound, in order."""
    first_bound: int | None
    bound: int | None
    running: int | None
    done: int | None
    over: int | None
    """The time after which nothing more is expected of it."""
    nodes: int
    is_lost: bool
    """Whether one of them was lost, or the number of pods that it needs is not known."""


def gangs_in(view: RunView) -> list[Gang]:
    """Return the gangs of a run; of a group those that have a pod in it, with all their pods."""
    if view.whole is None:
        return gangs_of(view.history, view.pods, view.jobs)
    uids = {pod.uid for pod in view.pods}
    of_run = view.whole.once(gangs_in)
    return [gang for gang in of_run if any(pod.uid in uids for pod in gang.pods)]


def _times(view: RunView, gang: Gang) -> GangTimes:
    pods, workload = gang.pods, gang.workload
    bound = sorted((pod.bound, pod.node) for pod in pods if pod.bound is not None)[: gang.size]
    running = sorted(pod.running for pod in pods if pod.running is not None)
    all_bound = [time for time, _ in bound]
    appeared, done = _appeared(gang), _done(gang)
    submitted = _submitted(view, gang)
    return GangTimes(
        submitted=appeared if submitted is None and workload else submitted,
        appeared=appeared,
        created=workload.admitted if workload else appeared,
        all_bound=all_bound,
        first_bound=all_bound[0] if all_bound else None,
        bound=nth(all_bound, gang.size),
        running=nth(running, gang.size),
        done=done,
        over=_over(gang) if done is None else done,
        nodes=len({node for _, node in bound}),
        is_lost=bool(gang.unknown) or _is_lost(view, gang),
    )


def _appeared(gang: Gang) -> int | None:
    """Return when its object appeared, or else its first pod; None if that is not known."""
    if gang.owner and gang.has_own_object and gang.owner.created is not None:
        return gang.owner.created
    known = [pod.created for pod in gang.pods if pod.created is not None]
    return min(known) if known and len(known) == len(gang.pods) else None


def _submitted(view: RunView, gang: Gang) -> int | None:
    """Return when the arrival of its object or of one of its pods was submitted."""
    owners = [(gang.owner.uid, gang.owner.owner_uid)] if gang.owner else []
    pods = [(pod.uid, pod.shape.owner_uid) for pod in gang.pods]
    times = (view.submitted(*uids) for uids in owners + pods)
    return next((time for time in times if time is not None), None)


def _done(gang: Gang) -> int | None:
    """Return when its Jobs or its JobSet were complete; without these, when all its pods had ended."""
    if gang.enders:
        return _last([each.done for each in gang.enders])
    if gang.owner and gang.has_own_object and gang.owner.done is not None:
        return gang.owner.done
    successful = sum(pod.phase == "Succeeded" for pod in gang.pods)
    return _all_ended(gang) if successful >= gang.size else None


def _over(gang: Gang) -> int | None:
    """Return when a gang was over that was not done: one of its objects failed, or it or all its pods are gone."""
    if gang.enders:
        ends = [each.gone if each.failed is None else each.failed for each in gang.enders]
        return min((time for time in ends if time is not None), default=None)
    owner = gang.owner
    if owner and gang.has_own_object and (owner.failed, owner.gone) != (None, None):
        return owner.gone if owner.failed is None else owner.failed
    return _all_ended(gang)


def _all_ended(gang: Gang) -> int | None:
    return _last([pod.gone if pod.ended is None else pod.ended for pod in gang.pods])


def _last(times: Sequence[int | None]) -> int | None:
    """Return the last of these times; None if one of them has not come, or there are none."""
    known = [time for time in times if time is not None]
    return max(known) if known and len(known) == len(times) else None


def _is_lost(view: RunView, gang: Gang) -> bool:
    times = [time for pod in gang.pods for time in (pod.bound, pod.running)]
    if not gang.enders:
        times += [time for pod in gang.pods for time in (pod.created, pod.ended)]
    if any(pod.at_first for pod in gang.pods) or _hold(view.pod_gaps, times):
        return True
    objects = [*gang.enders, *([gang.owner] if gang.owner and gang.has_own_object else [])]
    if any(_hold(_gaps(view, each), (each.created, each.done)) for each in objects):
        return True
    workload = gang.workload
    return workload is not None and _is_admission_lost(view, workload)


def _hold(gaps: Gaps, times: Iterable[int | None]) -> bool:
    return any(gaps.hold(time) for time in times if time is not None)


def _is_admission_lost(view: RunView, workload: ObjectHistory) -> bool:
    if workload.admitted is None:
        return workload.state in (ADMITTED, COMPLETE)
    return _hold(_gaps(view, workload), (workload.admitted,))


def _gaps(view: RunView, each: ObjectHistory) -> Gaps:
    return view.job_gaps if each.kind == JOBS else view.history.gaps.get(each.kind, _NO_GAPS)


def gang_times(view: RunView) -> list[GangTimes]:
    """Return the times of `gangs_in`, in the same order."""
    return [_times(view, gang) for gang in view.once(gangs_in)]


def _count(view: RunView) -> Value:
    kinds = Counter(gang.kind for gang in view.once(gangs_in))
    reasons = [view.history.header.missing.get("jobs", "")]
    reasons += [gang.unknown for gang in view.once(gangs_in)]
    note = "; ".join(filter(None, dict.fromkeys(reasons)))
    return SingleNumber(len(view.once(gangs_in)), detail=dict(kinds.most_common()), note=note)


def _done_count(view: RunView) -> Value:
    return SingleNumber(sum(times.done is not None for times in view.once(gang_times)))


def _latency(begin: str, end: str, view: RunView) -> Value:
    value = spans(view.once(gang_times), begin, end, _NONE)
    unknown = _unknown(view)
    return Missing(unknown) if unknown and isinstance(value, Missing) else value


def _unknown(view: RunView) -> str:
    """Return why the number of pods that a gang needs is not known; empty if it is of all gangs."""
    return next((gang.unknown for gang in view.once(gangs_in) if gang.unknown), "")


def _submitted_latency(end: str, view: RunView) -> Value:
    if not view.history.arrivals and not any(gang.workload for gang in view.once(gangs_in)):
        return Missing("there was no load, and no Workload of Kueue")
    return _latency("submitted", end, view)


def _of_known(compute: Callable[[list[GangTimes], int], Value], view: RunView) -> Value:
    """Compute a figure from the gangs of which all times are known, and the end of the run."""
    all_times = view.once(gang_times)
    known = [times for times in all_times if not times.is_lost]
    if all_times and not known:
        lost = f"of {len(all_times):,} gangs, the times were lost or never seen"
        return Missing(_unknown(view) or lost)
    value = compute(known, view.history.end)
    left_out = len(all_times) - len(known)
    if isinstance(value, SingleNumber) and left_out:
        return replace(value, note=f"{left_out:,} gangs with lost times are left out")
    return value


def _in_part(known: list[GangTimes], end: int) -> list[GangTimes]:
    """Return the gangs of which pods were bound, and then for a second no other though some were missing."""
    return [times for times in known if _pauses(times, end)]


def _pauses(times: GangTimes, end: int) -> bool:
    known = list(times.all_bound)
    if times.bound is None and known:
        known.append(end if times.over is None else times.over)
    return any(after - before > PAUSE for before, after in pairwise(known))


def _bound_in_part(known: list[GangTimes], end: int) -> Value:
    found = _in_part(known, end)
    never = sum(times.bound is None for times in found)
    return SingleNumber(len(found), detail={"never bound as a whole": never} if never else {})


def _time_in_part(known: list[GangTimes], end: int) -> Value:
    found = _in_part(known, end)
    ends = [(times, times.over if times.bound is None else times.bound) for times in found]
    durations = [until - times.all_bound[0] for times, until in ends if until is not None]
    return distribution(
        durations, still_open=len(found) - len(durations), what="no gang stayed bound in part"
    )


def _most_waiting(known: list[GangTimes], _end: int) -> Value:
    steps: list[tuple[int, int]] = []
    for times in known:
        if times.appeared is None:
            continue
        steps.append((times.appeared, 1))
        until = times.over if times.bound is None else times.bound
        if until is not None:
            steps.append((until, -1))
    # Of what happens at one time, ends come first.
    return SingleNumber(max(accumulate(step for _, step in sorted(steps)), default=0))


def _makespan(view: RunView) -> Value:
    known = view.once(gang_times)
    done = [times.done for times in known if times.done is not None]
    if not done:
        return Missing("no gang was done")
    if still_open := sum(times.over is None for times in known):
        return Missing(f"{still_open:,} gangs were not done")
    begins = [time for times in known for time in (times.submitted, times.appeared)]
    return SingleNumber((max(done) - min(each for each in begins if each is not None)) / SECOND)


def _queue_free(view: RunView) -> Value:
    """Return the time between gangs at which as many end as arrive: occupancy x nodes of a gang / nodes."""
    text = view.history.header.conditions.get(_NODES, "").replace(",", "")
    if not text.isdecimal() or int(text) == 0:
        return Missing(f"the number of nodes is not known ('{_NODES}' of the conditions)")
    known = [
        (times.done - times.running, times.nodes)
        for times in view.once(gang_times)
        if times.done is not None and times.running is not None and not times.is_lost
    ]
    if not known:
        return Missing("no gang was done")
    occupancy, nodes = (sum(each) / len(known) for each in zip(*known, strict=True))
    note = f"{nodes:.3g} of {int(text):,} nodes for a gang"
    return SingleNumber(occupancy / SECOND * nodes / int(text), note=note)


def _figure(
    name: str,
    unit: str,
    title: str,
    compute: Callable[[RunView], Value],
    better: Better | None = None,
) -> Figure:
    return Figure(
        name=f"gangs{name}", unit=unit, title=title, compute=compute, needs="gangs", better=better
    )


def _distribution(
    name: str, title: str, compute: Callable[[RunView], Value], better: Better | None = None
) -> Figure:
    return Figure(
        name=f"gangs.{name}",
        unit="s",
        title=title,
        compute=compute,
        form="distribution",
        needs="gangs",
        better=better,
    )


def _between(name: str, title: str, begin: str, end: str, better: Better | None = None) -> Figure:
    return _distribution(name, title, partial(_latency, begin, end), better)


FIGURES = (
    _figure("", "", "gangs: pods that belong together", _count),
    _figure(".done", "", "gangs that were done", _done_count),
    _distribution("dispatch", "from the arrival until the gang was given to the scheduler", partial(_submitted_latency, "created")),
    _between("scheduling_latency", "from then until all pods that the gang needs were bound", "created", "bound"),
    _between("first_bound", "from then until its first pod was bound", "created", "first_bound"),
    _between("start", "from all that it needs bound until they had run", "bound", "running"),
    _between("occupancy", "from all that it needs Running until done", "running", "done", "neither"),
    _between("jct", "completion time, from when it was given to the scheduler", "created", "done"),
    _distribution("jct_from_submission", "completion time, from the arrival", partial(_submitted_latency, "done")),
    _figure(".bound_in_part", "", "gangs with some pods bound, and for more than a second no other", partial(_of_known, _bound_in_part), "less"),
    _distribution("time_in_part", "of those, from the first pod bound until all that it needs", partial(_of_known, _time_in_part)),
    _figure(".most_waiting", "", "most gangs that waited at once for their pods to be bound", partial(_of_known, _most_waiting), "less"),
    _figure(".queue_free_inter_arrival", "s", "least time between gangs without a queue: occupancy x nodes of a gang / nodes",
            _queue_free),
    _figure(".makespan", "s", "from the first submission until the last gang was done", _makespan, "less"),
)  # fmt: skip

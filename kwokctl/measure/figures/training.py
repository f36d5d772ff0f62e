"""Figures of trainings: what they have done, what they have lost, and how often a checkpoint would be best.

The state of a training is what its Job or JobSet says. What one says at the end of the run is advanced to that time; a recording of
whole objects does not say what time of day that is, so its states count as they are. The time of a training goes from the creation of its
Job to its last step, or to the end of the run.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import msgspec

from kwokctl.fleet.devices import GPU
from kwokctl.fleet.gangs import JOB_SETS
from kwokctl.kube.pod_requests import amounts
from kwokctl.measure.figures.figure import Better, Figure, RunView
from kwokctl.measure.figures.gangs import gangs_in
from kwokctl.measure.figures.values import Missing, SingleNumber, Value
from kwokctl.measure.histories.object_history import ObjectHistory
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.training.optimum import best_interval
from kwokctl.training.state import TrainingState, read_state

NONE = "no Job or JobSet of the run trains: see 'kwokctl.dev/steps'"
_HOUR = 3600


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """A training of a run."""

    name: str
    """Namespace and name of its Job or JobSet."""
    state: TrainingState
    """The state at its end, or at the end of the run."""
    end: float
    """That time, as a POSIX time stamp."""
    ranks: int
    """The number of pods that train together; of a training that has not begun, the number that its gang needs."""
    gpus: int
    """The number of GPUs that one rank requests."""

    @property
    def useful(self) -> float:
        """The seconds that the steps take that were done and not lost, at their usual speed."""
        return self.state.counted * self.state.plan.step_time

    @property
    def productive(self) -> float:
        """The seconds that were spent on these steps, at whatever speed."""
        return self.state.kept + self.state.open

    @property
    def wall(self) -> float:
        """The seconds from the creation of its Job to its end."""
        return max(0.0, self.end - self.state.submitted)

    @property
    def unproductive(self) -> float:
        """The seconds from the first start of all ranks to its end in which no step was done that counts."""
        begun = self.state.first
        return max(0.0, self.end - begun - self.useful) if begun else 0.0


def trainings_in(view: RunView) -> list[Training]:
    """Return the trainings of a run, or of one group of it."""
    over, wall = None, view.history.header.wall
    if wall:
        over = datetime.fromisoformat(wall).timestamp() + view.history.end / SECOND
    return [_training(view, each, over) for each in _holders(view) if read_state(each.training)]


def _holders(view: RunView) -> Iterator[ObjectHistory]:
    yield from (job for job in view.jobs if job.training)
    history = view.history
    of_run = [each for each in history.gangs.objects.values() if each.training]
    if view.whole is None or not of_run:
        yield from (each for each in of_run if history.has_job(each))
        return
    owners = {gang.owner.uid for gang in view.once(gangs_in) if gang.owner is not None}
    yield from (each for each in of_run if each.uid in owners)


def _training(view: RunView, holder: ObjectHistory, over: float | None) -> Training:
    state = read_state(holder.training)
    assert state is not None
    if over is None:
        over = state.since
    if (last := state.end) is not None and state.phase == "Running" and last <= over:
        state = state.done()
    state = state.at(over)
    return Training(
        name=f"{holder.namespace}/{holder.name}",
        state=state,
        end=state.since if state.phase == "Done" else over,
        ranks=state.ranks or holder.pods or 1,
        gpus=_gpus(view, holder),
    )


def _gpus(view: RunView, holder: ObjectHistory) -> int:
    gang = f"{JOB_SETS}={holder.name}"
    for pod in view.pods:
        is_named = pod.namespace == holder.namespace and pod.shape.gang == gang
        if pod.shape.owner_uid == holder.uid or is_named:
            requests = dict(each.split("=", 1) for each in pod.shape.requests.split(",") if each)
            return int(amounts(requests).get(GPU, 0))
    return 0


def _of_all(compute: Callable[[Sequence[Training]], Value]) -> Callable[[RunView], Value]:
    def computed(view: RunView) -> Value:
        found = view.once(trainings_in)
        return compute(found) if found else Missing(NONE)

    return computed


def _count(found: Sequence[Training]) -> Value:
    phases: list[str] = [each.state.phase for each in found]
    detail = {phase: phases.count(phase) for phase in dict.fromkeys(phases)}
    return SingleNumber(len(found), detail=detail)


def _done(found: Sequence[Training]) -> Value:
    return SingleNumber(sum(each.state.phase == "Done" for each in found))


def _stops(found: Sequence[Training]) -> Value:
    return SingleNumber(sum(each.state.stops for each in found))


def _lost_steps(found: Sequence[Training]) -> Value:
    return SingleNumber(sum(each.state.lost for each in found))


def _share(part: Callable[[Training], float], found: Sequence[Training]) -> Value:
    wall = sum(each.wall * each.ranks for each in found)
    if not wall:
        return Missing("no time has passed since the Jobs were created")
    return SingleNumber(100 * sum(part(each) * each.ranks for each in found) / wall)


def _goodput(found: Sequence[Training]) -> Value:
    return _share(lambda each: each.useful, found)


def _ettr(found: Sequence[Training]) -> Value:
    return _share(lambda each: each.productive, found)


def _lost_gpu_hours(found: Sequence[Training]) -> Value:
    if not any(each.gpus for each in found):
        return Missing(f"the pods of trainings request no {GPU}")
    lost = sum(each.unproductive * each.gpus * each.ranks for each in found)
    return SingleNumber(lost / _HOUR)


def _between_stops(found: Sequence[Training]) -> float | None:
    """Return the mean seconds for which all ranks of a training ran until one stopped; None if none has."""
    stops = sum(each.state.stops for each in found)
    return sum(each.state.ran for each in found) / stops if stops else None


def _mttf(found: Sequence[Training]) -> Value:
    between = _between_stops(found)
    return Missing("no training has stopped") if between is None else SingleNumber(between)


def _best_interval(found: Sequence[Training]) -> Value:
    between = _between_stops(found)
    if between is None:
        return Missing("no training has stopped")
    cost = sum(each.state.plan.checkpoint_cost for each in found) / len(found)
    if not cost:
        return Missing("checkpoints cost no time: see 'kwokctl.dev/checkpoint-cost'")
    best = best_interval(cost, between)
    return SingleNumber(best, note=_in_steps(best, found))


def _in_steps(best: float, found: Sequence[Training]) -> str:
    """Say how many steps an interval is, beside those that there were, where all trainings are alike."""
    plans = {(each.state.plan.step_time, each.state.plan.checkpoint_every) for each in found}
    if len(plans) > 1:
        return "of trainings that differ"
    [(step_time, every)] = plans
    was = f"it was {every:,}" if every else "there were no checkpoints"
    return f"{max(1, round(best / step_time)):,} steps; {was}"


def _figure(
    name: str,
    unit: str,
    title: str,
    compute: Callable[[Sequence[Training]], Value],
    better: Better | None = None,
) -> Figure:
    return Figure(
        name=f"training{name}",
        unit=unit,
        title=title,
        compute=_of_all(compute),
        needs="jobs",
        better=better,
    )


FIGURES = (
    _figure("", "", "trainings: gangs whose pods say how long a step is", _count),
    _figure(".done", "", "trainings whose last step was done", _done),
    _figure(".stops", "", "times that a rank stopped before the last step", _stops, "less"),
    _figure(".lost_steps", "", "steps that were done and in no checkpoint when a rank stopped", _lost_steps, "less"),
    _figure(".goodput", "%", "length of the steps that count, of the time from the Jobs' creation to their ends", _goodput, "more"),
    _figure(".ettr", "%", "time spent on the steps that count, at whatever speed, of the same time", _ettr, "more"),
    _figure(".lost_gpu_hours", "GPU-h", "GPU-hours from the first start to the end in which no step was done that counts", _lost_gpu_hours, "less"),
    _figure(".mttf", "s", "mean time for which all ranks ran until one stopped", _mttf, "more"),
    _figure(".optimal_interval", "s", "time between checkpoints that would have lost least, by Young's formula", _best_interval, "neither"),
)  # fmt: skip

"""Computes the state of a training from what its ranks do: pods that start, stop, slow down and come back. Pure."""

from collections.abc import Collection, Sequence

import msgspec

from kwokctl.replacing import replace
from kwokctl.training.plan import TrainingPlan
from kwokctl.training.state import TrainingState

_WHOLE = 1.0
"""Seconds: the end of a container may be written as much too early, because its time has no fraction."""

_AFTER = 0.001
"""Seconds from a stop to the next start, if all ranks run already: what has ended at the stop is not of the new attempt."""


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """The part of one pod in a training. Times are POSIX time stamps."""

    started: float | None = None
    """The time since which its program runs, or at which its last run began; None: it has not run yet."""
    ended: float | None = None
    """The time at which its last run ended, or the run before a present one; None if none has."""
    is_running: bool = False
    has_succeeded: bool = False
    """Whether its program has ended well."""
    speed: float = 1.0
    """The part of its usual speed: faults slow and stop it."""
    paced: float = 0.0
    """The time since which it has that speed; 0: from its start on."""


def advanced(
    state: TrainingState,
    plan: TrainingPlan,
    ranks: Sequence[Rank],
    size: int,
    now: float,
    *,
    missed: float | None = None,
) -> TrainingState:
    """Return the next state of a training, by its last state and what its ranks do now; the same if nothing has happened.

    A training that has stopped begins with the next look, as each of its states is stored. `plan` counts from the next start of all ranks on; `size` is the number of ranks that train together. All times are those
    that the pods say; `now` is the time of the look. A rank of which nothing is known has stopped at `missed`; without that,
    it goes on.
    """
    if state.phase == "Running":
        return _gone_on(state, ranks, size, (now, missed))
    return state if state.phase == "Done" else _begun(state, plan, ranks, size)


def goes_on(rank: Rank, state: TrainingState) -> bool:
    """Return whether a rank is still in this attempt."""
    return rank.is_running and rank.started is not None and rank.started <= state.begun


def as_of_state(rank: Rank, state: TrainingState) -> Rank:
    """Return a rank of which only a later time than that of the state is known, such as before a rewind.

    It does what the state of a training that runs says, and has the pace that it had by then.
    """
    if state.phase != "Running":
        return rank
    is_known = goes_on(rank, state) and rank.paced <= state.since
    return rank if is_known else Rank(started=state.begun, is_running=True, speed=state.speed)


def misses_one(state: TrainingState, ranks: Sequence[Rank], size: int) -> bool:
    """Return whether nothing is known of one of the ranks of a training that runs."""
    known = sum(1 for each in ranks if goes_on(each, state) or _out(each, state) is not None)
    return state.phase == "Running" and known < size


def _gone_on(
    state: TrainingState, ranks: Sequence[Rank], size: int, times: tuple[float, float | None]
) -> TrainingState:
    """Return the state of a training that ran; `times` are `now` and `missed` of `advanced`."""
    now, missed = times
    stops = [at for each in ranks if (at := _out(each, state)) is not None]
    if missed is not None and misses_one(state, ranks, size):
        stops.append(missed)
    stop = max(state.since, min(stops)) if stops else None
    until = now if stop is None else stop
    state = _paced(state, ranks, until)
    end = state.end
    if end is not None and end <= until:
        return state.done()
    return state if stop is None else state.stopped(stop)


def _out(rank: Rank, state: TrainingState) -> float | None:
    """Return when a rank has left this attempt; None if it has not, or was in none but earlier ones."""
    if goes_on(rank, state) or rank.ended is None or rank.ended < state.begun:
        return None
    if rank.started is not None and state.begun < rank.started <= rank.ended:
        return None  # of a later attempt, before a rewind
    end = state.end
    is_done = rank.has_succeeded and end is not None and rank.ended + _WHOLE > end
    return max(rank.ended, end) if is_done and end is not None else rank.ended


def _paced(state: TrainingState, ranks: Collection[Rank], until: float) -> TrainingState:
    """Return the state with the speed of the slowest rank, from the time on at which it became so slow, or fast."""
    of_attempt = [
        each for each in ranks if each.started is not None and each.started <= state.begun
    ]
    if not of_attempt:
        return state
    slowest = min(of_attempt, key=lambda each: (each.speed, each.paced))
    if slowest.speed == state.speed:
        return state
    is_slower = slowest.speed < state.speed
    at = slowest.paced if is_slower else max(each.paced for each in of_attempt)
    return state.paced(min(max(at, state.since), until), slowest.speed)


def _begun(
    state: TrainingState, plan: TrainingPlan, ranks: Sequence[Rank], size: int
) -> TrainingState:
    """Return the state of a training that waits for its ranks: it begins when all run."""
    running = [each for each in ranks if each.is_running and each.started is not None]
    if not size or len(running) < size:
        return state
    starts = [each.started for each in running if each.started is not None]
    since = max(*starts, state.since + _AFTER if state.phase == "Stopped" else 0.0)
    speed = min(each.speed for each in running)
    return replace(state, plan=plan).started(since, ranks=len(running), speed=speed)

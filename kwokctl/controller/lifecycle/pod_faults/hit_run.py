"""The program of a container in its present run, as faults change it. Pure.

A program that no fault hits is as it was; one that is hit ends earlier, or later, or with another code.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram
from kwokctl.controller.lifecycle.pod_faults.hits import WorkloadHit
from kwokctl.faults.overlays.open_entries import WorkloadEffect
from kwokctl.replacing import replace
from kwokctl.training.pace import ProgramPace

WATCHDOG = "kwokctl.dev/watchdog"
"""The annotation of a pod with the time after which a watchdog, such as that of NCCL, ends a program that hangs."""
_ABORTED = 134
"""The exit code of a program that aborts: 128 and SIGABRT."""


@dataclass(slots=True, kw_only=True)
class HitRun:
    """The faults of one container while it is looked at."""

    hits: Sequence[WorkloadHit]
    now: float
    has_progress: bool
    """Whether it is known what its program does, so that it can be slowed, stopped and spoilt."""
    watchdog: float | None = None
    """Seconds."""
    pace: ProgramPace | None = None
    """The pace in the annotation of the pod; after `program`, the pace by now."""
    due: float = math.inf
    """The time at which the next fault begins to show, as a POSIX time stamp."""
    strikes: list[tuple[WorkloadHit, float]] = field(default_factory=list)
    """The hits that the other pods of the gang have to get, and since when."""

    def program(self, program: ContainerProgram, started: float) -> ContainerProgram:
        """Return what its program does in the run that started at a time."""
        before = self.pace if self.pace is not None and self.pace.run == int(started) else None
        pace = before or ProgramPace(run=int(started), since=started)
        failure = self._failure(started)
        if self.has_progress or before is not None:
            pace = self._paced(program, pace, started)
            self.pace = pace if before is not None or pace.speed != 1 or pace.wrong else self.pace
        done = None if program.run is None else pace.done(program.run)
        if failure is None or (done is not None and done <= failure[0]):
            return replace(program, run=None if done is None else max(0.0, done - started))
        at, hit, effect = failure
        self._strike(hit, at)
        return replace(
            program,
            run=at - started,
            exit_codes=(effect.exit_code,),
            is_killed=False,
            reason=effect.reason,
            message=effect.message,
        )

    def is_wrong(self, started: float) -> str:
        """Return which fault has made the result of a run wrong; empty if none has."""
        return self.pace.wrong if self.pace is not None and self.pace.run == int(started) else ""

    def _failure(self, started: float) -> tuple[float, WorkloadHit, WorkloadEffect] | None:
        """Return the first failure of a run, with its time."""
        found = [*self._ends(started)]
        return min(found, key=lambda each: each[0]) if found else None

    def _ends(self, started: float) -> Iterator[tuple[float, WorkloadHit, WorkloadEffect]]:
        for hit in self._of("fail"):
            if (at := hit.begins(started)) < math.inf:
                yield at, hit, hit.effect
        if (watchdog := self.watchdog) is None:
            return
        for hit in self._of("hang"):
            if (at := hit.begins(started)) <= self.now:
                yield at + watchdog, hit, given_up(hit.effect, watchdog)

    def _paced(self, program: ContainerProgram, pace: ProgramPace, started: float) -> ProgramPace:
        """Return the pace with what has begun, or is over, by now; a program that is done keeps its pace."""
        done = None if program.run is None else pace.done(program.run)
        end = math.inf if done is None else done
        speed, begun = 1.0, [pace.since]
        for hit in self._of("hang", "slow"):
            if self._has_begun(hit, started, end):
                begun.append(hit.begins(started))
                speed *= _speed(hit.effect)
        at = max(begun) if speed < pace.speed else self.now
        if speed != pace.speed and at < end:
            pace = pace.at(at, speed)
        for hit in self._of("corrupt"):
            if self._has_begun(hit, started, end) and not pace.wrong:
                pace = replace(pace, wrong=hit.fault)
        return pace

    def _of(self, *effects: str) -> Iterator[WorkloadHit]:
        return (hit for hit in self.hits if hit.effect.effect in effects)

    def _has_begun(self, hit: WorkloadHit, started: float, end: float) -> bool:
        """Return whether a fault has met a run that is done at `end`; else it is due when it does."""
        at = hit.begins(started)
        if at > self.now:
            self.due = min(self.due, at)
            return False
        if at < end:
            self._strike(hit, at)
        return at < end

    def _strike(self, hit: WorkloadHit, at: float) -> None:
        if hit.is_for_gang and at <= self.now:
            self.strikes.append((hit, at))


def _speed(effect: WorkloadEffect) -> float:
    return 0.0 if effect.effect == "hang" else 1 / max(effect.factor, 1.0)


def given_up(effect: WorkloadEffect, watchdog: float) -> WorkloadEffect:
    """Return how a watchdog ends a program that has hung for its time, in seconds."""
    milliseconds = round(watchdog * 1000)
    message = (
        "Watchdog caught collective operation timeout: "
        f"ran for {milliseconds} milliseconds before timing out."
    )
    return replace(
        effect,
        effect="fail",
        exit_code=effect.exit_code or _ABORTED,
        message=effect.message or message,
    )

"""The state of a training as its Job says it in an annotation: what is done, what is lost, and what goes on. Pure.

It is written when something happens: ranks start, one stops, the speed changes, the last step is done. Between two such
moments it is computed.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from kwokctl.json_value import Json
from kwokctl.replacing import replace
from kwokctl.training.plan import Position, TrainingPlan

TRAINING = "kwokctl.dev/training"
"""The annotation of a Job, or of a JobSet: a JSON object."""


class TrainingState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A training at a moment. Times are POSIX time stamps; lengths of time are seconds."""

    phase: Literal["Waiting", "Running", "Stopped", "Done"]
    plan: TrainingPlan
    since: float
    """The moment."""
    submitted: float = 0.0
    """The time at which its Job or JobSet was created."""
    step: int = 0
    """The number of steps that were done then."""
    checkpoint: int = 0
    """The number of steps in the last checkpoint."""
    lost: int = 0
    """The number of steps that were done and have to be done again, of all attempts."""
    attempt: int = 0
    """The number of times that all ranks have started."""
    stops: int = 0
    """The number of times that a rank has stopped before the last step was done."""
    ranks: int = 0
    """The number of pods that train together."""
    start: int = 0
    """The number of steps with which this attempt began."""
    begun: float = 0.0
    """The time at which this attempt began."""
    work: float = 0.0
    """The part of this attempt's work that was done by `since`."""
    speed: float = 1.0
    """The part of the usual speed since then: 0 hangs."""
    first: float = 0.0
    """The time at which the first attempt began."""
    ran: float = 0.0
    """The time for which all ranks ran, of all attempts."""
    kept: float = 0.0
    """The time that was spent on the steps in the last checkpoint, at whatever speed; when it is done, on all steps that count."""
    open: float = 0.0
    """The time that was spent on steps since then."""

    @classmethod
    def waiting(cls, plan: TrainingPlan, submitted: float) -> "TrainingState":
        """Return the state of a training whose Job or JobSet was created at a time."""
        return cls(phase="Waiting", plan=plan, since=submitted, submitted=submitted)

    @property
    def counted(self) -> int:
        """The number of steps that are done and not lost."""
        return self.checkpoint if self.phase == "Stopped" else self.step

    @property
    def end(self) -> float | None:
        """The time at which the last step is done; None: not at this speed."""
        if self.phase != "Running":
            return self.since if self.phase == "Done" else None
        left = self._length - self.work
        if self.speed <= 0:
            return self.since if left <= 0 else None
        return self.since + left / self.speed

    @property
    def is_restart(self) -> bool:
        """Whether this attempt is not the first."""
        return self.attempt > 1

    def at(self, time: float) -> "TrainingState":
        """Return the state at a later time, if nothing happens meanwhile."""
        if self.phase != "Running" or time <= self.since:
            return self
        end = self.end
        passed = (time if end is None else min(time, end)) - self.since
        work = min(self.work + passed * self.speed, self._length)
        before, after = self._position(self.work), self._position(work)
        kept, open_ = self._spent(before, after)
        return replace(
            self,
            since=_rounded(self.since + passed),
            work=_rounded(work),
            step=after.step,
            checkpoint=after.checkpoint,
            ran=_rounded(self.ran + passed),
            kept=_rounded(kept),
            open=_rounded(open_),
        )

    def paced(self, time: float, speed: float) -> "TrainingState":
        """Return the state with another speed from a time on."""
        return replace(self.at(time), speed=speed)

    def stopped(self, time: float) -> "TrainingState":
        """Return the state after a rank has stopped: what is in no checkpoint is lost."""
        then = self.at(time)
        lost = then.step - then.checkpoint
        return replace(
            then, phase="Stopped", lost=then.lost + lost, stops=then.stops + 1, speed=0.0, open=0.0
        )

    def started(self, time: float, *, ranks: int, speed: float) -> "TrainingState":
        """Return the state after all ranks have started: from the last checkpoint."""
        return replace(
            self,
            phase="Running",
            since=_rounded(time),
            begun=_rounded(time),
            first=self.first or _rounded(time),
            attempt=self.attempt + 1,
            start=self.checkpoint,
            step=self.checkpoint,
            work=0.0,
            speed=speed,
            ranks=ranks,
        )

    def done(self) -> "TrainingState":
        """Return the state when the last step is done."""
        assert self.end is not None
        then = self.at(self.end)
        kept = _rounded(then.kept + then.open)
        return replace(then, phase="Done", checkpoint=then.step, kept=kept, open=0.0, speed=0.0)

    @property
    def _length(self) -> float:
        return self.plan.length(self.start, is_restart=self.is_restart)

    def _position(self, work: float) -> Position:
        return self.plan.position(self.start, work, is_restart=self.is_restart)

    def _spent(self, before: Position, after: Position) -> tuple[float, float]:
        """Return `kept` and `open` after more steps at the present speed."""
        if self.speed <= 0:
            return self.kept, self.open
        if after.checkpoint == before.checkpoint:
            return self.kept, self.open + (after.stepping - before.stepping) / self.speed
        written = (after.checkpoint - self.start) * self.plan.step_time
        kept = self.kept + self.open + (written - before.stepping) / self.speed
        return kept, (after.stepping - written) / self.speed


def state_in(annotations: Mapping[str, Json]) -> TrainingState | None:
    """Return the state in the annotations of a Job or JobSet; None if it says none that can be read."""
    return read_state(annotations.get(TRAINING) or "")


def read_state(text: str) -> TrainingState | None:
    """Return the state that an annotation says; None if it cannot be read."""
    try:
        return _decode(text) if text else None
    except (msgspec.MsgspecError, TypeError):
        return None


def state_text(state: TrainingState) -> str:
    """Return the value of the annotation."""
    return _encode(state).decode()


def _rounded(number: float) -> float:
    return round(number, 3)


_decode = msgspec.json.Decoder(TrainingState).decode
_encode = msgspec.json.Encoder(order="deterministic").encode

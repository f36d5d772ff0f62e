"""Stages that an object, as it is now, need not get next. Pure."""

from kwokctl.controller.stages.choice import Basis
from kwokctl.controller.stages.model import Stage
from kwokctl.controller.write_errors import ErrorKind


class Setbacks:
    """What has come of the Stages of an object since it has changed last."""

    __slots__ = ("_failed", "_idle", "failures", "outcome")

    def __init__(self) -> None:
        """Begin without any."""
        self._failed: tuple[Stage, ...] = ()
        self._idle: tuple[Stage, ...] = ()
        self.failures = 0
        """How many plays have failed."""
        self.outcome = ErrorKind.LASTING
        """What the last one ended in."""

    def note_failed(self, stage: Stage, outcome: ErrorKind) -> None:
        """Take note that a Stage has failed: the others come before it."""
        self._failed += (stage,)
        self.failures += 1
        self.outcome = outcome

    def note_idle(self, stage: Stage) -> None:
        """Take note that a Stage has been played, and has not changed the object."""
        self._idle += (stage,)

    def untried(self, found: Basis) -> Basis:
        """Return the grounds for a choice among the Stages that have not been tried."""
        return _only(found, [s for s in found.matches if s not in self._failed + self._idle])

    def failed(self, found: Basis) -> Basis:
        """Return the grounds for a choice among the Stages that have failed, which count as untried."""
        failed, self._failed = self._failed, ()
        return _only(found, [s for s in found.matches if s in failed])


def _only(found: Basis, stages: list[Stage]) -> Basis:
    weights = dict(zip(found.matches, found.weights, strict=False))
    kept = tuple(weights.get(stage) for stage in stages) if len(stages) > 1 else ()
    return Basis(tuple(stages), kept, found.times)

"""Records the Stages that have failed, or had no effect, on an object in its present state. Pure."""

from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.stage_choice import Basis
from kwokctl.controller.write_errors import ErrorKind


class Setbacks:
    """The Stages that were tried on an object since its last change."""

    __slots__ = ("_failed", "_idle", "failures", "outcome")

    def __init__(self) -> None:
        """Begin without any."""
        self._failed: tuple[Stage, ...] = ()
        self._idle: tuple[Stage, ...] = ()
        self.failures = 0
        """The number of failed plays."""
        self.outcome = ErrorKind.LASTING
        """The kind of the last error."""

    def note_failed(self, stage: Stage, outcome: ErrorKind) -> None:
        """Note that a Stage has failed: the others come before it."""
        self._failed += (stage,)
        self.failures += 1
        self.outcome = outcome

    def note_idle(self, stage: Stage) -> None:
        """Note that a Stage was played, and has not changed the object."""
        self._idle += (stage,)

    def untried(self, found: Basis) -> Basis:
        """Return a basis for choosing among the Stages that have not been tried."""
        return _only(found, [s for s in found.matches if s not in self._failed + self._idle])

    def failed(self, found: Basis) -> Basis:
        """Return a basis for choosing among the Stages that have failed, which count as untried."""
        failed, self._failed = self._failed, ()
        return _only(found, [s for s in found.matches if s in failed])


def _only(found: Basis, stages: list[Stage]) -> Basis:
    weights = dict(zip(found.matches, found.weights, strict=False))
    kept = tuple(weights.get(stage) for stage in stages) if len(stages) > 1 else ()
    return Basis(tuple(stages), kept, found.times)

"""The program of a container that trains with others: it ends when the last step of all is done. Pure."""

import math
from dataclasses import dataclass

from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram
from kwokctl.controller.lifecycle.containers.spoilt_program import ProgramSpoiler
from kwokctl.controller.lifecycle.pod_faults.hit_run import given_up
from kwokctl.faults.overlays.open_entries import WorkloadEffect
from kwokctl.replacing import replace
from kwokctl.training.state import TrainingState

_LATER = 3600.0
"""Seconds until a look at a pod that waits for others: it is known until then, and looked at when they have come."""
_HANGS = WorkloadEffect(effect="hang")


@dataclass(slots=True, kw_only=True)
class TrainingRun:
    """The training of one container while it is looked at, beside the faults that it suffers."""

    state: TrainingState | None
    """None until its Job or JobSet has the annotation."""
    now: float
    faults: ProgramSpoiler | None = None
    watchdog: float | None = None
    """Seconds after which a rank ends that waits for a rank that is gone."""
    due: float = math.inf

    def program(self, program: ContainerProgram, started: float) -> ContainerProgram:
        """Return what its program does in the run that started at a time."""
        waits = replace(program, run=None)
        hit = waits if self.faults is None else self.faults.program(waits, started)
        self.due = min(self.now + _LATER, math.inf if self.faults is None else self.faults.due)
        ours = self._ends(waits, started)
        if ours is None or (hit.run is not None and ours.run is not None and hit.run < ours.run):
            return hit
        return ours

    def is_wrong(self, started: float) -> str:
        """Return which fault has made the result of a run wrong; empty if none has."""
        return "" if self.faults is None else self.faults.is_wrong(started)

    def _ends(self, program: ContainerProgram, started: float) -> ContainerProgram | None:
        """Return the program with the end that the training gives it; None if that gives none."""
        state = self.state
        if state is None or state.phase == "Waiting" or started > state.begun:
            return None
        if (end := state.end) is not None:
            return replace(program, run=max(0.0, end - started))
        if self.watchdog is None:
            return None
        ends = given_up(_HANGS, self.watchdog)
        return replace(
            program,
            run=max(0.0, state.since + self.watchdog - started),
            exit_codes=(ends.exit_code,),
            is_killed=False,
            reason=ends.reason,
            message=ends.message,
        )

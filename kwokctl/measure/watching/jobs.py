"""Turns what is seen of Jobs into lines."""

from collections.abc import Sequence

import msgspec

from kwokctl.measure.record.record_lines import JobChange, JobGone, JobSeen
from kwokctl.measure.watching.numbered_texts import Emit
from kwokctl.measure.watching.object_states import StateLines, StateMetadata, StateTracker
from kwokctl.measure.watching.pods import SeenCondition

_STATES = ("Complete", "Failed", "Suspended")
_LINES = StateLines(seen=JobSeen, changed=JobChange, gone=JobGone)


class JobSpec(msgspec.Struct, gc=False):
    """The number of pods of a Job."""

    parallelism: int = 1
    completions: int | None = None

    @property
    def at_once(self) -> int:
        """The number of pods that run at once."""
        if self.completions is None:
            return self.parallelism
        return min(self.parallelism, self.completions)


class SeenStatus(msgspec.Struct, gc=False):
    """The conditions of an object."""

    conditions: list[SeenCondition] | None = None

    @property
    def true(self) -> set[str]:
        """The types of the conditions that hold."""
        return {each.type for each in self.conditions or () if each.status == "True"}


class SeenJob(msgspec.Struct, gc=False):
    """The recorded fields of a Job."""

    metadata: StateMetadata
    spec: JobSpec = msgspec.field(default_factory=JobSpec)
    status: SeenStatus = msgspec.field(default_factory=SeenStatus)

    @property
    def pods(self) -> int:
        """The number of pods that run at once."""
        return self.spec.at_once

    @property
    def state(self) -> str:
        """The state that its conditions tell: how it has ended, or that it is suspended."""
        true = self.status.true
        return next((state for state in _STATES if state in true), "")


class JobTracker(StateTracker):
    """Writes a line for each change of the recorded fields of a Job."""

    plural = "jobs"

    def __init__(self, emit: Emit, *, labels: Sequence[str], takes_existing: bool) -> None:
        super().__init__(emit, _LINES, labels=labels, takes_existing=takes_existing)
        self.decode = msgspec.json.Decoder(SeenJob).decode

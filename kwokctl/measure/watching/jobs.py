"""Turns what is seen of Jobs into lines."""

from collections.abc import Sequence

import msgspec

from kwokctl.measure.record.lines import JobChange, JobGone, JobSeen
from kwokctl.measure.watching.pods import SeenCondition, WholeMetadata
from kwokctl.measure.watching.texts import Emit

_STATES = ("Complete", "Failed", "Suspended")


class _Spec(msgspec.Struct, gc=False):
    parallelism: int = 1
    completions: int | None = None


class _Status(msgspec.Struct, gc=False):
    conditions: list[SeenCondition] | None = None


class SeenJob(msgspec.Struct, gc=False):
    """The recorded fields of a Job."""

    metadata: WholeMetadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def pods(self) -> int:
        """The number of pods that run at once."""
        spec = self.spec
        return (
            spec.parallelism
            if spec.completions is None
            else min(spec.parallelism, spec.completions)
        )

    @property
    def state(self) -> str:
        """The state that its conditions tell: how it has ended, or that it is suspended."""
        true = {each.type for each in self.status.conditions or () if each.status == "True"}
        return next((state for state in _STATES if state in true), "")


class _Known(msgspec.Struct, gc=False):
    number: int
    state: str
    pods: int


class JobTracker:
    """Writes a line for each change of the recorded fields of a Job."""

    plural = "jobs"

    def __init__(self, emit: Emit, *, labels: Sequence[str], takes_existing: bool) -> None:
        self.decode = msgspec.json.Decoder(SeenJob).decode
        self._emit = emit
        self._labels = labels
        self._takes_existing = takes_existing
        self._has_begun = False
        self._known: dict[str, _Known] = {}
        self._existing: set[str] = set()
        self._count = 0

    def begin(self) -> None:
        """Take Jobs that come from now on for those of the run."""
        self._has_begun = True

    def see(self, job: SeenJob, _raw: bytes, time: int, *, listed: bool) -> None:
        """Note what a Job is like."""
        known = self._known.get(job.metadata.uid)
        if known is None:
            self._first(job, time, listed=listed)
        elif (known.state, known.pods) != (job.state, job.pods):
            known.state, known.pods = job.state, job.pods
            self._emit(JobChange(time, known.number, known.state, known.pods))

    def gone(self, uid: str, time: int) -> None:
        """Note that a Job exists no longer."""
        known = self._known.pop(uid, None)
        if known is None:
            self._existing.discard(uid)
        else:
            self._emit(JobGone(time, known.number))

    def _first(self, job: SeenJob, time: int, *, listed: bool) -> None:
        named = job.metadata
        if named.uid in self._existing:
            return
        if not self._has_begun and not self._takes_existing:
            self._existing.add(named.uid)
            return
        self._count += 1
        self._known[named.uid] = _Known(self._count, job.state, job.pods)
        found = named.labels or {}
        labels = {name: found[name] for name in self._labels if name in found}
        self._emit(JobSeen(
            time, self._count, named.uid, named.namespace, named.name, named.controller.uid,
            job.pods, labels, job.state, listed or not self._has_begun,
        ))  # fmt: skip

"""The control plane now: whether the API server answers, and which components run with how much CPU and memory."""

from collections.abc import Mapping

import msgspec

from kwokctl.clusters.status import ComponentStatus
from kwokctl.measure.record.plane_lines import ProcessSample
from kwokctl.measure.record.record_lines import ApiProbe, Behind, Gap, Lines, RecordText
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.model import ComponentName


class ComponentUse(msgspec.Struct, frozen=True, kw_only=True):
    """The CPU time and the memory of a component's processes."""

    time: int
    """ns since the view began."""
    process: int
    spent: float
    """Seconds of CPU since they began."""
    cpu: float | None
    """Processors used since the last look; None at the first."""
    memory: int
    restarts: int
    """The number of times that another process was found since the view began."""


class SeenPlane:
    """The present state of the control plane, by the lines about it."""

    def __init__(self) -> None:
        self.statuses: Mapping[ComponentName, ComponentStatus] = {}
        """As they were found last; empty until then."""
        self.uses: dict[str, ComponentUse] = {}
        self.answer: ApiProbe | None = None
        """The last time at which the API server was asked."""
        self.silent_since: int | None = None
        """The time in ns since which the API server does not answer, or not well."""
        self.last_gap: Gap | None = None
        self.last_behind: Behind | None = None
        self._texts: dict[int, str] = {0: ""}

    def take(self, line: Lines) -> None:
        """Add a line."""
        if isinstance(line, ApiProbe):
            self._probe(line)
        elif isinstance(line, ProcessSample):
            self._sample(line)
        elif isinstance(line, RecordText):
            self._texts[line.number] = line.text
        elif isinstance(line, Gap):
            self.last_gap = line
        elif isinstance(line, Behind):
            self.last_behind = line

    def _probe(self, line: ApiProbe) -> None:
        self.answer = line
        if line.status == 200:
            self.silent_since = None
        elif self.silent_since is None:
            self.silent_since = line.time

    def _sample(self, line: ProcessSample) -> None:
        rows = zip(line.components, line.processes, line.cpu, line.memory, strict=True)
        found: dict[str, ComponentUse] = {}
        for number, process, spent, memory in rows:
            name = self._texts[number]
            found[name] = _use(self.uses.get(name), line.time, process, spent, memory)
        for name, use in self.uses.items():
            if name not in found:
                ended = ComponentUse(
                    time=line.time, process=0, spent=0, cpu=None, memory=0, restarts=use.restarts
                )
                found[name] = ended
        self.uses = found


def _use(
    before: ComponentUse | None, time: int, process: int, spent: float, memory: int
) -> ComponentUse:
    cpu, restarts = None, 0
    if before is not None:
        is_same = before.process == process
        restarts = before.restarts + (not is_same)
        if is_same and time > before.time:
            cpu = max(0.0, spent - before.spent) / ((time - before.time) / SECOND)
    return ComponentUse(
        time=time, process=process, spent=spent, cpu=cpu, memory=memory, restarts=restarts
    )

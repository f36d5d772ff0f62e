"""The words that say what a run is, as a command or a program gives them, and the request that they make."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.embedded.selection import requirements
from kwokctl.load.load_documents import LoadSource, read_loads
from kwokctl.load.verbs import new_run
from kwokctl.measure.judging.assertions import AssertionReader
from kwokctl.measure.record.record_lines import RunScope
from kwokctl.measure.record.record_names import profiles_path, whole_objects_path
from kwokctl.measure.running.request import MeasureRequest, Work
from kwokctl.measure.sampling.metric import Metric
from kwokctl.measure.watching.kinds import Latency
from kwokctl.measure.watching.phases import IncidentPhase


class RunWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words that say what a run is; each is an option of `kwokctl measure run`."""

    record: Path
    load: Sequence[LoadSource] = ()
    seed: int = 0
    speed: float = 1.0
    until: str = ""
    timeout: float | None = None
    selector: str = ""
    namespace: str = ""
    full: bool = False
    latencies: tuple[Latency, ...] = ()
    phases: tuple[IncidentPhase, ...] = ()
    topology: tuple[str, ...] = ()
    gang_label: str = ""
    metrics: tuple[Metric, ...] = ()
    profiles: bool = False
    labels: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    work: Work | None = None

    def request(self, home: Home, reader: AssertionReader) -> MeasureRequest:
        """Return the request; UsageError or ConfigError for what cannot be understood."""
        requirements(self.selector)
        loads = read_loads(self.load, progress=home.progress) if self.load else ()
        return MeasureRequest(
            record=self.record,
            full=whole_objects_path(self.record) if self.full else None,
            scope=RunScope(
                run=new_run() if loads else "",
                selector=self.selector.strip(", "),
                namespace=self.namespace,
            ),
            loads=loads,
            seed=self.seed,
            speed=self.speed,
            labels=self.labels,
            latencies=self.latencies,
            phases=self.phases,
            topology=self.topology,
            gang_label=self.gang_label,
            metrics=self.metrics,
            profiles=profiles_path(self.record) if self.profiles else None,
            command=self.command,
            work=self.work,
            until=reader.condition(self.until) if self.until else None,
            timeout=self.timeout,
        )

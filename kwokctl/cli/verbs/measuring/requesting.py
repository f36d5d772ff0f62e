"""The options that say what a run is, and the request that they make."""

from typing import TYPE_CHECKING

import msgspec

from kwokctl.cli.verbs.measuring.reporting import record_path

if TYPE_CHECKING:
    from kwokctl.cli.invocation import Invocation
    from kwokctl.measure.assertions import AssertionReader
    from kwokctl.measure.request import MeasureRequest
    from kwokctl.measure.sampling.metric import Metric
    from kwokctl.measure.watching.kinds import Latency


class RunWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a command that say what a run is."""

    load: list[str] | None
    seed: int
    speed: float
    until: str
    timeout: float | None
    selector: str
    namespace: str
    record: str
    full: bool = False
    latencies: tuple["Latency", ...] = ()
    topology: tuple[str, ...] = ()
    gang_label: str = ""
    metrics: tuple["Metric", ...] = ()
    profiles: bool = False
    labels: tuple[str, ...] = ()
    command: tuple[str, ...] = ()

    def request(self, call: "Invocation", reader: "AssertionReader") -> "MeasureRequest":
        """Return the request; UsageError or ConfigError for what cannot be understood."""
        from kwokctl.embedded.selection import requirements
        from kwokctl.load.documents import read_loads
        from kwokctl.load.verbs import new_run
        from kwokctl.measure.record.lines import RunScope
        from kwokctl.measure.record.record_names import profiles_path, whole_objects_path
        from kwokctl.measure.request import MeasureRequest

        requirements(self.selector)
        loads = read_loads(self.load, progress=call.progress) if self.load else ()
        path = record_path(call, self.record)
        return MeasureRequest(
            record=path,
            full=whole_objects_path(path) if self.full else None,
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
            topology=self.topology,
            gang_label=self.gang_label,
            metrics=self.metrics,
            profiles=profiles_path(path) if self.profiles else None,
            command=self.command,
            until=reader.condition(self.until) if self.until else None,
            timeout=self.timeout,
        )

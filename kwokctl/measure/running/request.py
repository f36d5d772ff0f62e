"""The request of a run, and the cluster that it is for."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import msgspec

from kwokctl.clusters.state.saved import Saved
from kwokctl.load.load_documents import Load
from kwokctl.load.past_api.way import WayIn, no_way
from kwokctl.measure.judging.assertions import Assertion
from kwokctl.measure.record.record_lines import RunScope
from kwokctl.measure.sampling.metric import Metric
from kwokctl.measure.sampling.metric_sources import Components
from kwokctl.measure.watching.kinds import Latency
from kwokctl.measure.watching.phases import IncidentPhase

Work = Callable[[], Awaitable[None]]
"""Begins the work of a program, and returns when that is over."""


class MeasuredCluster(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster that is measured."""

    kubeconfig: Path
    saved: Saved | None = None
    """Its saved state if this kwokctl has made it."""
    environment: Mapping[str, str]
    """With which a command finds it."""
    way: WayIn = no_way
    """The way past its API server, for loads that ask for it."""
    components: Components | None = None
    """Its components, likewise."""

    def __str__(self) -> str:
        if self.saved:
            return f"the cluster '{self.saved.name}'"
        return f"the cluster of '{self.kubeconfig}'"


class MeasureRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a run: what is measured, and until when."""

    record: Path
    scope: RunScope = msgspec.field(default_factory=RunScope)
    labels: tuple[str, ...] = ()
    latencies: tuple[Latency, ...] = ()
    phases: tuple[IncidentPhase, ...] = ()
    """The phases of incidents that the user names."""
    topology: tuple[str, ...] = ()
    """The labels of nodes of which values are recorded."""
    gang_label: str = ""
    """The key of the label whose value is the name of the gang of a pod; empty without one."""
    metrics: tuple[Metric, ...] = ()
    command: tuple[str, ...] = ()
    work: Work | None = None
    """The work of a program beside a command and loads: it begins when everything is watched."""
    loads: tuple[Load, ...] = ()
    seed: int = 0
    speed: float = 1.0
    until: Assertion | None = None
    full: Path | None = None
    """The file for whole objects and their changes, if they are wanted, too."""
    is_warm_up: bool = False
    """Whether it is a run before those that count."""
    timeout: float | None = None
    """Seconds after the last arrival; None for the usual ones, without arrivals for no limit."""
    profiles: Path | None = None
    """The folder for CPU profiles of components, if they are wanted."""

    @property
    def has_end(self) -> bool:
        """Whether it ends by itself: loads, commands and the work of programs do."""
        return bool(self.command or self.work or self.loads or self.until)

"""Samples the control plane while a run is measured, and writes lines about it."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec

from kwokctl.errors import ApiError, KwokctlError, UsageError
from kwokctl.host.memory import oom_kills
from kwokctl.kube.collections.metrics_text import WantedMetric
from kwokctl.measure.histories.plane_history import WHY_ENDED, PlaneHistory
from kwokctl.measure.record.incident_lines import SentAct
from kwokctl.measure.record.plane_lines import ClientCount, MetricsSample
from kwokctl.measure.record.record_lines import RunMoment
from kwokctl.measure.record.run_clock import SECOND, RunClock, wall_nanoseconds
from kwokctl.measure.sampling.audit_log import AuditLog
from kwokctl.measure.sampling.metric import Metric
from kwokctl.measure.sampling.metric_sources import PATIENCE, Components, MetricsSource, Sources
from kwokctl.measure.sampling.processes import ProcessSampler
from kwokctl.measure.sampling.sampled_metrics import AGAIN, EVERY, SAMPLED
from kwokctl.measure.watching.numbered_texts import Emit, Texts
from kwokctl.model import ComponentName
from kwokctl.replacing import replace
from kwokctl.tasks import beside

_EVERY, _EVERY_OF_AUDIT = 1.0, 5.0
"""Seconds between two samples."""
_UNREACHED = "it cannot be reached by a kubeconfig alone"


class PlaneAccess(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a cluster that can be sampled."""

    sources: Sources
    metrics: tuple[Metric, ...]
    components: Components | None
    """None for a cluster that this kwokctl has not made."""


async def looked_at(
    sources: Sources,
    components: Components | None,
    metrics: Sequence[Metric],
    missing: dict[str, str],
) -> PlaneAccess:
    """Ask every component once; why one cannot be sampled goes into `missing`.

    Raises UsageError for a metric of a component that cannot be asked, and for one that several have.
    """
    wanted = [each.wanted for each in metrics]
    answers = await asyncio.gather(*(_tried(each, wanted, missing) for each in sources.values()))
    found = dict(zip(sources, answers, strict=True))
    reached = {name: source for name, source in sources.items() if found[name] is not None}
    for name in SAMPLED:
        if name not in reached:
            missing.setdefault(f"metrics.{name}", _why_not(name, components))
    if components is None or components.processes is None:
        missing["processes"] = "the components are not processes that this host can see"
    if components is None or components.audit_log is None:
        missing["clients"] = (
            "the API server writes no audit log that can be read here: create the cluster with --kube-audit-policy"
        )
    return PlaneAccess(
        sources=reached,
        components=components,
        metrics=tuple(_placed(each, found) for each in metrics),
    )


async def _tried(
    source: MetricsSource, wanted: Sequence[WantedMetric], missing: dict[str, str]
) -> set[str] | None:
    """Return which of the wanted metrics a component has now; None if it does not answer."""
    try:
        async with asyncio.timeout(PATIENCE):
            read = await source.read(wanted)
    except (ApiError, TimeoutError, ValueError) as e:
        missing[f"metrics.{source.name}"] = (
            f"{source.name} does not show its metrics: {str(e) or 'no answer'}"
        )
        return None
    return {text.partition("{")[0] for text in read.values}


def _why_not(name: ComponentName, components: Components | None) -> str:
    if components is None:
        return f"{name}: {_UNREACHED}"
    return (
        f"the cluster has no {name}" if name not in components.names else f"{name} shows no metrics"
    )


def _placed(metric: Metric, found: Mapping[ComponentName, set[str] | None]) -> Metric:
    """Return a metric with the component that has it; without one if none has it yet."""
    asked = [name for name, names in found.items() if names is not None]
    if metric.component:
        if metric.component not in asked:
            raise UsageError(
                f"'--metric' is '{metric}', and '{metric.component}' cannot be asked for metrics",
                hint=f"choose from: {', '.join(asked) or 'none'}",
            )
        return metric
    having = [name for name in asked if metric.name in (found[name] or ())]
    if len(having) > 1:
        raise UsageError(
            f"'--metric' is '{metric}', and {' and '.join(having)} have such a metric",
            hint=f"name one of them: '{having[0]}:{metric.name}…'",
        )
    return replace(metric, component=having[0]) if having else metric


class PlaneSampler:
    """Samples one run."""

    def __init__(
        self, access: PlaneAccess, emit: Emit, texts: Texts, clock: RunClock, plane: PlaneHistory
    ) -> None:
        """Write lines by `emit`; `plane` has what they say."""
        self._access = access
        self._emit = emit
        self._texts = texts
        self._now = clock
        self._plane = plane
        self._wall = clock.wall
        self._oom_kills = oom_kills()
        components = access.components
        self._processes = None
        self._audit = None
        if components and components.processes:
            self._processes = ProcessSampler(components, emit, texts, clock)
        if components and components.audit_log:
            self._audit = AuditLog(components.audit_log)

    @property
    def sources(self) -> Iterable[MetricsSource]:
        """The components that can be asked."""
        return self._access.sources.values()

    @asynccontextmanager
    async def sampling(self) -> AsyncIterator[None]:
        """Sample while inside: all in the beginning and in the end, and in between what changes."""
        if self._audit:
            await asyncio.to_thread(self._audit.begin)
        await self._whole()
        ticks = [self._tick(source) for source in self._access.sources.values()]
        try:
            async with beside(*ticks, self._look_at_processes(), self._read_audit()):
                yield
        finally:
            await self._end()

    async def _end(self) -> None:
        await self._whole()
        await self._take_audit()
        if self._audit:
            self._audit.close()
        await self._say_why()

    async def _say_why(self) -> None:
        """Note why components have ended, as far as their runtime or the kernel knows."""
        interrupted, components = self._plane.interrupted(), self._access.components
        if not interrupted or components is None:
            return
        try:
            remarks = await components.remarks()
        except KwokctlError:
            remarks = {}
        killed = "the kernel has killed a process for lack of memory meanwhile"
        usual = killed if oom_kills() > self._oom_kills else ""
        for name in interrupted:
            if why := remarks.get(ComponentName(name), usual):
                self._emit(RunMoment(self._now(), f"{WHY_ENDED}{name}", why))

    async def _whole(self) -> None:
        """Sample everything there is."""
        sources = self._access.sources.values()
        samples = (self._sample(each, self._all_of(each), is_whole=True) for each in sources)
        await asyncio.gather(*samples, self._sample_processes())

    def _all_of(self, source: MetricsSource) -> list[WantedMetric]:
        asked = (m.wanted for m in self._access.metrics if m.component in (source.name, ""))
        return [*SAMPLED.get(source.name, ()), *asked]

    def _often(self, source: MetricsSource) -> list[WantedMetric]:
        metrics = self._access.metrics
        levels = [m for m in metrics if m.statistic == "max" and m.component == source.name]
        return [*AGAIN.get(source.name, ()), *(each.wanted for each in levels)]

    async def _tick(self, source: MetricsSource) -> None:
        wanted = self._often(source)
        while wanted:
            await asyncio.sleep(EVERY.get(source.name, _EVERY))
            await self._sample(source, wanted, is_whole=False)

    async def _sample(
        self, source: MetricsSource, wanted: Sequence[WantedMetric], *, is_whole: bool
    ) -> None:
        if not wanted:
            return
        try:
            async with asyncio.timeout(PATIENCE):
                read = await source.read(wanted)
        except (ApiError, TimeoutError, ValueError):
            return  # what is not there in the end is not measured
        self._emit(MetricsSample(
            self._now(),
            self._texts.number(source.name),
            round((read.started - self._wall.timestamp()) * SECOND),
            is_whole,
            tuple(map(self._texts.number, read.values)),
            tuple(map(_short, read.values.values())),
        ))  # fmt: skip

    async def _look_at_processes(self) -> None:
        while self._processes:
            await asyncio.sleep(_EVERY)
            await self._sample_processes()

    async def _sample_processes(self) -> None:
        if self._processes:
            await self._processes.sample()

    async def _read_audit(self) -> None:
        while self._audit:
            await asyncio.sleep(_EVERY_OF_AUDIT)
            await self._take_audit()

    async def _take_audit(self) -> None:
        if self._audit is None:
            return
        news = await asyncio.to_thread(self._audit.news)
        time, began = self._now(), wall_nanoseconds(self._wall.isoformat())
        for (client, code), count in sorted(news.counts.items()):
            self._emit(ClientCount(time, self._texts.number(client), code, count))
        for act in news.acts:
            what, user = self._texts.number(act.what), self._texts.number(act.user)
            named = (act.namespace, act.name)
            self._emit(
                SentAct(act.begin - began, act.end - began, what, *named, user, act.is_refused)
            )


def _short(value: float | tuple[float, ...]) -> float | tuple[float, ...]:
    """Return a value with whole numbers as such, which are shorter in a record."""
    if isinstance(value, tuple):
        return tuple(int(each) if each == int(each) else each for each in value)
    return int(value) if value == int(value) else value

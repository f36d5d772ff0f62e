"""Measures a run: records a cluster while loads or a command work on it, until nothing moves any more."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from kwokctl import __version__
from kwokctl.clusters.object_files.exporting.export import ExportRequest, ExportSource
from kwokctl.clusters.object_files.recording.ending import until_its_end
from kwokctl.clusters.object_files.recording.record import record_objects
from kwokctl.clusters.objects.kinds import KindFinder
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.clusters.tools import environment
from kwokctl.errors import ApiError
from kwokctl.host.process import run_in_view
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, one_page
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import JOBS, PODS, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.load.arrival import Arrival
from kwokctl.load.documents import Load
from kwokctl.load.run_loads import run_loads
from kwokctl.measure import conditions, ending
from kwokctl.measure.assertions import Assertion
from kwokctl.measure.figures.latencies import PREFIX
from kwokctl.measure.history import LOAD_LABEL, RUN_LABEL, History
from kwokctl.measure.record.file import RecordWriter
from kwokctl.measure.record.lines import Header, Lines, RunMoment, RunScope, Sent
from kwokctl.measure.verdict import COMMAND, INTERRUPTED, LOAD, UNDRAINED
from kwokctl.measure.watching.jobs import JobTracker
from kwokctl.measure.watching.kinds import KindTracker, Latency
from kwokctl.measure.watching.pods import PodTracker
from kwokctl.measure.watching.recorder import Followed, RunRecorder, Tracker
from kwokctl.measure.watching.texts import Texts
from kwokctl.model import ClusterName
from kwokctl.progress import Progress, Silent, Step
from kwokctl.tasks import beside, both

TIMEOUT = 600.0
"""Seconds after the last arrival in which a run must come to its end."""
_EVERY = 1.0
_REFUSED = (403, 404)
_WHOLE = ("namespaces", "pods", "jobs.batch")
"""The kinds of which whole objects are recorded: a recording begins with at least one object."""


class _Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster that is measured."""

    kubeconfig: Path
    saved: Saved | None = None
    """Its saved state if this kwokctl has made it."""
    environment: Mapping[str, str]
    """With which a command finds it."""

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
    command: tuple[str, ...] = ()
    loads: tuple[Load, ...] = ()
    seed: int = 0
    speed: float = 1.0
    until: Assertion | None = None
    full: Path | None = None
    """The file for whole objects and their changes, if they are wanted, too."""
    timeout: float | None = None
    """Seconds after the last arrival; None for the usual ones, without arrivals for no limit."""

    @property
    def has_end(self) -> bool:
        """Whether it ends by itself: loads and commands do."""
        return bool(self.command or self.loads or self.until)


async def measure_own(home: Home, name: ClusterName, request: MeasureRequest) -> History:
    """Measure a run in a cluster of this kwokctl, and return what its record says.

    An interrupt ends it, once everything is watched; what was recorded until then is kept.
    """
    paths = home.paths(name)
    cluster = _Cluster(
        saved=load(paths, name),
        kubeconfig=paths.own_kubeconfig,
        environment=environment(home, name),
    )
    return await _measure(cluster, request, home.progress)


async def measure_any(kubeconfig: Path, request: MeasureRequest, progress: Progress) -> History:
    """Measure a run in any cluster, likewise."""
    cluster = _Cluster(kubeconfig=kubeconfig, environment={"KUBECONFIG": str(kubeconfig)})
    return await _measure(cluster, request, progress)


async def _measure(cluster: _Cluster, request: MeasureRequest, progress: Progress) -> History:
    wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
    source = ExportSource(kubeconfig=cluster.kubeconfig)
    async with source.connected() as (access, pool):
        run = await _prepared(cluster, request, pool, wall)
        with RecordWriter(request.record) as writer, progress.step("Measuring") as step:
            writer.begin(run.history.header)
            run.writer = writer
            async with _recording_whole(source, request):
                work = run.work(access, progress, step)
                await until_its_end(work, None, has_begun=lambda: "begin" in run.history.moments)
            run.conclude()
    return run.history


@asynccontextmanager
async def _recording_whole(source: ExportSource, request: MeasureRequest) -> AsyncIterator[None]:
    """Record whole objects while inside, as `snapshot record` does, if that is wanted."""
    if request.full is None:
        yield
        return
    kinds = (*_WHOLE, *(latency.kind for latency in request.latencies))
    wanted = ExportRequest(path=request.full, kinds=kinds, resumes=False)
    begun = _Begun()
    async with beside(_to_its_end(record_objects(source, wanted, None, begun))):
        await begun.noted.wait()
        yield


async def _to_its_end(work: Awaitable[object]) -> None:
    await work


class _Begun(Silent):
    """Waits for the note with which a recording begins."""

    def __init__(self) -> None:
        self.noted = asyncio.Event()

    def note(self, text: str) -> None:
        """Take it for the beginning."""
        self.noted.set()


class _Clock:
    """The time since a record began; the clock of the wall is looked at once, in the same moment."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self.start = time.monotonic_ns()
        self.wall = datetime.fromtimestamp(wall(), UTC)

    def __call__(self) -> int:
        return time.monotonic_ns() - self.start


class _Run:
    """One run under way."""

    def __init__(
        self,
        request: MeasureRequest,
        header: Header,
        pool: Pool,
        cluster: _Cluster,
        clock: _Clock,
    ) -> None:
        self._now = clock
        self._start = clock.start
        self._request = request
        self._pool = pool
        self._cluster = cluster
        self._busy = conditions.Busy()
        self._is_over = False
        self.kinds: list[Followed] = []
        self.history = History(header)
        self.writer: RecordWriter | None = None

    def emit(self, line: Lines) -> None:
        """Write a line, and know what it says."""
        assert self.writer is not None
        self.writer.add(line)
        self.history.take(line)

    def arrived(self, arrival: Arrival) -> None:
        """Write the outcome of an arrival."""
        accepted = None if arrival.accepted is None else arrival.accepted - self._start
        self.emit(Sent(
            arrival.load, arrival.phase, arrival.index, arrival.act, arrival.due - self._start,
            arrival.sent - self._start, accepted, tuple(each.uid for each in arrival.made),
            arrival.refusal or "",
        ))  # fmt: skip

    async def work(self, access: Access, progress: Progress, step: Step) -> None:
        """Record from the beginning to the end."""
        recorder = RunRecorder(self._pool, self.kinds, self.emit, self._now)
        async with recorder.recording(), beside(self._report(step)):
            await both(self._run_loads(access, progress), self._run_command())
            await self._wait()
        self._is_over = True

    def conclude(self) -> None:
        """Write the last lines."""
        if not self._is_over and self._request.has_end:
            self._note(INTERRUPTED)
        self._note("machine during", self._busy.so_far())
        self._note("recorder", self._busy.of_recorder())
        self._note("end")

    async def _run_loads(self, access: Access, progress: Progress) -> None:
        request = self._request
        if not request.loads:
            return
        verdict = await run_loads(
            request.loads,
            access,
            run=request.scope.run,
            seed=request.seed,
            speed=request.speed,
            kubeconfig=self._cluster.kubeconfig,
            sink=self,
            progress=progress,
        )
        problems = [*verdict.problems, *verdict.refusals]
        if verdict.is_stopped:
            problems.insert(0, "a refusal ended the arrivals")
        if problems:
            self._note(LOAD, "; ".join(problems))

    async def _run_command(self) -> None:
        if not self._request.command:
            return
        code = await run_in_view(*self._request.command, env=self._cluster.environment)
        if code:
            self._note(COMMAND, f"the command ended with exit code {code}")

    async def _wait(self) -> None:
        """Wait until the run has ended, or for as long as it may take."""
        request = self._request
        self._note("end of arrivals")
        try:
            async with asyncio.timeout(self._limit()):
                if request.until is not None:
                    await ending.until(request.until, self.history)
                elif request.has_end:
                    await ending.drained(self.history, self._now)
                else:
                    await asyncio.Event().wait()
        except TimeoutError:
            self._note_timeout()

    def _limit(self) -> float | None:
        request = self._request
        return request.timeout or (TIMEOUT if request.has_end else None)

    def _note_timeout(self) -> None:
        request = self._request
        if request.until is not None:
            self._note(UNDRAINED, f"'{request.until.text}' did not hold after {self._limit():g} s")
        elif request.has_end:
            self._note(UNDRAINED, ending.undrained(self.history) or "its objects kept changing")

    def _note(self, what: str, detail: str = "") -> None:
        self.emit(RunMoment(self._now(), what, detail))

    async def _report(self, step: Step) -> None:
        """Say how far the run is, and keep on disk what was recorded."""
        assert self.writer is not None
        while True:
            pods = len(self.history.pods)
            step.say(f"{pods:,} pods, {self.writer.lines:,} changes")
            self.writer.flush()
            await asyncio.sleep(_EVERY)


async def _prepared(
    cluster: _Cluster, request: MeasureRequest, pool: Pool, wall: Callable[[], float]
) -> _Run:
    """Ask for all that is needed, so that what is refused is refused before anything begins."""
    client = Client(pool)
    finder = KindFinder(client)
    resources = [await finder.find(each.kind) for each in request.latencies]
    await one_page(pool, _query(PODS, request.scope).path(limit="1"))
    missing = await _missing(pool, request, resources)
    known = dict(await conditions.of_cluster(client))
    if cluster.saved is not None:
        known |= conditions.of_own_cluster(cluster.saved)
    labels = (RUN_LABEL, LOAD_LABEL, *request.labels)
    clock = _Clock(wall)
    header = Header(
        wall=clock.wall.isoformat(timespec="microseconds"),
        kwokctl=__version__,
        scope=request.scope,
        conditions={"cluster": str(cluster), **known, **conditions.of_machine()},
        labels=labels,
        latencies=tuple(map(str, request.latencies)),
        missing=missing,
    )
    run = _Run(request, header, pool, cluster, clock)
    run.kinds = _followed(run, request, resources, labels)
    return run


def _followed(
    run: _Run, request: MeasureRequest, resources: Sequence[Resource], labels: Sequence[str]
) -> list[Followed]:
    scope, texts = request.scope, Texts(run.emit)
    existing = scope.takes_existing
    pods = PodTracker(run.emit, texts, labels=labels, takes_existing=existing)
    kinds = [_follow(PODS, pods, scope)]
    missing = run.history.header.missing
    if "jobs" not in missing:
        jobs = JobTracker(run.emit, labels=labels, takes_existing=existing)
        kinds.append(_follow(JOBS, jobs, scope))
    for number, (latency, resource) in enumerate(zip(request.latencies, resources, strict=True)):
        plural = PREFIX + latency.name
        if plural not in missing:
            tracker = KindTracker(run.emit, latency, number, plural)
            kinds.append(_follow(resource, tracker, RunScope(namespace=scope.namespace)))
    return kinds


def _follow(resource: Resource, tracker: Tracker, scope: RunScope) -> Followed:
    return Followed(
        resource=resource,
        tracker=tracker,
        namespace=scope.namespace or None,
        selector=scope.selector,
    )


def _query(resource: Resource, scope: RunScope) -> ListQuery:
    return ListQuery(
        resource=resource, namespace=scope.namespace or None, label_selector=scope.selector
    )


async def _missing(
    pool: Pool, request: MeasureRequest, resources: Sequence[Resource]
) -> dict[str, str]:
    """Return why parts of the record will not be there: what may not be listed."""
    names = ["jobs", *(PREFIX + each.name for each in request.latencies)]
    found: dict[str, str] = {}
    for name, resource in zip(names, (JOBS, *resources), strict=True):
        try:
            await one_page(pool, _query(resource, request.scope).path(limit="1"))
        except ApiError as e:
            if e.status not in _REFUSED:
                raise
            found[name] = f"the API server refused to list {resource.plural}"
    return found

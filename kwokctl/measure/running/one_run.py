"""One run under way: what is done in it, in which order, and what is written of it."""

import asyncio

from kwokctl.clusters.state.deletion import Deletion
from kwokctl.errors import NotFoundError
from kwokctl.host.process import run_in_view
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import JOBS, PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.load.arrival import Arrival
from kwokctl.load.run_loads import run_loads
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.verdict import COMMAND, INTERRUPTED, LOAD, UNDRAINED
from kwokctl.measure.record.fault_lines import FaultSeen
from kwokctl.measure.record.record_file import RecordWriter
from kwokctl.measure.record.record_lines import Header, Lines, RunMoment, Sent
from kwokctl.measure.record.run_clock import RunClock
from kwokctl.measure.running import conditions, ending
from kwokctl.measure.running.request import MeasuredCluster, MeasureRequest
from kwokctl.measure.running.served_kinds import once_served
from kwokctl.measure.running.workloads import Workloads
from kwokctl.measure.sampling.component_profiles import profiling
from kwokctl.measure.sampling.plane import PlaneSampler
from kwokctl.measure.watching.recorder import Followed, RunRecorder
from kwokctl.measure.watching.watch_lag import LagProbe
from kwokctl.progress import Progress, Step
from kwokctl.tasks import beside, both

TIMEOUT = 600.0
"""Seconds after the last arrival in which a run must come to its end."""
_EVERY = 1.0


class _PatienceError(Exception):
    """Arrivals are over, and what was asked for has not come in time."""


class OneRun:
    """One run under way."""

    def __init__(
        self,
        request: MeasureRequest,
        header: Header,
        pool: Pool,
        cluster: MeasuredCluster,
        clock: RunClock,
    ) -> None:
        self._now = clock
        self._start = clock.start
        self._request = request
        self._pool = pool
        self._cluster = cluster
        self._deletion = None if cluster.saved is None else Deletion(cluster.kubeconfig)
        self._busy = conditions.Busy()
        self._workloads = Workloads(pool, request.scope.run)
        self._is_over = False
        self.kinds: list[Followed] = []
        self.later: list[Followed] = []
        """The kinds that the cluster does not serve yet: they are followed once it does."""
        self._has_faults = asyncio.Event()
        self.plane: PlaneSampler | None = None
        self.history = History(header)
        self.writer: RecordWriter | None = None

    def emit(self, line: Lines) -> None:
        """Write a line, and know what it says."""
        assert self.writer is not None
        self.writer.add(line)
        self.history.take(line)
        if isinstance(line, FaultSeen):
            self._has_faults.set()

    def arrived(self, arrival: Arrival) -> None:
        """Write the outcome of an arrival."""
        self._workloads.note(arrival.made)
        accepted = None if arrival.accepted is None else arrival.accepted - self._start
        self.emit(Sent(
            arrival.load, arrival.phase, arrival.index, arrival.act, arrival.due - self._start,
            arrival.sent - self._start, accepted, tuple(each.uid for each in arrival.made),
            arrival.refusal or "",
        ))  # fmt: skip

    async def work(self, access: Access, progress: Progress, step: Step) -> None:
        """Record from the beginning to the end."""
        recorder = RunRecorder(self._pool, self.kinds, self.emit, self._now)
        assert self.plane is not None
        profiles = profiling(self.plane.sources, self._request.profiles, self._note)
        sampling = self.plane.sampling()
        later = recorder.follow_later(once_served(self._pool, self.later))
        others = (self._report(step), later, self._probe_lag())
        async with profiles, recorder.recording(), sampling, beside(*others):
            try:
                await self._go(access, progress, recorder)
            except (TimeoutError, _PatienceError):
                self._note_timeout()
        self._is_over = True

    async def _probe_lag(self) -> None:
        """Measure how late the watches are, once there are Faults: only their times are judged to the millisecond."""
        await self._has_faults.wait()
        await LagProbe(self._pool, self.emit, self._now).probing()

    def conclude(self) -> None:
        """Write the last lines."""
        if not self._is_over and self._request.has_end:
            self._note(INTERRUPTED)
        self._note("machine during", self._busy.so_far())
        self._note("recorder", self._busy.of_recorder())
        self._note("end")

    async def _go(self, access: Access, progress: Progress, recorder: RunRecorder) -> None:
        """Let all arrivals come, and wait for the end; TimeoutError or _PatienceError if it does not come."""
        until = self._request.until
        if until is not None:
            # What still goes on when the condition holds ends with the run.
            async with beside(self._arrive_and_wait(access, progress), self._fail_if_deleted()):
                await ending.until(until, self.history, self._now)
            return
        await self._arrive(access, progress)
        async with asyncio.timeout(self._limit()):
            if self._request.has_end:
                async with beside(self._fail_if_deleted()):
                    await ending.drained(
                        self.history,
                        self._workloads,
                        self._now,
                        is_watched=lambda: recorder.sees(PODS.plural, JOBS.plural),
                    )
            else:
                await self._until_deleted()

    async def _until_deleted(self) -> None:
        """Wait until a cluster of this kwokctl is deleted: a recording that was not stopped must not go on for ever."""
        if self._deletion is None:
            await asyncio.Event().wait()
        else:
            await self._deletion.wait()

    async def _fail_if_deleted(self) -> None:
        await self._until_deleted()
        raise NotFoundError("the cluster was deleted while it was measured")

    async def _arrive_and_wait(self, access: Access, progress: Progress) -> None:
        await self._arrive(access, progress)
        await asyncio.sleep(self._limit() or 0)
        raise _PatienceError

    async def _arrive(self, access: Access, progress: Progress) -> None:
        """Run loads, the command and the work of the program to their ends."""
        others = both(self._run_command(progress), self._run_work())
        await both(self._run_loads(access, progress), others)
        self._note("end of arrivals")

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
            way=self._cluster.way,
            sink=self,
            progress=progress,
        )
        problems = [*verdict.problems, *verdict.refusals]
        if verdict.is_stopped:
            problems.insert(0, "a refusal ended the arrivals")
        if problems:
            self._note(LOAD, "; ".join(problems))

    async def _run_command(self, progress: Progress) -> None:
        if not self._request.command:
            return
        with progress.set_aside():
            code = await run_in_view(*self._request.command, env=self._cluster.environment)
        if code:
            self._note(COMMAND, f"the command ended with exit code {code}")

    async def _run_work(self) -> None:
        if self._request.work is not None:
            await self._request.work()

    def _limit(self) -> float | None:
        request = self._request
        return request.timeout or (TIMEOUT if request.has_end else None)

    def _note_timeout(self) -> None:
        request = self._request
        if request.until is not None:
            self._note(UNDRAINED, f"'{request.until.text}' did not hold after {self._limit():g} s")
        elif request.has_end:
            undrained = ending.undrained(self.history, self._workloads)
            self._note(
                UNDRAINED,
                undrained or "its objects kept changing, or their watches were interrupted",
            )

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

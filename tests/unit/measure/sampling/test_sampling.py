"""What is sampled of components while a run goes on, and which profiles are kept."""

import asyncio
import os
import signal
from asyncio import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwokctl.components.host_pages import HostPage
from kwokctl.errors import UsageError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.verdict import verdict
from kwokctl.measure.record.plane_lines import ClientCount, MetricsSample, ProcessSample
from kwokctl.measure.record.record_lines import Lines
from kwokctl.measure.record.run_clock import SECOND, RunClock
from kwokctl.measure.sampling.component_profiles import profiling
from kwokctl.measure.sampling.metric import Metric
from kwokctl.measure.sampling.metric_sources import (
    Components,
    MetricsSource,
    Processes,
    Sources,
    open_sources,
)
from kwokctl.measure.sampling.plane import PlaneAccess, PlaneSampler, looked_at
from kwokctl.measure.sampling.processes import ProcessSampler
from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.model import ETCD, KUBE_APISERVER, KUBE_SCHEDULER, ComponentName, HttpProbe
from tests.support.audited import event
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.measured import header

_DEPTH = 'workqueue_depth{name="job"}'
PAGES: Mapping[str, str] = {
    "/metrics": 'process_start_time_seconds 1000\napiserver_request_total{verb="GET",code="200"} %d\n',
    "/etcd": "process_start_time_seconds 1001\netcd_mvcc_db_total_size_in_bytes 5e3\nboth 1\n",
    "/manager": f"process_start_time_seconds 1002\n{_DEPTH} 3\nboth 2\nodd one\n",
}
MANAGER = ComponentName("manager")


@asynccontextmanager
async def components(*, refused: Sequence[str] = ()) -> AsyncIterator[tuple[Sources, list[str]]]:
    """Yield the sources of three components, and the paths that are asked for."""
    asked: list[str] = []

    async def handle(request: Request, reply: Reply) -> None:
        asked.append(request.path)
        if request.path in refused:
            await reply.refuse(403, "Forbidden", "no metrics for you")
        elif request.path.startswith("/debug"):
            await reply.send(b"a profile")
        else:
            text = PAGES[request.path]
            await reply.send((text % len(asked) if "%d" in text else text).encode())

    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        yield {
            KUBE_APISERVER: MetricsSource(name=KUBE_APISERVER, pool=pool),
            ETCD: MetricsSource(name=ETCD, pool=pool, path="/etcd"),
            MANAGER: MetricsSource(name=MANAGER, pool=pool, path="/manager"),
        }, asked  # fmt: skip


async def nothing() -> Mapping[ComponentName, str]:
    return {}


def own(processes: Processes | None = None) -> Components:
    async def find() -> Processes:
        return processes or {}

    return Components(
        names=(KUBE_APISERVER, ETCD), pages={}, processes=find, remarks=nothing, audit_log=None
    )


async def test_a_metric_is_of_the_component_that_has_it() -> None:
    missing: dict[str, str] = {}
    metrics = [Metric.read(f"{_DEPTH} max"), Metric.read("both delta"), Metric.read("later rate")]
    async with components() as (sources, _):
        with pytest.raises(UsageError, match="etcd and manager have such a metric"):
            await looked_at(sources, None, metrics, missing)
        named = [metrics[0], Metric.read("etcd:both delta"), metrics[2]]
        found = await looked_at(sources, None, named, missing)
        with pytest.raises(UsageError, match="'kueue' cannot be asked for metrics"):
            await looked_at(sources, None, [Metric.read("kueue:x max")], missing)

    assert [each.component for each in found.metrics] == ["manager", "etcd", ""]


async def test_what_cannot_be_sampled_has_a_reason() -> None:
    of_any: dict[str, str] = {}
    of_ours: dict[str, str] = {}
    async with components(refused=("/etcd",)) as (sources, _):
        await looked_at({KUBE_APISERVER: sources[KUBE_APISERVER]}, None, [], of_any)
        found = await looked_at(sources, own(), [], of_ours)

    assert (
        of_any["metrics.kube-scheduler"]
        == "kube-scheduler: it cannot be reached by a kubeconfig alone"
    )
    assert {"metrics.etcd", "processes", "clients"} < {*of_any}
    assert "no metrics for you" in of_ours["metrics.etcd"]
    assert of_ours["metrics.kube-scheduler"] == "the cluster has no kube-scheduler"
    assert "--kube-audit-policy" in of_ours["clients"]
    assert "processes" not in of_ours
    assert set(found.sources) == {KUBE_APISERVER, MANAGER}


async def test_a_page_without_metrics_is_no_source() -> None:
    missing: dict[str, str] = {}
    odd = Metric.read("manager:odd max")
    async with components() as (sources, _):
        with pytest.raises(UsageError, match="'manager' cannot be asked"):
            await looked_at(sources, None, [odd], missing)

    assert "could not convert string to float" in missing["metrics.manager"]


async def test_a_page_that_cannot_be_opened_has_a_reason(tmp_path: Path) -> None:
    missing: dict[str, str] = {}
    lost = HostPage(page=HttpProbe(url="http://localhost:1/metrics"), token=tmp_path / "none")
    async with components() as (sources, _):
        pool = sources[KUBE_APISERVER].pool
        ours = Components(
            names=(), pages={ETCD: lost}, processes=None, remarks=nothing, audit_log=None
        )
        async with open_sources(ours, pool, missing) as found:
            assert set(found) == {KUBE_APISERVER}

    assert missing["metrics.etcd"].startswith("the metrics of etcd cannot be read: ")


class Recorded:
    """What a sampler has written."""

    def __init__(self) -> None:
        self.lines: list[Lines] = []
        self.history = History(header())

    def emit(self, line: Lines) -> None:
        self.lines.append(line)
        self.history.take(line)

    def sampler(self, access: PlaneAccess) -> PlaneSampler:
        clock = RunClock(lambda: 1500.0)
        return PlaneSampler(access, self.emit, Texts(self.emit), clock, self.history.plane)


async def test_counters_are_read_in_the_beginning_and_in_the_end() -> None:
    recorded = Recorded()
    async with components() as (sources, asked):
        access = PlaneAccess(sources=sources, metrics=(), components=None)
        async with recorded.sampler(access).sampling():
            assert asked.count("/metrics") == 1

    samples = [line for line in recorded.lines if isinstance(line, MetricsSample)]
    assert [each.is_whole for each in samples] == [True] * 4
    assert asked.count("/manager") == 0
    plane = recorded.history.plane
    assert {each.start for each in plane.samples["kube-apiserver"]} == {-500_000_000_000}
    (requests,) = plane.changes("kube-apiserver", "apiserver_request_total")
    assert requests.number > 0


async def test_a_level_that_was_asked_for_is_read_again_and_again() -> None:
    recorded = Recorded()
    metric = Metric.read(f"manager:{_DEPTH} max")
    async with components() as (sources, asked):
        access = PlaneAccess(sources=sources, metrics=(metric,), components=None)
        async with recorded.sampler(access).sampling():
            while asked.count("/manager") < 3:
                await asyncio.sleep(0.05)

    again = [each for each in recorded.history.plane.samples["manager"] if not each.is_whole]
    assert [each.values for each in again] == [{_DEPTH: 3.0}] * len(again)
    assert again


async def test_a_component_that_stops_to_answer_ends_no_run() -> None:
    recorded = Recorded()
    refused: list[str] = []
    async with components(refused=refused) as (sources, _):
        access = PlaneAccess(sources=sources, metrics=(), components=None)
        async with recorded.sampler(access).sampling():
            refused.append("/etcd")

    assert len(recorded.history.plane.whole("etcd")) == 1
    assert len(recorded.history.plane.whole("kube-apiserver")) == 2


async def test_an_interrupted_run_is_sampled_in_the_end_too() -> None:
    recorded = Recorded()
    async with components() as (sources, _):
        sampler = recorded.sampler(PlaneAccess(sources=sources, metrics=(), components=None))

        async def run() -> None:
            async with sampler.sampling():
                begun.set()
                await asyncio.Event().wait()

        begun = asyncio.Event()
        task = asyncio.ensure_future(run())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert len(recorded.history.plane.whole("etcd")) == 2


async def running() -> subprocess.Process:
    """Start a process, and wait until it has memory: right after its start Linux may count none."""
    started = await asyncio.create_subprocess_exec(
        "cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert started.stdin is not None
    assert started.stdout is not None
    started.stdin.write(b"here\n")
    assert await started.stdout.readline() == b"here\n"
    return started


async def test_a_process_that_ends_is_missed_and_looked_for_again() -> None:
    recorded = Recorded()
    first = await running()
    pids = {ETCD: [first.pid], KUBE_SCHEDULER: [1]}
    sampler = ProcessSampler(
        own(pids), recorded.emit, Texts(recorded.emit), lambda: len(recorded.lines)
    )
    await sampler.sample()
    first.kill()
    await first.wait()
    await sampler.sample()
    assert recorded.history.plane.interrupted() == {"etcd": "ended"}
    second = await running()
    pids[ETCD] = [second.pid]
    await sampler.sample()
    second.kill()
    await second.wait()

    assert recorded.history.plane.interrupted() == {"etcd": "was started again"}
    (*_, last) = (line for line in recorded.lines if isinstance(line, ProcessSample))
    assert all(memory > 0 for memory in last.memory)


async def test_a_process_that_a_signal_has_stopped_makes_the_run_invalid() -> None:
    recorded = Recorded()
    process = await running()
    times = iter(each * SECOND for each in (1, 2, 31, 62, 63))
    pids = {ETCD: [process.pid], KUBE_SCHEDULER: [1]}
    sampler = ProcessSampler(own(pids), recorded.emit, Texts(recorded.emit), lambda: next(times))
    await sampler.sample()
    await sampler.sample()
    os.kill(process.pid, signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    await sampler.sample()
    await sampler.sample()
    os.kill(process.pid, signal.SIGCONT)
    os.waitpid(process.pid, os.WCONTINUED)
    await sampler.sample()
    process.kill()
    await process.wait()

    assert recorded.history.plane.stopped == {"etcd": 60 * SECOND}
    assert (
        "invalid: a signal (SIGSTOP) has stopped etcd for about 60 s while it was measured"
        in verdict(recorded.history, [], allow_undrained=False).problems
    )


async def test_why_a_component_has_ended_is_noted() -> None:
    recorded = Recorded()
    ended = await asyncio.create_subprocess_exec("sleep", "60")

    async def remarks() -> Mapping[ComponentName, str]:
        return {ETCD: "killed: it exceeded its memory limit of 64Mi"}

    async def find() -> Processes:
        return {ETCD: [ended.pid]}

    ours = Components(names=(ETCD,), pages={}, processes=find, remarks=remarks, audit_log=None)
    async with recorded.sampler(PlaneAccess(sources={}, metrics=(), components=ours)).sampling():
        ended.kill()
        await ended.wait()

    why = recorded.history.moments["why it ended: etcd"]
    assert why.detail == "killed: it exceeded its memory limit of 64Mi"


async def test_requests_are_counted_while_a_run_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_text(event("before/1", 200))
    recorded = Recorded()
    ours = Components(names=(), pages={}, processes=None, remarks=nothing, audit_log=log)
    async with recorded.sampler(PlaneAccess(sources={}, metrics=(), components=ours)).sampling():
        with log.open("a") as file:
            file.write(event("a/1", 201) * 3 + event("a/1", 409))

    counts = [(each.code, each.count) for each in recorded.lines if isinstance(each, ClientCount)]
    assert counts == [(201, 3), (409, 1)]
    assert recorded.history.plane.requests == {"a": {201: 3, 409: 1}}


async def test_profiles_are_kept_until_the_run_ends(tmp_path: Path) -> None:
    notes: list[tuple[str, str]] = []
    async with components(refused=("/debug/pprof/profile",)) as (sources, _):
        refusing = sources[ETCD]
        async with components() as (others, _):
            profiled = [refusing, others[KUBE_APISERVER], others[MANAGER]]
            file = tmp_path / "kube-apiserver-0001.pb.gz"
            async with profiling(profiled, tmp_path, lambda *words: notes.append(words)):
                while not file.exists():
                    await asyncio.sleep(0.01)

    assert file.read_bytes() == b"a profile"
    assert {each.name.rpartition("-")[0] for each in tmp_path.iterdir()} == {"kube-apiserver"}
    ((what, said),) = notes
    assert what == "profiles"
    assert "of kube-apiserver" in said
    assert "0 of etcd (it answers 403)" in said


async def test_without_a_folder_no_profile_is_asked_for() -> None:
    async with components() as (sources, asked), profiling(sources.values(), None, print):
        assert asked == []

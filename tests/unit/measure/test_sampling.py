"""What is sampled of components: which metrics are asked for, whose requests are counted, and which profiles are kept."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwokctl.components.host_pages import HostPage
from kwokctl.errors import UsageError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import USER_AGENT, Pool
from kwokctl.measure.clock import RunClock
from kwokctl.measure.history import History
from kwokctl.measure.record.lines import Lines
from kwokctl.measure.record.plane_lines import ClientCount, MetricsSample, ProcessSample
from kwokctl.measure.sampling.audit_log import AuditLog, client_of
from kwokctl.measure.sampling.component_profiles import profiling
from kwokctl.measure.sampling.metric import Metric, read_metrics_asked
from kwokctl.measure.sampling.metric_sources import (
    Components,
    MetricsSource,
    Processes,
    Sources,
    open_sources,
)
from kwokctl.measure.sampling.plane import PlaneAccess, PlaneSampler, looked_at
from kwokctl.measure.sampling.processes import ProcessSampler
from kwokctl.measure.watching.texts import Texts
from kwokctl.model import ETCD, KUBE_APISERVER, KUBE_SCHEDULER, ComponentName, HttpProbe
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.measured import header

_DEPTH = 'workqueue_depth{name="job"}'


@pytest.mark.parametrize(
    "text",
    [
        "up max",
        "apiserver_request_total rate",
        'workqueue_depth{name="job"} max',
        'kube-scheduler:scheduler_pending_pods{queue="active"} max',
        'jobs=kube-controller-manager:workqueue_depth{name="job",of="a b"} delta',
        "etcd:etcd_disk_wal_fsync_duration_seconds p99",
    ],
)
def test_a_metric_is_written_as_it_is_read(text: str) -> None:
    assert str(Metric.read(text)) == text


def test_the_parts_of_a_metric() -> None:
    metric = Metric.read(' jobs = my-operator:depth{b="2", a="1"}  p99 ')

    assert (metric.field, metric.component, metric.name) == ("jobs", "my-operator", "depth")
    assert (metric.labels, metric.statistic) == ((("a", "1"), ("b", "2")), "p99")
    assert metric.wanted.is_histogram
    assert Metric.read("depth max").field == "depth"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("depth", "not a metric and one of rate, delta, max and p99"),
        ("depth mean", "not a metric and one of"),
        ("depth{name=job} max", "whose labels cannot be read"),
        ('depth{name="job" max', "not a metric"),
        ("max", "not a metric"),
    ],
)
def test_what_is_no_metric_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Metric.read(text)


def test_two_metrics_of_one_name_need_another_name() -> None:
    texts = ['depth{name="a"} max', 'depth{name="b"} max']

    with pytest.raises(UsageError, match="two of '--metric' are called 'depth'"):
        read_metrics_asked(texts)
    assert len(read_metrics_asked([texts[0], f"b={texts[1]}"])) == 2


@pytest.mark.parametrize(
    ("agent", "client"),
    [
        ("kubectl/v1.36.3 (linux/amd64) kubernetes/02d6d2a", "kubectl"),
        ("kube-scheduler/v1.36.3 (linux/amd64) kubernetes/02d6d2a/scheduler", "kube-scheduler"),
        (
            "kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/02d6d2a/system:serviceaccount:kube-system:job-controller",
            "kube-controller-manager/job-controller",
        ),
        (f"{USER_AGENT} measure", "the recorder"),
        (f"{USER_AGENT} load", "loads"),
        (USER_AGENT, "kwokctl"),
        ("", "unnamed"),
    ],
)
def test_clients_are_named_by_their_programs(agent: str, client: str) -> None:
    assert client_of(agent) == client


def event(agent: str, code: int, *, verb: str = "create", stage: str = "ResponseComplete") -> str:
    body = {"kind": "Event", "stage": stage, "verb": verb, "userAgent": agent}
    return json.dumps(body | ({"responseStatus": {"code": code}} if code else {})) + "\n"


def test_requests_are_counted_once_each_from_the_beginning_on(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_text(event("before/1", 200))
    log = AuditLog(path)
    log.begin()
    whole = [
        event("a/1", 0, stage="RequestReceived"),
        event("a/1", 201),
        event("a/2", 409),
        event("b/1", 200, verb="watch", stage="ResponseStarted"),
        event("b/1", 200, verb="watch"),
        event("b/1", 403, verb="watch"),
        event("c/1", 500, stage="Panic"),
    ]
    with path.open("a") as file:
        file.write("".join(whole)[:-10])
    first = log.new_counts()
    with path.open("a") as file:
        file.write("".join(whole)[-10:] + '{"cut": \n')
    second = log.new_counts()

    assert first == Counter({("a", 201): 1, ("a", 409): 1, ("b", 200): 1, ("b", 403): 1})
    assert second == Counter({("c", 500): 1})
    assert log.new_counts() == Counter()
    log.close()


def test_a_log_that_was_moved_away_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.touch()
    log = AuditLog(path)
    log.begin()
    path.write_text(event("a/1", 200))
    path.rename(tmp_path / "audit-1.log")
    assert log.new_counts() == Counter({("a", 200): 1})
    with (tmp_path / "audit-1.log").open("a") as file:
        file.write(event("b/1", 200))
    path.write_text(event("c/1", 200))

    assert log.new_counts() == Counter({("b", 200): 1, ("c", 200): 1})
    log.close()


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


async def test_a_process_that_ends_is_missed_and_looked_for_again() -> None:
    recorded = Recorded()
    first = await asyncio.create_subprocess_exec("sleep", "60")
    pids = {ETCD: [first.pid], KUBE_SCHEDULER: [1]}
    sampler = ProcessSampler(
        own(pids), recorded.emit, Texts(recorded.emit), lambda: len(recorded.lines)
    )
    await sampler.sample()
    first.kill()
    await first.wait()
    await sampler.sample()
    assert recorded.history.plane.interrupted() == {"etcd": "ended"}
    second = await asyncio.create_subprocess_exec("sleep", "60")
    pids[ETCD] = [second.pid]
    await sampler.sample()
    second.kill()
    await second.wait()

    assert recorded.history.plane.interrupted() == {"etcd": "was started again"}
    (*_, last) = (line for line in recorded.lines if isinstance(line, ProcessSample))
    assert all(memory > 0 for memory in last.memory)


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

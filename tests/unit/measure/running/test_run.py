"""A whole run on an API server that refuses some of what is asked."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.state.home import cluster_name
from kwokctl.errors import ApiError, NotFoundError, UnavailableError
from kwokctl.host.paths import WorkDir
from kwokctl.measure.figures.figure_catalogue import FIGURES
from kwokctl.measure.histories.history_files import history_of
from kwokctl.measure.judging.assertions import AssertionReader
from kwokctl.measure.judging.verdict import verdict
from kwokctl.measure.running.request import MeasuredCluster, MeasureRequest
from kwokctl.measure.running.run import measure, measure_any
from kwokctl.measure.watching.kinds import Latency
from kwokctl.progress import Silent
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.options import cluster_options
from tests.support.saved_cluster import save_cluster
from tests.support.watches import forever, is_watch, page, pod

_KUBECONFIG = """
current-context: x
clusters: [{{name: x, cluster: {{server: "{url}"}}}}]
contexts: [{{name: x, context: {{cluster: x}}}}]
"""
_VERSIONS = [{"groupVersion": f"jobset.x-k8s.io/{version}"} for version in ("v2", "v1")]
_DISCOVERY: dict[str, dict[str, Any]] = {
    "apis": {"groups": []},
    "v1": {"resources": []},
    "jobset.x-k8s.io": {"versions": _VERSIONS, "preferredVersion": _VERSIONS[1]},
    "v2": {"resources": [{"name": "jobsets", "kind": "JobSet", "namespaced": True}]},
}
READER = AssertionReader(FIGURES)
HOLDS, LATER = READER.read("pods.created >= 0"), READER.read("pods.created >= 1")
Asked = Callable[..., MeasureRequest]


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """Return a request, whose record is a file of this test."""

    def make(**fields: object) -> MeasureRequest:
        return MeasureRequest(record=tmp_path / "run.jsonl", **fields)  # type: ignore[arg-type]  # tests know the fields

    return make


@asynccontextmanager
async def cluster(tmp_path: Path, *, refused: str = "") -> AsyncIterator[Path]:
    """Yield the kubeconfig of an API server that refuses to list a kind.

    A pod is created there when the file `up` exists.
    """

    async def handle(request: Request, reply: Reply) -> None:
        plural = request.path.rpartition("/")[2]
        if plural == "version":
            await reply.json({"gitVersion": "v1.99.0"})
        elif plural in _DISCOVERY:
            await reply.json(_DISCOVERY[plural])
        elif request.path.count("/") == 2 and request.path.startswith("/apis/"):
            await reply.refuse(404, "NotFound", "the server could not find the requested resource")
        elif plural == refused:
            await reply.refuse(403, "Forbidden", f"{plural} is forbidden")
        elif is_watch(request):
            await reply.begin()
            while not (tmp_path / "up").exists():
                await asyncio.sleep(0.02)
            await reply.event("ADDED", pod("new", 11))
            await forever()
        else:
            await reply.json(page(pod("old", 1), version=10))

    async with serving(handle) as server:
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(_KUBECONFIG.format(url=server.url))
        yield kubeconfig


async def test_what_may_not_be_listed_is_missing_and_the_rest_is_measured(
    tmp_path: Path, asked: Asked
) -> None:
    ready = Latency.read("ready=nodes,exists,Ready")
    request = asked(until=HOLDS, latencies=(ready,))
    async with cluster(tmp_path, refused="nodes") as kubeconfig:
        found = await measure_any(kubeconfig, request, Silent())

    missing, refused = found.header.missing, "the API server refused to list nodes"
    assert (missing["nodes"], missing["latency.ready"]) == (refused, refused)
    assert "jobs" not in missing
    assert missing["metrics.etcd"] == "etcd: it cannot be reached by a kubeconfig alone"
    assert found.header.conditions["kubernetes"] == "v1.99.0"
    assert found.header.conditions["pods before"] == "1"
    assert "nodes before" not in found.header.conditions
    assert verdict(found, [], allow_undrained=False).passed
    again = history_of(request.record)
    assert (again.header, again.moments) == (found.header, found.moments)


@pytest.mark.parametrize("refused", ["jobsets", "nothing"])
async def test_of_gangs_what_is_served_is_watched_and_what_may_not_be_listed_is_missing(
    tmp_path: Path, asked: Asked, refused: str
) -> None:
    async with cluster(tmp_path, refused=refused) as kubeconfig:
        found = await measure_any(kubeconfig, asked(until=HOLDS), Silent())

    kind = "jobsets.jobset.x-k8s.io"
    why = f"the API server refused to list {kind}" if refused == "jobsets" else None
    assert found.header.missing.get(kind) == why
    kinds = {each.kind for each in found.gangs.objects.values()}
    assert kinds == (set() if why else {kind})


async def test_without_the_right_to_pods_nothing_is_measured(tmp_path: Path, asked: Asked) -> None:
    request = asked(until=HOLDS)
    async with cluster(tmp_path, refused="pods") as kubeconfig:
        with pytest.raises(ApiError, match="pods is forbidden"):
            await measure_any(kubeconfig, request, Silent())

    assert not request.record.exists()


async def test_a_kind_that_is_not_served_is_named_before_anything_is_measured(
    tmp_path: Path, asked: Asked
) -> None:
    request = asked(until=HOLDS, latencies=(Latency.read("x=widgets,exists,Ready"),))
    async with cluster(tmp_path) as kubeconfig:
        with pytest.raises(NotFoundError, match="the cluster has no kind 'widgets'"):
            await measure_any(kubeconfig, request, Silent())

    assert not request.record.exists()


@pytest.mark.parametrize(
    ("command", "problems"),
    [(("true",), ()), (("sh", "-c", "exit 3"), ("the command ended with exit code 3",))],
)
async def test_a_command_that_fails_fails_the_run(
    tmp_path: Path, asked: Asked, command: tuple[str, ...], problems: tuple[str, ...]
) -> None:
    async with cluster(tmp_path) as kubeconfig:
        request = asked(command=command)
        found = await measure_any(kubeconfig, request, Silent())

    assert verdict(found, [], allow_undrained=False).problems == problems


async def test_a_command_finds_the_cluster_by_its_kubeconfig(tmp_path: Path, asked: Asked) -> None:
    words = ("sh", "-c", f'echo "$KUBECONFIG" > {tmp_path}/said')
    async with cluster(tmp_path) as kubeconfig:
        await measure_any(kubeconfig, asked(command=words), Silent())

    assert (tmp_path / "said").read_text() == f"{kubeconfig}\n"


async def test_a_program_that_does_not_exist_is_named(tmp_path: Path, asked: Asked) -> None:
    request = asked(command=("no-such-program",))
    async with cluster(tmp_path) as kubeconfig:
        with pytest.raises(UnavailableError, match="'no-such-program' is not installed"):
            await measure_any(kubeconfig, request, Silent())


async def test_what_does_not_come_in_time_is_said(tmp_path: Path, asked: Asked) -> None:
    async with cluster(tmp_path) as kubeconfig:
        found = await measure_any(kubeconfig, asked(until=LATER, timeout=0.1), Silent())

    said = verdict(found, [], allow_undrained=False).problems
    assert said == ("not drained: 'pods.created >= 1' did not hold after 0.1 s",)


async def test_a_condition_that_a_deleted_cluster_cannot_meet_is_not_waited_for(
    tmp_path: Path, asked: Asked
) -> None:
    saved = save_cluster(WorkDir(tmp_path), cluster_name("kwok"), cluster_options(runtime="fake"))
    gone = asyncio.Event()
    async with asyncio.timeout(60), cluster(tmp_path) as kubeconfig:

        async def delete() -> None:
            kubeconfig.unlink()
            await gone.wait()

        request = asked(until=LATER, work=delete)
        measured = MeasuredCluster(saved=saved, kubeconfig=kubeconfig, environment={})
        with pytest.raises(NotFoundError, match="the cluster was deleted while it was measured"):
            await measure(measured, request, Silent())


async def test_a_command_that_goes_on_ends_with_the_run(tmp_path: Path, asked: Asked) -> None:
    words = (
        "sh",
        "-c",
        f"trap 'echo ended > {tmp_path}/said; exit' TERM; touch {tmp_path}/up; sleep 60 & wait",
    )
    async with cluster(tmp_path) as kubeconfig:
        found = await measure_any(kubeconfig, asked(until=LATER, command=words), Silent())

    assert verdict(found, [], allow_undrained=False).passed
    assert (tmp_path / "said").read_text() == "ended\n"


async def test_the_work_of_a_program_begins_when_everything_is_watched_and_the_run_waits_for_it(
    tmp_path: Path, asked: Asked
) -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await over.wait()

    async with cluster(tmp_path) as kubeconfig:
        running = asyncio.create_task(measure_any(kubeconfig, asked(work=work), Silent()))
        await begun.wait()
        assert not running.done()
        over.set()
        found = await running

    assert verdict(found, [], allow_undrained=False).passed
    assert found.moments["begin"].time < found.moments["end of arrivals"].time


async def test_a_program_that_is_interrupted_leaves_a_record_that_says_so(
    tmp_path: Path, asked: Asked
) -> None:
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        await asyncio.Event().wait()

    async with cluster(tmp_path) as kubeconfig:
        running = asyncio.create_task(measure_any(kubeconfig, asked(work=work), Silent()))
        await begun.wait()
        running.cancel()
        found = await running

    problems = verdict(found, [], allow_undrained=False).problems
    assert problems == ("it was interrupted before its end",)

"""Documents that are custom resources of a cluster come and go while the kubelet server runs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kwokctl.embedded.http.listening import listening_sockets
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.kubelet.settings import KubeletSettings, read_kubelet_settings
from kwokctl.kubelet.wiring import KubeletProcess
from kwokctl.progress import Silent
from kwokctl.tasks import beside
from tests.support.cluster_server import ClusterServer
from tests.support.eventually import eventually
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.fake_cluster import FakeCluster
from tests.support.kubelet_rig import KubeletAt

_SCOPED = {"Logs": True, "ClusterLogs": False, "Exec": True, "ResourceUsage": True, "Metric": False}
KINDS = {
    kind: Resource("kwok.x-k8s.io", "v1alpha1", kind.lower(), kind, namespaced=is_namespaced)
    for kind, is_namespaced in _SCOPED.items()
}
START = 1_800_000_000.0
LOG = "GET /containerLogs/default/web/c HTTP/1.1"
USAGE = "GET /metrics/nodes/a/metrics/resource HTTP/1.1"
POD: dict[str, Any] = {
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"nodeName": "a", "containers": [{"name": "c"}]},
    "status": {
        "phase": "Running",
        "containerStatuses": [
            {"name": "c", "state": {"running": {"startedAt": "2027-01-15T07:59:50Z"}}}
        ],
    },
}
FILE = """
kind: ClusterLogs
metadata: {name: all}
spec: {logs: [{generated: {template: of the file}}]}
"""


class Guarded(ClusterServer):
    """Refuses what the user has no right to."""

    def __init__(self, cluster: FakeCluster, *more: Resource) -> None:
        super().__init__(cluster, *more)
        self.forbidden: set[str] = set()

    async def __call__(self, request: Request, reply: Reply) -> None:
        if request.path.rpartition("/")[2] in self.forbidden:
            await reply.refuse(403, "Forbidden", "the user may not list that")
        else:
            await super().__call__(request, reply)


@dataclass(frozen=True, slots=True)
class KubeletStory(KubeletAt):
    """A kubelet server at work, and the cluster that it follows."""

    handler: Guarded
    now: list[float]
    """The time of day, which a test moves."""

    def put(self, kind: str, name: str, namespace: str = "", **spec: Any) -> None:
        """Apply a custom resource."""
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        self.handler.cluster.put(KINDS[kind], {"metadata": metadata, "spec": spec})

    def remove(self, kind: str, name: str, namespace: str = "") -> None:
        """Delete a custom resource."""
        self.handler.cluster.remove(KINDS[kind], name, namespace)

    def condition(self, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
        """Return the condition of a custom resource, nothing if it has none."""
        found = self.handler.cluster.object(KINDS[kind], name, namespace)
        return dict(next(iter(found.get("status", {}).get("conditions", [])), {}))

    async def until(self, line: str, text: str) -> None:
        """Wait until the answer to a request has a text."""
        await answered(lambda: self.ask(line), text)


async def answered(ask: Callable[[], Awaitable[str]], text: str) -> None:
    while text not in await ask():
        await asyncio.sleep(0)


def settings(folder: Path, kinds: Iterable[str]) -> KubeletSettings:
    file = folder / "documents.yaml"
    file.write_text(FILE)
    words = ("--server-address=127.0.0.1:0", "--manage-all-nodes", "--anonymous-auth=true")
    enabled = f"--enable-crds={','.join(kinds)}"
    flags = [*words, "--authorization-mode=AlwaysAllow", enabled, f"--config={file}"]
    return read_kubelet_settings(flags, Silent())


@asynccontextmanager
async def story(
    folder: Path, *kinds: str, serves: Iterable[str] | None = None
) -> AsyncIterator[KubeletStory]:
    """Run a kubelet server that follows these kinds, of a cluster that serves some of them."""
    cluster = FakeCluster(NODES, PODS)
    cluster.put(NODES, {"metadata": {"name": "a"}, "status": {}})
    cluster.put(PODS, {**POD, "metadata": dict(POD["metadata"])})
    handler = Guarded(cluster, *(KINDS[kind] for kind in (kinds if serves is None else serves)))
    now = [START]
    read = await asyncio.to_thread(settings, folder, kinds)
    async with serving(handler) as api, Pool(Access(server=api.url)) as pool:
        process = KubeletProcess(read, Client(pool), lambda: now[0], Random(1))
        sockets = listening_sockets(["127.0.0.1"], 0)
        work = (each() for each in process.work())
        async with beside(process.server.run(sockets, None), *work):
            port = sockets[0].getsockname()[1]
            yield KubeletStory(port, process.server, handler, now)


def lines(text: str) -> list[dict[str, Any]]:
    return [{"generated": {"template": text}}]


async def test_one_takes_the_place_of_the_files_document_until_it_is_gone(tmp_path: Path) -> None:
    async with story(tmp_path, "ClusterLogs") as at:
        await at.until(LOG, "of the file")

        at.put("ClusterLogs", "all", logs=lines("of the cluster"))
        await at.until(LOG, "of the cluster")

        at.put("ClusterLogs", "all", logs=lines("changed"))
        await at.until(LOG, "changed")

        at.remove("ClusterLogs", "all")
        await at.until(LOG, "of the file")


async def test_one_for_a_pod_counts_alone(tmp_path: Path) -> None:
    async with story(tmp_path, "Logs", "ClusterLogs") as at:
        at.put("Logs", "web", "default", logs=lines("of the pod"))
        await at.until(LOG, "of the pod")

        at.put("ClusterLogs", "first", logs=lines("of all"))
        at.remove("Logs", "web", "default")
        await at.until(LOG, "of all")


async def test_one_that_is_wrong_is_marked_and_counts_as_absent(tmp_path: Path) -> None:
    async with story(tmp_path, "ClusterLogs") as at:
        at.put("ClusterLogs", "all", logs=lines("{{ end }}"))

        await eventually(lambda: at.condition("ClusterLogs", "all").get("status") == "False")
        found = at.condition("ClusterLogs", "all")
        assert (found["type"], found["reason"]) == ("Accepted", "Invalid")
        assert found["message"].startswith("'spec.logs[0]' has a template that cannot be compiled")
        await at.until(LOG, "of the file")


async def test_missing_rights_are_logged_once_and_used_when_they_come(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with story(tmp_path, "ClusterLogs") as at:
        at.handler.forbidden.add("clusterlogs")
        at.handler.stop_serving(KINDS["ClusterLogs"])
        at.handler.served.append(KINDS["ClusterLogs"])
        at.put("ClusterLogs", "all", logs=lines("of the cluster"))
        await eventually(lambda: "may not list that" in caplog.text)
        await at.until(LOG, "of the file")

        at.handler.forbidden.clear()

        await at.until(LOG, "of the cluster")
        assert caplog.text.count("may not list that") == 1


async def test_a_cluster_that_was_away_is_followed_again(tmp_path: Path) -> None:
    async with story(tmp_path, "Logs") as at:
        at.put("Logs", "web", "default", logs=lines("before"))
        await at.until(LOG, "before")

        at.handler.is_away = True
        at.put("Logs", "web", "default", logs=lines("meanwhile"))
        at.handler.is_away = False

        await at.until(LOG, "meanwhile")


async def test_a_kind_that_is_not_served_yet_is_waited_for(tmp_path: Path) -> None:
    async with story(tmp_path, "Logs", serves=()) as at:
        await at.until("GET /readyz HTTP/1.1", "ok")
        at.put("Logs", "web", "default", logs=lines("later"))
        await at.until(LOG, "of the file")

        at.handler.served.append(KINDS["Logs"])

        await at.until(LOG, "later")


async def test_a_counter_follows_a_resource_usage_from_the_moment_at_which_it_comes(
    tmp_path: Path,
) -> None:
    async def used(at: KubeletStory) -> float:
        answer = await at.ask(USAGE)
        [line] = [each for each in answer.splitlines() if each.startswith("pod_cpu_usage")]
        return float(line.split(" ")[1])

    async with story(tmp_path, "ResourceUsage") as at:
        usage = {"cpu": {"value": "2"}}
        before = await used(at)
        at.now[0] += 10

        at.put("ResourceUsage", "web", "default", usages=[{"usage": usage}])
        await answered(lambda: at.ask("GET /stats/nodes/a/summary HTTP/1.1"), ":2000000000")
        assert await used(at) == pytest.approx(before + 0.01, abs=1e-6)
        at.now[0] += 10
        assert await used(at) == pytest.approx(before + 20.01, abs=1e-6)

        at.remove("ResourceUsage", "web", "default")
        await answered(lambda: at.ask("GET /stats/nodes/a/summary HTTP/1.1"), ":1000000,")
        at.now[0] += 10
        assert await used(at) == pytest.approx(before + 20.02, abs=1e-6)


async def test_the_paths_of_metrics_come_and_go(tmp_path: Path) -> None:
    own = "GET /metrics/nodes/a/own HTTP/1.1"
    metric = {"name": "own_total", "kind": "counter", "value": "1.0 + 1.0"}
    async with story(tmp_path, "Metric") as at:
        assert await at.status(own) == 404

        at.put("Metric", "own", path="/metrics/nodes/{nodeName}/own", metrics=[metric])
        await at.until(own, "own_total 2.0")
        at.put(
            "Metric", "metrics-resource",
            path="/metrics/nodes/{nodeName}/metrics/resource", metrics=[metric],
        )  # fmt: skip
        await at.until(USAGE, "own_total 2.0")
        assert "pod_cpu" not in await at.ask(USAGE)

        at.remove("Metric", "own")
        at.remove("Metric", "metrics-resource")
        await at.until(own, "404 Not Found")
        await at.until(USAGE, "pod_cpu_usage_seconds_total")


async def test_commands_are_allowed_while_there_is_an_exec(tmp_path: Path) -> None:
    line = "POST /exec/default/web/c?command=true&output=1 HTTP/1.1"
    async with story(tmp_path, "Exec") as at:
        await at.until(line, "no document of kind Exec or ClusterExec")

        at.put("Exec", "web", "default", execs=[{"local": {}}])

        # There is one now: the request is refused for another reason, because it is no upgrade.
        while "no document of kind Exec" in await at.ask(line):
            await asyncio.sleep(0)
        at.remove("Exec", "web", "default")
        await at.until(line, "no document of kind Exec")

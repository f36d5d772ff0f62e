import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.state.cluster_stages import stages_in_force
from kwokctl.controller.run import main, serve
from kwokctl.controller.settings import read_settings
from kwokctl.errors import UnavailableError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import LEASES, NAMESPACES, NODES, PODS, Resource
from kwokctl.progress import Silent
from tests.support.cluster_server import ClusterServer
from tests.support.eventually import eventually
from tests.support.fake_api_server import FakeApiServer, serving
from tests.support.fake_cluster import FakeCluster
from tests.support.options import cluster_options
from tests.support.ports import free_port

NAMESPACE_STAGE = """
kind: Stage
metadata: {name: tell}
spec:
  resourceRef: {kind: Namespace}
  selector: {}
  steps: [{patch: {root: metadata, template: 'labels: {seen: "yes"}'}}]
---
kind: Stage
metadata: {name: never}
spec:
  resourceRef: {apiGroup: example.com/v1, kind: Widget}
  selector: {}
  steps: [{delete: true}]
"""


class Story:
    """A controller at work on a cluster that is served over HTTP."""

    def __init__(
        self, server: FakeApiServer, handler: ClusterServer, port: int, token: Path
    ) -> None:
        self.server = server
        self.handler = handler
        self.cluster = handler.cluster
        self.port = port
        self.token = token

    def phase(self, name: str) -> str:
        return str(self.cluster.object(PODS, name, "ns")["status"]["phase"])

    def node(self, name: str) -> None:
        self.cluster.put(NODES, {"metadata": {"name": name}, "spec": {}, "status": {}})

    def pod(self, name: str, on: str) -> None:
        spec = {"nodeName": on, "containers": [{"name": "c", "image": "i"}]}
        body: dict[str, Any] = {
            "metadata": {"name": name, "namespace": "ns"},
            "spec": spec,
            "status": {"phase": "Pending"},
        }
        self.cluster.put(PODS, body)

    async def ask(self, path: str) -> str:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except ConnectionError:
            return ""
        shown = f"Authorization: Bearer {self.token.read_text().strip()}"
        writer.write(f"GET {path} HTTP/1.1\r\n{shown}\r\nConnection: close\r\n\r\n".encode())
        answer = (await reader.read()).decode()
        writer.close()
        await writer.wait_closed()
        return answer.partition("\r\n\r\n")[2]


async def until(holds: Callable[[], object]) -> None:
    await eventually(holds)


@asynccontextmanager
async def story(
    folder: Path,
    *flags: str,
    extra: str = "",
    away: bool = False,
    serves: Sequence[Resource] = (),
) -> AsyncIterator[Story]:
    path = folder / "stages.yaml"
    path.write_text(
        "\n---\n".join([*map(json.dumps, stages_in_force(cluster_options(), ()).documents), extra])
    )
    handler = ClusterServer(FakeCluster(NODES, PODS, LEASES), *serves)
    handler.is_away = away
    port = free_port()
    settings = read_settings(
        [
            f"--config={path}",
            "--manage-all-nodes",
            "--node-ip=192.0.2.9",
            f"--server-address=127.0.0.1:{port}",
            f"--server-token-file={folder / 'token'}",
            "--node-lease-duration-seconds=40",
            *flags,
        ],
        Silent(),
    )
    async with serving(handler) as server, asyncio.TaskGroup() as tasks:
        task = tasks.create_task(serve(settings, Access(server=server.url), "me_1"))
        try:
            yield Story(server, handler, port, folder / "token")
        finally:
            task.cancel()


async def test_nodes_become_ready_and_pods_run_over_http(tmp_path: Path) -> None:
    async with story(tmp_path) as at:
        at.node("before")
        at.pod("early", "before")
        await until(lambda: at.phase("early") == "Running")
        at.node("later")
        at.pod("late", "later")
        await until(lambda: at.phase("late") == "Running")

        assert at.cluster.object(NODES, "later")["status"]["phase"] == "Running"
        lease = at.cluster.object(LEASES, "later", "kube-node-lease")
        assert lease["spec"]["holderIdentity"] == "me_1"
        assert await at.ask("/healthz") == "ok"
        assert await at.ask("/readyz") == "ok"
        assert 'plays_total{stage="pod-ready",outcome="ok"} 2' in await at.ask("/metrics")


async def test_a_cluster_that_is_away_at_first_is_waited_for(tmp_path: Path) -> None:
    async with story(tmp_path, away=True) as at:
        at.node("n")
        at.pod("p", "n")
        await until(lambda: len(at.server.requests) > 2)
        assert await at.ask("/healthz") == "ok"
        assert await at.ask("/readyz") == "not synced"

        at.handler.is_away = False
        await until(lambda: at.phase("p") == "Running")


async def test_an_unreachable_cluster_is_followed_again_when_it_returns(tmp_path: Path) -> None:
    async with story(tmp_path) as at:
        at.node("n")
        at.pod("one", "n")
        await until(lambda: at.phase("one") == "Running")
        at.handler.is_away = True
        at.server.abort()
        at.pod("two", "n")
        await until(lambda: len(at.server.requests) > 10)
        at.handler.is_away = False

        await until(lambda: at.phase("two") == "Running")


async def test_other_kinds_are_played_and_one_that_is_not_served_does_not_delay_readiness(
    tmp_path: Path,
) -> None:
    async with story(tmp_path, extra=NAMESPACE_STAGE) as at:
        at.cluster.put(NAMESPACES, {"metadata": {"name": "ns"}})
        await until(
            lambda: at.cluster.object(NAMESPACES, "ns")["metadata"].get("labels") == {"seen": "yes"}
        )
        ready = ""
        while ready != "ok":
            ready = await at.ask("/readyz")


async def test_it_ends_at_once_on_a_signal(tmp_path: Path) -> None:
    async with story(tmp_path) as at:
        at.node("n")
        at.pod("p", "n")
        await until(lambda: at.phase("p") == "Running")
        began = time.monotonic()

    assert time.monotonic() - began < 5


async def test_a_controller_that_shares_nodes_answers_at_a_free_port_if_its_own_is_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with story(tmp_path) as first:
        await until(lambda: first.server.requests)
        taken = f"--server-address=127.0.0.1:{first.port}"
        (tmp_path / "second").mkdir()
        with caplog.at_level(logging.WARNING, logger="kwokctl"):
            async with story(tmp_path / "second", taken) as second:
                await until(lambda: "is taken: health and metrics are at port" in caplog.text)
                second.port = int(
                    re.findall(r"health and metrics are at port (\d+)", caplog.text)[0]
                )
                assert await second.ask("/healthz") == "ok"


async def test_a_controller_with_a_fixed_name_needs_its_own_port(tmp_path: Path) -> None:
    async with story(tmp_path) as first:
        await until(lambda: first.server.requests)
        (tmp_path / "second").mkdir()
        flags = (f"--server-address=127.0.0.1:{first.port}", "--holder-identity=me")
        with pytest.RaisesGroup(pytest.RaisesExc(UnavailableError, match="cannot serve on")):
            async with story(tmp_path / "second", *flags) as second:
                await until(lambda: second.server.requests)


async def test_a_controller_that_ends_says_so_in_its_own_lease(tmp_path: Path) -> None:
    async with story(tmp_path) as at:
        at.node("n")
        at.pod("p", "n")
        await until(lambda: at.phase("p") == "Running")

    lease = at.cluster.object(LEASES, "kwokctl-member-me-1", "kube-node-lease")
    assert lease["spec"]["holderIdentity"] == "me_1"
    assert lease["metadata"]["annotations"]["kwokctl.dev/leaving"] == "true"


def test_wrong_arguments_are_errors_with_a_hint(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    handlers = list(logging.getLogger().handlers)
    try:
        assert main(["--manage-all-nodes", "--kubeconfig=/nowhere"]) == 1
        assert main(["--no-such-flag"]) == 2
    finally:
        logging.getLogger().handlers[:] = handlers

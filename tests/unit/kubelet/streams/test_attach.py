""""""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from kwokctl.kubelet.fleet.views import ContainerView
from tests.support.stream_peers import (
    SpdyPeer,
    WebSocketPeer,
    asking,
    exec_path,
    spdy_headers,
    status,
    websocket_headers,
)
from tests.support.stream_server import Pods, serving

STDOUT, STDERR, ERROR = 1, 2, 3


@asynccontextmanager
async def attached(
    log: Path, *names: str, tty: bool = False, pods: Pods | None = None
) -> AsyncIterator[WebSocketPeer]:
    document = f"""
kind: Attach
metadata: {{name: web}}
spec: {{attaches: [{{containers: [main], logsFile: {log}}}]}}
"""
    path = exec_path((), *names, tty=tty, verb="attach")
    async with (
        serving(document, pods) as port,
        asking(port, path, websocket_headers("v5.channel.k8s.io")) as wire,
    ):
        assert wire.status == 101, wire.body
        yield WebSocketPeer(wire)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "main.log"
    file.write_text("2026-01-01T00:00:00Z stdout F before\n")
    return file


def write(log: Path, *lines: str) -> None:
    with log.open("a") as file:
        file.writelines(f"2026-01-01T00:00:01Z {line}\n" for line in lines)


async def _goes_on(peer: WebSocketPeer, log: Path) -> None:
    """Write until the client sees something: it does not say from where it follows."""
    async with asyncio.timeout(60):
        while not peer.received.get(STDOUT):
            write(log, "stdout F wait")
            # What was written before it follows is not seen, and no answer comes.
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await peer.more()


async def test_what_is_written_from_now_on_is_seen(log: Path) -> None:
    async with attached(log, "stdout", "stderr") as peer:
        await _goes_on(peer, log)
        write(log, "stdout F one", "stderr F two", "stdout P thr", "stdout F ee")
        await peer.until(STDOUT, b"three\n")
        await peer.until(STDERR, b"two\n")

    assert b"before" not in peer.received[STDOUT]
    assert peer.received[STDOUT].endswith(b"wait\none\nthree\n")
    assert peer.received[STDERR] == b"two\n"


async def test_a_terminal_shows_both_streams(log: Path) -> None:
    async with attached(log, "stdin", "stdout", tty=True) as peer:
        await _goes_on(peer, log)
        write(log, "stderr F err")
        await peer.until(STDOUT, b"wait\r\nerr\r\n")


async def test_what_the_client_sends_holds_nothing_up(log: Path) -> None:
    async with attached(log, "stdin", "stdout") as peer:
        for _ in range(20):
            await peer.send(bytes(100_000))
        await _goes_on(peer, log)


@pytest.mark.parametrize(
    "after",
    [
        ContainerView(name="main", finished_at=1.0),
        ContainerView(name="main", is_running=True, restarts=1),
        ContainerView(name="other"),
    ],
    ids=["ended", "started again", "gone"],
)
async def test_attach_ends_when_the_container_has(log: Path, after: ContainerView) -> None:
    pods = Pods()
    async with attached(log, "stdout", pods=pods) as peer:
        await _goes_on(peer, log)
        pods.web = msgspec.structs.replace(pods.web, containers=(after,))
        await peer.until_closed()

    assert status(peer.received[ERROR])["status"] == "Success"


@pytest.mark.parametrize("container", ["main", "side"])
async def test_without_a_file_it_is_refused(tmp_path: Path, container: str) -> None:
    document = f"""
kind: ClusterAttach
metadata: {{name: all}}
spec: {{attaches: [{{containers: [main], logsFile: {tmp_path / "none"}}}]}}
"""
    path = f"/attach/default/web/{container}?output=1"
    async with (
        serving(document) as port,
        asking(port, path, spdy_headers("v4.channel.k8s.io"), "POST") as wire,
    ):
        assert wire.status == 400
        assert ("cannot be read" if container == "main" else "'side'") in wire.body


async def test_an_entry_without_a_file_is_refused_when_it_is_used() -> None:
    document = """
kind: ClusterAttach
metadata: {name: any}
spec: {attaches: [{}]}
"""
    path = exec_path((), "stdout", verb="attach")
    async with (
        serving(document) as port,
        asking(port, path, spdy_headers("v4.channel.k8s.io"), "POST") as wire,
    ):
        assert wire.status == 400
        assert "the entry of 'attaches' for container 'main'" in wire.body
        assert "has no 'logsFile'" in wire.body


async def test_attach_speaks_spdy(log: Path) -> None:
    document = f"""
kind: ClusterAttach
metadata: {{name: all}}
spec: {{selector: {{matchNames: [web]}}, attaches: [{{logsFile: {log}}}]}}
"""
    path = exec_path((), "stdout", verb="attach")
    async with (
        serving(document) as port,
        asking(port, path, spdy_headers("v4.channel.k8s.io"), "POST") as wire,
    ):
        peer = SpdyPeer(wire)
        await peer.open(streamtype="error")
        stdout = await peer.open(streamtype="stdout")
        while not peer.received.get(stdout):
            write(log, "stdout F wait")
            await peer.more()

    assert peer.received[stdout].startswith(b"wait\n")

"""What is said of components that do not come up."""

import asyncio
import gc

import pytest

from kwokctl.clusters.launching.readiness import explaining_timeouts, wait_ready
from kwokctl.errors import ComponentError, TimedOutError
from kwokctl.model import (
    ETCD,
    Artifact,
    ClusterName,
    Component,
    HttpProbe,
    Limits,
    State,
)
from kwokctl.replacing import replace
from kwokctl.waits import STARTING, Standstill
from tests.support.fake_runtime import FakeRuntime

CLUSTER = ClusterName("main")
LIMITED = Component(
    name=ETCD,
    artifact=Artifact(name=ETCD, version="3.6.16"),
    limits=Limits(memory=96 << 20),
    ready=(HttpProbe(url="http://127.0.0.1:1/health"),),
)


async def test_the_memory_limit_of_a_component_that_has_exited_is_named() -> None:
    runtime = FakeRuntime(found={ETCD: State.STOPPED})

    with pytest.raises(ComponentError, match=r"'etcd' \(limited to 96Mi of memory\) has exited"):
        await wait_ready(runtime, CLUSTER, [LIMITED])


@pytest.mark.parametrize("state", [State.RUNNING, State.STOPPED])
async def test_a_component_without_a_probe_is_ready_while_it_runs(state: State) -> None:
    runtime = FakeRuntime(found={ETCD: state})
    waiting = wait_ready(runtime, CLUSTER, [replace(LIMITED, ready=())])

    if state is State.RUNNING:
        await waiting
        return
    with pytest.raises(ComponentError, match="has exited"):
        await waiting


async def test_the_memory_limit_of_a_component_that_is_late_is_named() -> None:
    runtime = FakeRuntime(found={ETCD: State.RUNNING})

    with pytest.raises(TimedOutError, match=r"'etcd' \(limited to 96Mi of memory\) is not ready"):
        async with explaining_timeouts(runtime, CLUSTER, [LIMITED], 0.05):
            await wait_ready(runtime, CLUSTER, [LIMITED])


async def test_a_full_disk_is_given_as_the_reason_of_an_exit() -> None:
    runtime = FakeRuntime(found={ETCD: State.STOPPED}, log=b"panic: no space left on device\n")

    with pytest.raises(ComponentError) as failed:
        await wait_ready(runtime, CLUSTER, [LIMITED])

    assert "has exited: the disk is full" in str(failed.value)
    assert failed.value.hint
    assert failed.value.hint.startswith("free space there")
    assert failed.value.hint.endswith("its whole log: kwokctl --name main logs etcd")


async def test_the_components_are_looked_at_while_a_probe_has_no_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An API server without its etcd keeps a request waiting."""

    async def keep_waiting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        runtime.found[ETCD] = State.STOPPED
        await reader.read()
        writer.close()
        is_over.set()

    is_over = asyncio.Event()
    runtime = FakeRuntime(found={ETCD: State.RUNNING}, log=b"listen: too many open files\n")
    async with await asyncio.start_server(keep_waiting, "127.0.0.1", 0) as server:
        probe = HttpProbe(url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/livez")
        with pytest.raises(ComponentError, match="its limit of open files is too low"):
            async with asyncio.timeout(STARTING / 2):
                await wait_ready(runtime, CLUSTER, [replace(LIMITED, ready=(probe,))])
        await is_over.wait()
    gc.collect()
    assert "never retrieved" not in caplog.text, "asyncio reports a probe that was called off"


async def test_a_component_that_becomes_ready_moves() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        writer.close()

    moves: list[None] = []
    runtime = FakeRuntime(found={ETCD: State.RUNNING})
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        probe = HttpProbe(url=f"http://127.0.0.1:{port}/health")

        await wait_ready(
            runtime, CLUSTER, [replace(LIMITED, ready=(probe,))], lambda: moves.append(None)
        )

    assert len(moves) == 1


async def test_components_that_stand_still_are_named() -> None:
    runtime = FakeRuntime(found={ETCD: State.RUNNING})
    limit = Standstill(0.05)

    with pytest.raises(TimedOutError, match=r"is not ready after 0.05 s without progress"):
        async with explaining_timeouts(runtime, CLUSTER, [LIMITED], limit) as moved:
            await wait_ready(runtime, CLUSTER, [LIMITED], moved)

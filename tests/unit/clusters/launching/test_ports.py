import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kwokctl.clusters.launching.launch import bring_up
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ComponentError, ConflictError
from kwokctl.host.paths import WorkDir
from kwokctl.host.ports import HeldPorts
from kwokctl.model import Artifact, ClusterName, Component, ComponentName, Plan, Port
from tests.support.fake_runtime import BringingRuntime, FakeRuntime

LOCAL = "127.0.0.1"
A, B = ComponentName("a"), ComponentName("b")


class PublishingRuntime(BringingRuntime):
    """Has all ports in use for its components."""

    async def published(self, cluster: ClusterName) -> list[ComponentName]:
        return [A, B]


@pytest.fixture
def held() -> Iterator[HeldPorts]:
    with HeldPorts(taken=(), address=LOCAL) as held:
        yield held


@contextmanager
def listening(port: int) -> Iterator[None]:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((LOCAL, port))
        server.listen()
        yield


def plan(port: int) -> Plan:
    """Two components of which the second, with a port, comes after the first."""
    artifact = Artifact(name="p", version="v0", command=("/bin/true",))
    first = Component(name=A, artifact=artifact)
    ports = (Port(name="http", port=port, host_port=port),)
    second = Component(name=B, artifact=artifact, ports=ports, after=frozenset({A}))
    return Plan(cluster=ClusterName("c"), components={A: first, B: second})


async def start(runtime: FakeRuntime, port: int, held: HeldPorts) -> None:
    home = Home(workdir=WorkDir(Path("/nowhere")), cache=Path("/nowhere"))
    await bring_up(home, runtime, plan(port), held)


async def test_a_port_taken_by_another_process_is_reported_before_anything_starts(
    held: HeldPorts,
) -> None:
    runtime, port = FakeRuntime(), held.hold(B)

    with listening(port), pytest.raises(ConflictError, match=f"port {port}, wanted for 'b'"):
        await start(runtime, port, held)

    assert runtime.asked == []


async def test_a_port_that_the_runtime_itself_publishes_is_no_conflict(
    held: HeldPorts,
) -> None:
    runtime, port = PublishingRuntime(), held.hold(B)

    with listening(port):
        await start(runtime, port, held)

    assert runtime.asked == ["start a", "start b"]


async def test_a_component_that_exited_is_reported_with_its_log_and_the_taken_port(
    held: HeldPorts,
) -> None:
    died = ComponentError("'b' has exited", detail="bind: address already in use")
    runtime, port = FakeRuntime(fails_at={"start": died}), held.hold(B)
    held.release(B)

    with listening(port), pytest.raises(ConflictError, match=f"port {port}") as caught:
        await start(runtime, port, held)

    assert caught.value.detail == died.detail


async def test_an_exit_for_another_reason_is_reported_unchanged(held: HeldPorts) -> None:
    died = ComponentError("'b' has exited")
    runtime, port = FakeRuntime(fails_at={"start": died}), held.hold(B)

    with pytest.raises(ComponentError, match="has exited"):
        await start(runtime, port, held)

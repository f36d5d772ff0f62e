"""In which order components are started."""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwokctl.clusters.launching.launch import Patience, bring_up
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ComponentError
from kwokctl.host.paths import WorkDir
from kwokctl.host.ports import HeldPorts
from kwokctl.model import (
    Artifact,
    ClusterName,
    Component,
    ComponentName,
    HttpProbe,
    Plan,
    Port,
    State,
)
from tests.support.fake_api_server import FakeApiServer, Reply, Request, serving
from tests.support.fake_runtime import FakeRuntime

SERVER, EARLY, LATE = map(ComponentName, ("server", "early", "late"))
WHOLE = {SERVER: State.RUNNING, EARLY: State.RUNNING, LATE: State.RUNNING}


class Server:
    """Answers before it is ready; it is ready once what is waited for has happened."""

    def __init__(self, runtime: FakeRuntime, ready_after: str) -> None:
        self._runtime = runtime
        self._ready_after = ready_after

    async def handle(self, request: Request, reply: Reply) -> None:
        is_ready = self._ready_after in self._runtime.asked
        await reply.send(status=200 if is_ready or request.path == "/ping" else 503)


@asynccontextmanager
async def launched(
    runtime: FakeRuntime, *, ready_after: str, early: bool, found: Mapping[ComponentName, State]
) -> AsyncIterator[FakeApiServer]:
    runtime.found = dict(found)
    async with serving(Server(runtime, ready_after).handle) as server:
        async with asyncio.timeout(60):
            with HeldPorts(taken=(), address="127.0.0.1") as held:
                described = plan(server, held)
                if isinstance(runtime, ListeningRuntime):
                    runtime.port = described.components[EARLY].ports[0].port
                home = Home(workdir=WorkDir(Path("/nowhere")), cache=Path("/nowhere"))
                await bring_up(home, runtime, described, held, Patience(wait=0.0), early=early)
        yield server


def plan(server: FakeApiServer, held: HeldPorts) -> Plan:
    artifact = Artifact(name="p", version="v0", command=("/bin/true",))
    port = held.hold(EARLY)
    after = frozenset({SERVER})
    components = (
        Component(
            name=SERVER,
            artifact=artifact,
            answers=(HttpProbe(url=f"{server.url}/ping"),),
            ready=(HttpProbe(url=f"{server.url}/ready"),),
        ),
        Component(
            name=EARLY,
            artifact=artifact,
            after=after,
            is_early=True,
            ports=(Port(name="http", port=port, host_port=port),),
        ),
        Component(name=LATE, artifact=artifact, after=after),
    )
    return Plan(cluster=ClusterName("c"), components={each.name: each for each in components})


class ListeningRuntime(FakeRuntime):
    """What it starts early listens at its port at once."""

    port = 0

    async def start(self, cluster: ClusterName, *names: ComponentName) -> None:
        await super().start(cluster, *names)
        if names == (EARLY,):
            listening = socket.create_server(("127.0.0.1", self.port))
            self.sockets = [*getattr(self, "sockets", ()), listening]


async def test_the_port_of_what_was_started_early_is_not_taken_by_another_program() -> None:
    runtime = ListeningRuntime()

    async with launched(runtime, ready_after="start early", early=True, found={}):
        assert runtime.found == WHOLE
    [listening] = runtime.sockets
    listening.close()


async def test_what_is_early_starts_before_the_server_is_ready_and_the_rest_after_it() -> None:
    runtime = FakeRuntime()

    async with launched(runtime, ready_after="start early", early=True, found={}):
        assert runtime.asked == ["start server", "start early", "start early late"]
        assert runtime.found == WHOLE


async def test_nothing_is_early_where_what_is_prepared_matters_to_it() -> None:
    runtime = FakeRuntime()

    async with launched(runtime, ready_after="start server", early=False, found={}):
        assert runtime.asked == ["start server", "start early late"]


@pytest.mark.parametrize("late", [State.STOPPED, State.RUNNING])
async def test_what_runs_is_not_waited_with(late: State) -> None:
    runtime, found = FakeRuntime(), {SERVER: State.RUNNING, EARLY: State.RUNNING, LATE: late}

    async with launched(runtime, ready_after="start server", early=True, found=found) as server:
        assert "/ping" not in {request.path for request in server.requests}
        assert runtime.asked == ["start server", "start early late"]


class EndingRuntime(FakeRuntime):
    """Its server runs when it is looked at first, and has ended `times` times when it is waited for."""

    times = 1

    async def start(self, cluster: ClusterName, *names: ComponentName) -> None:
        await super().start(cluster, *names)
        if SERVER in names and self.times:
            self.times -= 1
            self.found[SERVER] = State.STOPPED


async def test_what_was_about_to_end_is_started_again() -> None:
    runtime = EndingRuntime()

    async with launched(runtime, ready_after="start server", early=False, found=WHOLE):
        assert runtime.asked == ["start server", "start server", "start early late"]


async def test_what_ends_again_is_an_error() -> None:
    runtime = EndingRuntime()
    runtime.times = 2

    with pytest.raises(ComponentError, match="'server' has exited"):
        async with launched(runtime, ready_after="start server", early=False, found=WHOLE):
            pass
    assert runtime.asked == ["start server", "start server"]

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.clusters.inspection.forwarding import forwarding
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.errors import ComponentError, NotFoundError, UsageError
from kwokctl.model import ClusterName, ComponentName
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")


class Reaching(FakeRuntime):
    """Reaches every port of its components."""

    async def host_of(self, cluster: ClusterName, name: ComponentName) -> str:
        return "127.0.0.1"


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """Listen on a port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def home(folder: Path, port: int, runtime: FakeRuntime) -> Home:
    options = cluster_options(runtime="fake", etcd_port=port)
    return home_with(folder, NAME, options, runtime)


@pytest.mark.parametrize("by_name", [True, False])
async def test_a_port_is_forwarded_by_name_and_by_number(
    tmp_path: Path, server: socket.socket, by_name: bool
) -> None:
    number = server.getsockname()[1]
    remote = "https" if by_name else str(number)
    its = home(tmp_path, number, FakeRuntime())
    async with forwarding(its, NAME, "etcd", local=0, remote=remote) as forwarded:
        server.accept()[0].close()
        assert forwarded.remote == number
        with socket.create_connection(("127.0.0.1", forwarded.local)):
            found, _ = await asyncio.to_thread(server.accept)
            found.close()


async def test_a_port_that_is_not_published_is_reached_where_the_component_runs(
    tmp_path: Path, server: socket.socket
) -> None:
    number = server.getsockname()[1]
    its = home(tmp_path, 1, Reaching())
    async with forwarding(its, NAME, "etcd", local=0, remote=str(number)) as forwarded:
        assert forwarded.remote == number
    with pytest.raises(NotFoundError, match="cannot be reached from this host"):
        async with forwarding(
            home(tmp_path, 1, FakeRuntime()), NAME, "etcd", local=0, remote=str(number)
        ):
            pass


@pytest.mark.parametrize(
    ("component", "remote", "error", "words"),
    [
        ("etdc", "https", NotFoundError, "has no component called 'etdc'"),
        ("etcd", "peer-http", NotFoundError, "'etcd' has no port called 'peer-http'"),
        ("etcd", "70000", UsageError, "'70000' is not a port"),
        ("etcd", "https", ComponentError, "does not listen at 127.0.0.1:"),
    ],
)
async def test_what_cannot_be_forwarded_is_an_error_before_a_port_is_opened(
    tmp_path: Path, component: str, remote: str, error: type[Exception], words: str
) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        its = home(tmp_path, held.getsockname()[1], FakeRuntime())
        with pytest.raises(error, match=words):
            async with forwarding(its, NAME, component, local=0, remote=remote):
                pass

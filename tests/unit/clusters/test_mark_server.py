"""Programs in any language mark and rewind a cluster at a unix socket; only its owner's."""

import asyncio
import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.mark_server import MarkRequests, MarkServer, serving_marks
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.errors import ConflictError, NotFoundError, UnavailableError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return home_with(tmp_path, NAME, cluster_options(), FakeRuntime())


async def _asked(path: Path, method: str, what: str, body: str = "") -> tuple[int, Any]:
    async with Pool(Access(server="http://localhost"), socket=path) as pool:
        response = await pool.request(method, what, body=body.encode())
    return response.status, json.loads(response.body)


async def test_a_program_learns_which_cluster_it_is_and_how_to_reach_it(home: Home) -> None:
    async with serving_marks(home, NAME) as path:
        assert path == home.paths(NAME).marks_socket
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert await _asked(path, "GET", "/") == (
            200,
            {"cluster": "dev", "kubeconfig": str(home.paths(NAME).kubeconfig)},
        )
        assert await _asked(path, "GET", "/marks") == (200, [])
    assert not path.exists()


@pytest.mark.parametrize(
    ("what", "body", "status", "kind", "message"),
    [
        ("/mark", "", 503, "component-failed", "etcd does not run"),
        ("/mark", '{"name": "A B"}', 400, "usage", "'A B' cannot be the name of a mark"),
        ("/mark", '{"nmae": "a"}', 400, "usage", "the request is not understood"),
        ("/rewind", "{", 400, "usage", "the request is not understood"),
        ("/mark", '{"a":' * 5_000, 400, "usage", "the request is not understood"),
        ("/rewind", "{}", 503, "component-failed", "etcd does not run"),
        ("/drop", "{}", 400, "usage", "'drop' needs either 'name' or 'all'"),
        ("/drop", '{"name": "a"}', 404, "not-found", "the cluster 'dev' has no mark"),
    ],
)
async def test_what_cannot_be_done_is_answered_with_an_error(
    home: Home, what: str, body: str, status: int, kind: str, message: str
) -> None:
    async with serving_marks(home, NAME) as path:
        answered, document = await _asked(path, "POST", what, body)

    assert (answered, document["error"]["id"]) == (status, kind)
    assert document["error"]["message"].startswith(message)


async def test_a_socket_that_was_left_behind_is_replaced(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    async with serving_marks(home, NAME, path):
        assert (await _asked(path, "GET", "/"))[0] == 200
        with pytest.raises(ConflictError, match="is served already"):
            async with serving_marks(home, NAME, path):
                pass
        assert (await _asked(path, "GET", "/marks"))[0] == 200


async def test_a_file_is_not_replaced_by_a_socket(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("of the user")
    with pytest.raises(ConflictError, match="exists, and is not a socket"):
        async with serving_marks(home, NAME, file):
            pass
    assert file.read_text() == "of the user"
    with pytest.raises(UnavailableError, match="path too long"):
        async with serving_marks(home, NAME, tmp_path / ("a" * 200)):
            pass


async def test_a_cluster_that_there_is_not_is_not_served(home: Home) -> None:
    with pytest.raises(NotFoundError, match="no cluster called 'other'"):
        async with serving_marks(home, cluster_name("other")):
            pass


async def test_another_user_is_not_answered(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "s"
    server = MarkServer(MarkRequests(home, NAME), user=os.geteuid() + 1)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        listening.setblocking(False)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(server.run(listening))
            reader, writer = await asyncio.open_unix_connection(path)
            assert await reader.read() == b""
            writer.close()
            running.cancel()

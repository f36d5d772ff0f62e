"""Tests ask an API server on a connection that stays, and on another one when it has been closed."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import asking
from tests.support.fake_api_server import FakeApiServer, Reply, Request, serving

_NODES = {
    "resource": "nodes",
    "singularResource": "node",
    "scope": "Cluster",
    "responseKind": {"group": "", "version": "v1", "kind": "Node"},
}
_GROUPS = {
    "/api": {"items": [{"metadata": {}, "versions": [{"version": "v1", "resources": [_NODES]}]}]}
}


async def _answer(request: Request, reply: Reply) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": request.path}}
    if request.method == "POST":
        is_whole = json.loads(request.body)["metadata"]["name"] == "whole"
        await reply.json(json.loads(request.body), status=201 if is_whole else 422)
    else:
        await reply.json(_GROUPS.get(request.path, node))


async def _asked(folder: Path, server: FakeApiServer, name: str) -> Any:
    """Ask a server for a node, and return its name."""
    kubeconfig = _kubeconfig(folder, server)
    return (await asyncio.to_thread(asking.found, kubeconfig, "nodes", name))["metadata"]["name"]


def _kubeconfig(folder: Path, server: FakeApiServer) -> Path:
    kubeconfig = folder / "kubeconfig"
    cluster = {"name": "c", "cluster": {"server": server.url}}
    context = {"name": "x", "context": {"cluster": "c", "user": ""}}
    content = {
        "kind": "Config",
        "current-context": "x",
        "clusters": [cluster],
        "contexts": [context],
    }
    kubeconfig.write_text(json.dumps(content))
    return kubeconfig


async def test_one_connection_is_used_again(tmp_path: Path) -> None:
    async with serving(_answer) as server:
        for name in ("a", "b", "c"):
            assert await _asked(tmp_path, server, name) == f"/api/v1/nodes/{name}"

    assert server.connections == 1


@pytest.mark.parametrize("closed", [FakeApiServer.drop_all, FakeApiServer.abort])
async def test_a_connection_that_was_closed_is_made_again(
    closed: Callable[[FakeApiServer], None], tmp_path: Path
) -> None:
    async with serving(_answer) as server:
        await _asked(tmp_path, server, "a")
        closed(server)
        assert await _asked(tmp_path, server, "b") == "/api/v1/nodes/b"

    assert server.connections == 2


async def test_another_server_in_the_same_file_is_asked_itself(tmp_path: Path) -> None:
    async with serving(_answer) as first, serving(_answer) as second:
        await _asked(tmp_path, first, "a")
        await _asked(tmp_path, second, "b")

    assert (first.connections, second.connections) == (1, 1)


async def test_an_object_is_created_or_its_error_is_raised(tmp_path: Path) -> None:
    async with serving(_answer) as server:
        kubeconfig = _kubeconfig(tmp_path, server)
        for name in ("whole", "bad"):
            body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
            creating = asyncio.to_thread(asking.create, kubeconfig, body)
            if name == "whole":
                await creating
                continue
            with pytest.raises(AssertionError, match=r"POST /api/v1/nodes.*bad"):
                await creating

    posted = [each for each in server.requests if each.method == "POST"]
    assert [json.loads(each.body)["metadata"]["name"] for each in posted] == ["whole", "bad"]
    assert {(each.path, each.query["fieldValidation"]) for each in posted} == {
        ("/api/v1/nodes", "Strict")
    }

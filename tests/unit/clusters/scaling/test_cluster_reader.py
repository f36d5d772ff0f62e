""""""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from kwokctl.clusters.scaling.cluster_reader import (
    Change,
    ClusterApiReader,
    Existing,
    members_of,
    others_than,
)
from kwokctl.clusters.scaling.ready_objects import Verdict, judge_of
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import NODES, PODS
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import FakeApiServer, Handler, Reply, Request, serving
from tests.support.watches import forever


def stored(name: str, **metadata: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "resourceVersion": "7",
            **metadata,
        }
    }


@asynccontextmanager
async def reading(handle: Handler) -> AsyncIterator[tuple[ClusterApiReader, FakeApiServer]]:
    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        yield ClusterApiReader(Client(pool)), server


async def test_objects_are_listed_page_by_page_without_spec_and_status() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if request.query.get("continue") != "more":
            first = stored("a", labels={"kwok.x-k8s.io/kwokctl-scale": "web"})
            await reply.json({"metadata": {"continue": "more"}, "items": [first]})
        else:
            gone = stored("b", deletionTimestamp="2026-01-01T00:00:01Z", finalizers=["x"])
            await reply.json({"metadata": {}, "items": [gone]})

    async with reading(handle) as (reader, server):
        found = [known async for known in reader.select(PODS, "load", members_of("web"))]

    assert found == [
        Existing(
            name="a",
            uid="uid-a",
            created="2026-01-01T00:00:00Z",
            set_name="web",
            is_going=False,
            version="7",
        ),
        Existing(
            name="b",
            uid="uid-b",
            created="2026-01-01T00:00:00Z",
            set_name=None,
            is_going=True,
            version="7",
            is_held=True,
        ),
    ]
    request = server.requests[0]
    assert request.path == "/api/v1/namespaces/load/pods"
    assert request.query["labelSelector"] == "kwok.x-k8s.io/kwokctl-scale=web"
    assert "as=PartialObjectMetadataList" in request.headers["accept"]


def test_there_is_a_selector_for_everything_else() -> None:
    assert others_than("web") == "kwok.x-k8s.io/kwokctl-scale!=web"


async def test_one_object_is_read_without_spec_and_status() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.json(stored("n"))

    async with reading(handle) as (reader, server):
        known = await reader.get(ObjectKey(NODES, None, "n"))

    assert known is not None
    assert (known.name, known.set_name) == ("n", None)
    assert server.requests[0].path == "/api/v1/nodes/n"
    assert "as=PartialObjectMetadata;" in server.requests[0].headers["accept"]


async def test_an_object_that_does_not_exist_is_none() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.refuse(404, "NotFound", "not there")

    async with reading(handle) as (reader, _):
        assert await reader.get(ObjectKey(NODES, None, "n")) is None


async def test_another_refusal_is_raised() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.refuse(403, "Forbidden", "not for you")

    async with reading(handle) as (reader, _):
        with pytest.raises(ApiError, match="not for you"):
            await reader.get(ObjectKey(NODES, None, "n"))


async def test_a_kind_is_found_in_the_cluster() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.json({"resources": [{"name": "things", "kind": "Thing", "namespaced": True}]})

    async with reading(handle) as (reader, _):
        resource = await reader.resolve("x.io/v1", "Thing")

    assert resource.path("a") == "/apis/x.io/v1/namespaces/a/things"


async def test_a_watch_delivers_existing_objects_and_changes() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if "watch" not in request.query:
            page = {"metadata": {"resourceVersion": "7"}, "items": [stored("a")]}
            await reply.json(page)
            return
        await reply.begin()
        await reply.event("MODIFIED", {**stored("a"), "status": {"phase": "Running"}})
        await reply.event("DELETED", stored("a"))

    seen: list[Change] = []
    async with reading(handle) as (reader, server):
        changes: Any = reader.watch(PODS, "load", members_of("web"), judge_of("Pod"))
        async with aclosing(changes):
            async for batch in changes:
                seen.extend(batch)
                if len(seen) == 3:
                    break

    assert seen == [
        Change(True, Verdict("a", "is Pending")),
        Change(True, Verdict("a", None)),
        Change(False, Verdict("a", "is Pending")),
    ]
    assert {request.query["labelSelector"] for request in server.requests} == {members_of("web")}


async def test_a_list_that_was_begun_again_is_whole_though_objects_have_vanished() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if "watch" in request.query:
            await reply.begin()
            await forever()
        elif "continue" in request.query:
            await reply.refuse(410, "Expired", "the continue token is too old")
        elif len(server.requests) == 1:
            metadata = {"resourceVersion": "7", "continue": "more"}
            await reply.json({"metadata": metadata, "items": [stored("a"), stored("b")]})
        else:
            await reply.json({"metadata": {"resourceVersion": "9"}, "items": [stored("a")]})

    seen: list[list[str]] = []
    async with asyncio.timeout(20), reading(handle) as (reader, server):
        changes: Any = reader.watch(PODS, "load", members_of("web"), judge_of("Pod"))
        async with aclosing(changes):
            async for batch in changes:
                seen.append([f"{each.verdict.name} {each.exists}" for each in batch])
                if not batch:
                    break

    assert seen == [["a True", "b True"], ["a True"], ["b False"], []]

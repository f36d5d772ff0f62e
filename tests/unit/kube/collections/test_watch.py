import asyncio

import msgspec
import pytest

from tests.support.fake_api_server import Reply, Request
from tests.support.watches import forever, is_watch, page, pod, watching


async def test_it_delivers_existing_objects_page_by_page_and_then_changes() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if is_watch(request):
            await reply.begin()
            await reply.event("MODIFIED", pod("a", 11))
            await reply.event("ADDED", pod("c", 12))
            await reply.event("DELETED", pod("a", 13))
            await forever()
        elif "continue" in request.query:
            await reply.json(page(pod("b", 2), version=10))
        else:
            await reply.json(page(pod("a", 1), version=10, more="token"))

    async with watching(handle, namespace="default", label_selector="x=y") as (server, seen):
        assert await seen.next(6) == [
            "ADDED a",
            "ADDED b",
            "SYNCED",
            "MODIFIED a",
            "ADDED c",
            "DELETED a",
        ]
    first, second, followed = server.requests
    assert {r.path for r in server.requests} == {"/api/v1/namespaces/default/pods"}
    assert {r.query["labelSelector"] for r in server.requests} == {"x=y"}
    assert (first.query["limit"], "resourceVersion" in first.query) == ("500", False)
    assert second.query["continue"] == "token"
    assert followed.query["resourceVersion"] == "10"
    assert followed.query["allowWatchBookmarks"] == "true"
    assert 300 <= int(followed.query["timeoutSeconds"]) <= 600


async def test_events_come_with_the_object_s_json() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.json(page(pod("a", 1), version=10))

    async with watching(handle) as (_, seen):
        added, synced = await seen.take(2)
    assert msgspec.json.decode(added.raw) == pod("a", 1)
    assert (synced.object, synced.raw) == (None, b"")


async def test_events_in_quick_succession_are_delivered_together() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if not is_watch(request):
            await reply.json(page(version=10))
            return
        await reply.begin()
        for number in range(60):
            await reply.event("ADDED", pod(f"pod-{number}", 11 + number))
            await asyncio.sleep(0.005)
        await forever()

    async with watching(handle, gather=0.2) as (_, seen):
        assert await seen.next(61) == ["SYNCED", *(f"ADDED pod-{n}" for n in range(60))]

    assert seen.deliveries < 30


async def test_a_watch_that_is_cut_while_events_gather_misses_none() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if not is_watch(request):
            await reply.json(page(version=10))
            return
        version = int(request.query["resourceVersion"])
        await reply.begin()
        for number in range(version + 1, version + 4):
            await reply.event("ADDED", pod(f"pod-{number}", number))
            await asyncio.sleep(0.005)
        reply.close()

    async with watching(handle, gather=0.05) as (_, seen):
        assert await seen.next(16) == ["SYNCED", *(f"ADDED pod-{n}" for n in range(11, 26))]


@pytest.mark.parametrize("size", [1, 3, 7, 50, 1000])
async def test_lines_may_be_cut_anywhere_and_many_come_at_once(size: int) -> None:
    names = [f"pod-{n}" for n in range(20)]
    lines = b"".join(
        msgspec.json.encode({"type": "ADDED", "object": pod(name, 11 + n)}) + b"\n"
        for n, name in enumerate(names)
    )

    async def handle(request: Request, reply: Reply) -> None:
        if not is_watch(request):
            await reply.json(page(version=10))
            return
        await reply.begin()
        for start in range(0, len(lines), size):
            await reply.chunk(lines[start : start + size])
        await forever()

    async with watching(handle) as (_, seen):
        assert await seen.next(21) == ["SYNCED", *(f"ADDED {name}" for name in names)]


async def test_a_very_long_line_is_one_event() -> None:
    large = pod("a", 11) | {"spec": "x" * 3_000_000}

    async def handle(request: Request, reply: Reply) -> None:
        if not is_watch(request):
            await reply.json(page(version=10))
            return
        await reply.begin()
        await reply.event("ADDED", large)
        await forever()

    async with watching(handle) as (_, seen):
        assert await seen.next(2) == ["SYNCED", "ADDED a"]


@pytest.mark.parametrize("is_first", [True, False])
async def test_it_may_end_when_the_collection_is_not_served_any_more(is_first: bool) -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if is_first or is_watch(request):
            await reply.refuse(404, "NotFound", "the server could not find the requested resource")
        else:
            await reply.json(page(pod("a", 1), version=10))

    async with watching(handle, while_served=True) as (_, seen):
        assert await seen.next(0 if is_first else 2) == ([] if is_first else ["ADDED a", "SYNCED"])
        with pytest.raises(StopAsyncIteration):
            await seen.next(1)

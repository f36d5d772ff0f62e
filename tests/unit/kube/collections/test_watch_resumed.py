import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest

from kwokctl.errors import ApiError
from kwokctl.kube.collections.watch import watch
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.watches import (
    Metadata,
    Pod,
    Seen,
    decode,
    forever,
    is_watch,
    page,
    pod,
    text,
    watching,
)


async def test_a_cut_watch_continues_where_it_was() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        match len([r for r in server.requests if is_watch(r)]):
            case 0:
                await reply.json(page(pod("a", 1), version=10))
            case 1:
                await reply.begin()
                await reply.event("MODIFIED", pod("a", 11))
                await reply.chunk(b'{"type":"MODIFIED","object":{"meta')
                reply.close()
            case 2:
                await reply.begin()
                await reply.event("MODIFIED", pod("a", 12))
                await reply.event("BOOKMARK", {"metadata": {"resourceVersion": "20"}})
                await reply.end()
                reply.close()
            case _:
                await reply.begin()
                await reply.event("ADDED", pod("b", 21))
                await forever()

    async with watching(handle) as (server, seen):
        assert await seen.next(5) == [
            "ADDED a",
            "SYNCED",
            "MODIFIED a",
            "MODIFIED a",
            "ADDED b",
        ]
    assert [r.query.get("resourceVersion") for r in server.requests] == [None, "10", "11", "20"]


async def _forget_by_event(reply: Reply) -> None:
    await reply.begin()
    await reply.event("MODIFIED", pod("kept", 11))
    await reply.event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "x"})
    await forever()


async def _forget_by_status(reply: Reply) -> None:
    await reply.refuse(410, "Expired", "too old")


async def _fall_behind(reply: Reply) -> None:
    await reply.refuse(504, "Timeout", "Too large resource version: 10, current: 3")


@pytest.mark.parametrize(
    ("forget", "first"),
    [(_forget_by_event, ["MODIFIED kept"]), (_forget_by_status, []), (_fall_behind, [])],
)
async def test_after_an_expired_version_it_lists_again_and_reports_what_vanished(
    forget: Any, first: Sequence[str]
) -> None:
    async def handle(request: Request, reply: Reply) -> None:
        seen = [is_watch(r) for r in server.requests]
        if not is_watch(request) and True not in seen:
            pods = [pod("gone", 1), pod("kept", 2), pod("renewed", 3, uid="old")]
            await reply.json(page(*pods, version=10))
        elif not is_watch(request):
            pods = [pod("kept", 2), pod("renewed", 15, uid="new"), pod("young", 16)]
            await reply.json(page(*pods, version=20))
        elif seen.count(True) == 1:
            await forget(reply)
        else:
            await reply.begin()
            await forever()

    async with watching(handle) as (server, seen):
        assert await seen.next(4) == ["ADDED gone", "ADDED kept", "ADDED renewed", "SYNCED"]
        assert await seen.next(len(first)) == list(first)
        batches = await seen.take(6)
        assert [text(event) for event in batches] == [
            "ADDED kept",
            "DELETED renewed",
            "ADDED renewed",
            "ADDED young",
            "DELETED gone",
            "SYNCED",
        ]
    vanished = batches[4].object
    assert vanished == Pod(Metadata(name="gone", namespace="default", uid="uid-gone"))
    former = batches[1].object
    assert former is not None
    assert former.metadata.uid == "old"


async def test_what_is_added_and_deleted_by_events_counts_when_it_lists_again() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        match len(server.requests):
            case 1:
                await reply.json(page(pod("a", 1), version=10))
            case 2:
                await reply.begin()
                await reply.event("DELETED", pod("a", 11))
                await reply.event("ADDED", pod("b", 12))
                await reply.event("ERROR", {"code": 410})
                reply.close()
            case _:
                await reply.json(page(version=20))

    async with watching(handle) as (server, seen):
        assert await seen.next(6) == [
            "ADDED a",
            "SYNCED",
            "DELETED a",
            "ADDED b",
            "DELETED b",
            "SYNCED",
        ]


async def test_a_list_that_takes_too_long_begins_again() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if is_watch(request):
            await reply.begin()
            await forever()
        elif "continue" in request.query and len(server.requests) == 2:
            await reply.refuse(410, "Expired", "the continue token is too old")
        elif "continue" in request.query:
            await reply.json(page(pod("b", 2), version=10))
        else:
            await reply.json(page(pod("a", 1), version=10, more="token"))

    async with watching(handle) as (server, seen):
        assert await seen.next(4) == ["ADDED a", "ADDED a", "ADDED b", "SYNCED"]


async def test_a_server_that_fails_is_tried_again() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        match len(server.requests):
            case 1:
                reply.cut()
            case 2:
                await reply.refuse(500, "InternalError", "etcd is away")
            case 3:
                await reply.json(page(version=10))
            case 4:
                await reply.refuse(403, "Forbidden", "the roles are not loaded yet")
            case 5:
                await reply.begin()
                await reply.event("ERROR", {"code": 500, "message": "etcd is away"})
                await reply.end()
            case _:
                await reply.begin()
                await reply.event("ADDED", pod("a", 11))
                await forever()

    async with watching(handle) as (server, seen):
        assert await seen.next(2) == ["SYNCED", "ADDED a"]
    versions = [r.query.get("resourceVersion") for r in server.requests]
    assert versions == [None, None, None, "10", "10", "10"]


async def test_a_missing_right_to_watch_is_a_warning_once_with_its_remedy(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if not is_watch(request):
            await reply.json(page(version=10))
        elif len(server.requests) < 6:
            message = 'User "u" cannot watch resource "pods" in API group "" at the cluster scope'
            await reply.refuse(403, "Forbidden", f"pods is forbidden: {message}")
        else:
            await reply.begin()
            await reply.event("ADDED", pod("a", 11))
            await forever()

    async with watching(handle) as (server, seen):
        assert await seen.next(2) == ["SYNCED", "ADDED a"]
    [warning] = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert "kubectl create clusterrole NAME --verb=watch --resource=pods'" in warning


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_first_list_that_is_refused_for_good_ends_it(status: int) -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.refuse(status, "No", "not this one")

    async with watching(handle) as (_, seen):
        with pytest.raises(ApiError, match="not this one"):
            await seen.next(1)


async def test_closing_it_closes_its_connection() -> None:
    ended = asyncio.Event()

    async def handle(request: Request, reply: Reply) -> None:
        if not is_watch(request):
            await reply.json(page(version=10))
            return
        await reply.begin()
        try:
            await reply.event("ADDED", pod("a", 11))
            while True:
                await reply.event("BOOKMARK", pod("a", 11))
                await asyncio.sleep(0.001)
        finally:
            ended.set()

    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        async with aclosing(watch(pool, PODS, decoder=decode)) as batches:
            await Seen(batches).next(2)
        async with asyncio.timeout(20):
            await ended.wait()


async def test_a_list_from_the_cache_is_followed_from_its_version() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if is_watch(request):
            await reply.begin()
            await reply.event("DELETED", pod("a", 11))
            await forever()
        else:
            await reply.json(page(pod("a", 1), pod("b", 2), version=10))

    async with watching(handle, from_cache=True) as (server, seen):
        assert await seen.next(4) == ["ADDED a", "ADDED b", "SYNCED", "DELETED a"]
    listed, followed = server.requests
    assert listed.query == {"resourceVersion": "0"}
    assert followed.query["resourceVersion"] == "10"


async def test_a_list_from_the_cache_that_breaks_off_is_read_again_page_by_page() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if is_watch(request):
            await forever()
        elif "resourceVersion" in request.query:
            await reply.begin()
            await reply.chunk(b'{"metadata":{"resourceVersion":"10"},"items":[{"metadata":{"na')
            reply.cut()
        else:
            await reply.json(page(pod("a", 1), version=10))

    async with watching(handle, from_cache=True) as (server, seen):
        assert await seen.next(2) == ["ADDED a", "SYNCED"]
    assert [request.query.get("limit") for request in server.requests[:2]] == [None, "500"]


async def test_the_beginnings_and_the_ends_of_watches_are_shown_to_those_who_ask() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        match len([r for r in server.requests if is_watch(r)]):
            case 0:
                await reply.json(page(pod("a", 1), version=10))
            case 1:
                await reply.begin()
                await reply.event("MODIFIED", pod("a", 11))
                await reply.end()
            case 2:
                await _forget_by_event(reply)
            case _:
                await reply.begin()
                await reply.event("ADDED", pod("b", 21))
                await forever()

    async with watching(handle, shows_gaps=True) as (server, seen):
        assert await seen.next(8) == [
            "ADDED a",
            "SYNCED",
            "OPENED",
            "MODIFIED a",
            "INTERRUPTED",
            "OPENED",
            "MODIFIED kept",
            "INTERRUPTED",
        ]

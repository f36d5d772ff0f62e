import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec
import pytest

from kwokctl.errors import ApiError
from kwokctl.kube.collections.watch import Event, watch
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import FakeApiServer, Handler, Reply, Request, serving


class Metadata(msgspec.Struct, rename="camel"):
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class Pod(msgspec.Struct):
    metadata: Metadata


_decode = msgspec.json.Decoder(Pod).decode


def _pod(name: str, version: int, *, uid: str = "") -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": uid or f"uid-{name}",
            "resourceVersion": str(version),
        }
    }


def _page(*pods: Any, version: int, more: str = "") -> dict[str, Any]:
    return {"metadata": {"resourceVersion": str(version), "continue": more}, "items": list(pods)}


def _is_watch(request: Request) -> bool:
    return "watch" in request.query


class Seen:
    """What a watch tells."""

    def __init__(self, batches: AsyncIterator[list[Event[Pod]]]) -> None:
        self._batches = batches
        self.told = 0
        """How often it told anything."""
        self._events: list[Event[Pod]] = []

    async def take(self, count: int) -> list[Event[Pod]]:
        """Return the next `count` events."""
        async with asyncio.timeout(20):
            while len(self._events) < count:
                self._events += await anext(self._batches)
                self.told += 1
        taken, self._events = self._events[:count], self._events[count:]
        return taken

    async def next(self, count: int) -> list[str]:
        """Return the next `count` events as texts."""
        return [_text(event) for event in await self.take(count)]


def _text(event: Event[Pod]) -> str:
    if event.object is None:
        return event.type.value
    return f"{event.type.value} {event.object.metadata.name}"


@asynccontextmanager
async def _watching(handle: Handler, **how: Any) -> AsyncIterator[tuple[FakeApiServer, Seen]]:
    async with (
        serving(handle) as server,
        Pool(Access(server=server.url)) as pool,
        aclosing(watch(pool, PODS, decoder=_decode, **how)) as batches,
    ):
        yield server, Seen(batches)


async def _forever() -> None:
    await asyncio.Event().wait()


async def test_it_delivers_existing_objects_page_by_page_and_then_changes() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if _is_watch(request):
            await reply.begin()
            await reply.event("MODIFIED", _pod("a", 11))
            await reply.event("ADDED", _pod("c", 12))
            await reply.event("DELETED", _pod("a", 13))
            await _forever()
        elif "continue" in request.query:
            await reply.json(_page(_pod("b", 2), version=10))
        else:
            await reply.json(_page(_pod("a", 1), version=10, more="token"))

    async with _watching(handle, namespace="default", label_selector="x=y") as (server, seen):
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
        await reply.json(_page(_pod("a", 1), version=10))

    async with _watching(handle) as (_, seen):
        added, synced = await seen.take(2)
    assert msgspec.json.decode(added.raw) == _pod("a", 1)
    assert (synced.object, synced.raw) == (None, b"")


async def test_events_in_quick_succession_are_delivered_together() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if not _is_watch(request):
            await reply.json(_page(version=10))
            return
        await reply.begin()
        for number in range(60):
            await reply.event("ADDED", _pod(f"pod-{number}", 11 + number))
            await asyncio.sleep(0.005)
        await _forever()

    async with _watching(handle, gather=0.2) as (_, seen):
        assert await seen.next(61) == ["SYNCED", *(f"ADDED pod-{n}" for n in range(60))]

    assert seen.told < 30


async def test_a_watch_that_is_cut_while_events_gather_misses_none() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if not _is_watch(request):
            await reply.json(_page(version=10))
            return
        version = int(request.query["resourceVersion"])
        await reply.begin()
        for number in range(version + 1, version + 4):
            await reply.event("ADDED", _pod(f"pod-{number}", number))
            await asyncio.sleep(0.005)
        reply.close()

    async with _watching(handle, gather=0.05) as (_, seen):
        assert await seen.next(16) == ["SYNCED", *(f"ADDED pod-{n}" for n in range(11, 26))]


@pytest.mark.parametrize("size", [1, 3, 7, 50, 1000])
async def test_lines_may_be_cut_anywhere_and_many_come_at_once(size: int) -> None:
    names = [f"pod-{n}" for n in range(20)]
    lines = b"".join(
        msgspec.json.encode({"type": "ADDED", "object": _pod(name, 11 + n)}) + b"\n"
        for n, name in enumerate(names)
    )

    async def handle(request: Request, reply: Reply) -> None:
        if not _is_watch(request):
            await reply.json(_page(version=10))
            return
        await reply.begin()
        for start in range(0, len(lines), size):
            await reply.chunk(lines[start : start + size])
        await _forever()

    async with _watching(handle) as (_, seen):
        assert await seen.next(21) == ["SYNCED", *(f"ADDED {name}" for name in names)]


async def test_a_very_long_line_is_one_event() -> None:
    pod = _pod("a", 11) | {"spec": "x" * 3_000_000}

    async def handle(request: Request, reply: Reply) -> None:
        if not _is_watch(request):
            await reply.json(_page(version=10))
            return
        await reply.begin()
        await reply.event("ADDED", pod)
        await _forever()

    async with _watching(handle) as (_, seen):
        assert await seen.next(2) == ["SYNCED", "ADDED a"]


async def test_a_cut_watch_continues_where_it_was() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        match len([r for r in server.requests if _is_watch(r)]):
            case 0:
                await reply.json(_page(_pod("a", 1), version=10))
            case 1:
                await reply.begin()
                await reply.event("MODIFIED", _pod("a", 11))
                await reply.chunk(b'{"type":"MODIFIED","object":{"meta')
                reply.close()
            case 2:
                await reply.begin()
                await reply.event("MODIFIED", _pod("a", 12))
                await reply.event("BOOKMARK", {"metadata": {"resourceVersion": "20"}})
                await reply.end()
                reply.close()
            case _:
                await reply.begin()
                await reply.event("ADDED", _pod("b", 21))
                await _forever()

    async with _watching(handle) as (server, seen):
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
    await reply.event("MODIFIED", _pod("kept", 11))
    await reply.event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "x"})
    await _forever()


async def _forget_by_status(reply: Reply) -> None:
    await reply.refuse(410, "Expired", "too old")


async def _fall_behind(reply: Reply) -> None:
    await reply.refuse(504, "Timeout", "Too large resource version: 10, current: 3")


@pytest.mark.parametrize(
    ("forget", "told"),
    [(_forget_by_event, ["MODIFIED kept"]), (_forget_by_status, []), (_fall_behind, [])],
)
async def test_after_an_expired_version_it_lists_again_and_reports_what_vanished(
    forget: Any, told: Sequence[str]
) -> None:
    async def handle(request: Request, reply: Reply) -> None:
        seen = [_is_watch(r) for r in server.requests]
        if not _is_watch(request) and True not in seen:
            pods = [_pod("gone", 1), _pod("kept", 2), _pod("renewed", 3, uid="old")]
            await reply.json(_page(*pods, version=10))
        elif not _is_watch(request):
            pods = [_pod("kept", 2), _pod("renewed", 15, uid="new"), _pod("young", 16)]
            await reply.json(_page(*pods, version=20))
        elif seen.count(True) == 1:
            await forget(reply)
        else:
            await reply.begin()
            await _forever()

    async with _watching(handle) as (server, seen):
        assert await seen.next(4) == ["ADDED gone", "ADDED kept", "ADDED renewed", "SYNCED"]
        assert await seen.next(len(told)) == list(told)
        batches = await seen.take(6)
        assert [_text(event) for event in batches] == [
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
                await reply.json(_page(_pod("a", 1), version=10))
            case 2:
                await reply.begin()
                await reply.event("DELETED", _pod("a", 11))
                await reply.event("ADDED", _pod("b", 12))
                await reply.event("ERROR", {"code": 410})
                reply.close()
            case _:
                await reply.json(_page(version=20))

    async with _watching(handle) as (server, seen):
        assert await seen.next(6) == [
            "ADDED a",
            "SYNCED",
            "DELETED a",
            "ADDED b",
            "DELETED b",
            "SYNCED",
        ]


async def test_a_list_that_takes_too_long_begins_anew() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if _is_watch(request):
            await reply.begin()
            await _forever()
        elif "continue" in request.query and len(server.requests) == 2:
            await reply.refuse(410, "Expired", "the continue token is too old")
        elif "continue" in request.query:
            await reply.json(_page(_pod("b", 2), version=10))
        else:
            await reply.json(_page(_pod("a", 1), version=10, more="token"))

    async with _watching(handle) as (server, seen):
        assert await seen.next(4) == ["ADDED a", "ADDED a", "ADDED b", "SYNCED"]


async def test_a_server_that_fails_is_tried_again() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        match len(server.requests):
            case 1:
                reply.cut()
            case 2:
                await reply.refuse(500, "InternalError", "etcd is away")
            case 3:
                await reply.json(_page(version=10))
            case 4:
                await reply.refuse(403, "Forbidden", "the roles are not loaded yet")
            case 5:
                await reply.begin()
                await reply.event("ERROR", {"code": 500, "message": "etcd is away"})
                await reply.end()
            case _:
                await reply.begin()
                await reply.event("ADDED", _pod("a", 11))
                await _forever()

    async with _watching(handle) as (server, seen):
        assert await seen.next(2) == ["SYNCED", "ADDED a"]
    versions = [r.query.get("resourceVersion") for r in server.requests]
    assert versions == [None, None, None, "10", "10", "10"]


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_first_list_that_is_refused_for_good_ends_it(status: int) -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.refuse(status, "No", "not this one")

    async with _watching(handle) as (_, seen):
        with pytest.raises(ApiError, match="not this one"):
            await seen.next(1)


async def test_closing_it_closes_its_connection() -> None:
    ended = asyncio.Event()

    async def handle(request: Request, reply: Reply) -> None:
        if not _is_watch(request):
            await reply.json(_page(version=10))
            return
        await reply.begin()
        try:
            await reply.event("ADDED", _pod("a", 11))
            while True:
                await reply.event("BOOKMARK", _pod("a", 11))
                await asyncio.sleep(0.001)
        finally:
            ended.set()

    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        async with aclosing(watch(pool, PODS, decoder=_decode)) as batches:
            await Seen(batches).next(2)
        async with asyncio.timeout(20):
            await ended.wait()


async def test_a_list_from_the_cache_is_followed_from_its_version() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if _is_watch(request):
            await reply.begin()
            await reply.event("DELETED", _pod("a", 11))
            await _forever()
        else:
            await reply.json(_page(_pod("a", 1), _pod("b", 2), version=10))

    async with _watching(handle, from_cache=True) as (server, seen):
        assert await seen.next(4) == ["ADDED a", "ADDED b", "SYNCED", "DELETED a"]
    listed, followed = server.requests
    assert listed.query == {"resourceVersion": "0"}
    assert followed.query["resourceVersion"] == "10"


async def test_a_list_from_the_cache_that_breaks_off_is_read_again_page_by_page() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if _is_watch(request):
            await _forever()
        elif "resourceVersion" in request.query:
            await reply.begin()
            await reply.chunk(b'{"metadata":{"resourceVersion":"10"},"items":[{"metadata":{"na')
            reply.cut()
        else:
            await reply.json(_page(_pod("a", 1), version=10))

    async with _watching(handle, from_cache=True) as (server, seen):
        assert await seen.next(2) == ["ADDED a", "SYNCED"]
    assert [request.query.get("limit") for request in server.requests[:2]] == [None, "500"]

"""Answers that are read while they come."""

import asyncio

import pytest

from kwokctl.errors import ApiError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from tests.support.eventually import eventually
from tests.support.fake_api_server import FakeApiServer, Reply, Request, serving


def _pool(server: FakeApiServer) -> Pool:
    return Pool(Access(server=server.url), timeout=20.0)


async def test_a_stream_is_read_while_it_comes() -> None:
    go_on = asyncio.Event()

    async def handle(request: Request, reply: Reply) -> None:
        await reply.begin()
        await reply.chunk(b"one")
        await go_on.wait()
        await reply.chunk(b"two")
        await reply.end()

    async with serving(handle) as server, _pool(server) as pool, pool.stream("/s") as stream:
        assert await stream.read() == b"one"
        go_on.set()
        assert [piece async for piece in stream] == [b"two"]
        assert stream.status == 200


async def test_the_refusal_of_a_stream_has_the_reason() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.refuse(403, "Forbidden", "not for you")

    async with serving(handle) as server, _pool(server) as pool:
        with pytest.raises(ApiError, match="not for you") as caught:
            async with pool.stream("/s"):
                pass
    assert (caught.value.status, caught.value.reason) == (403, "Forbidden")


async def test_a_stream_that_is_cut_ends_with_an_error_after_what_has_come() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.begin()
        await reply.chunk(b"one")
        reply.close()

    async with serving(handle) as server, _pool(server) as pool, pool.stream("/s") as stream:
        assert await stream.read() == b"one"
        with pytest.raises(ApiError, match="was lost"):
            await stream.read()


async def test_a_stream_that_falls_silent_ends_with_an_error() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.begin()
        await asyncio.Event().wait()

    async with (
        serving(handle) as server,
        _pool(server) as pool,
        pool.stream("/s", silence=0.05) as stream,
    ):
        with pytest.raises(ApiError, match="sent nothing"):
            await stream.read()


async def test_a_reader_that_lags_makes_the_server_wait_and_misses_nothing() -> None:
    piece = b"x" * (1 << 16)
    sent = 0

    async def handle(request: Request, reply: Reply) -> None:
        nonlocal sent
        await reply.begin()
        for _ in range(512):
            await reply.chunk(piece)
            sent += 1
        await reply.end()

    async with serving(handle) as server, _pool(server) as pool, pool.stream("/s") as stream:
        await eventually(lambda: stream.is_paused)
        assert sent < 512
        assert sum([len(part) async for part in stream]) == 512 * len(piece)


async def test_a_stream_that_came_to_its_end_carries_the_next() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.begin()
        await reply.chunk(request.path.encode())
        await reply.end()

    async with serving(handle) as server, _pool(server) as pool:
        for path in (b"/one", b"/two", b"/three"):
            async with pool.stream(path.decode(), silence=60.0) as stream:
                assert [piece async for piece in stream] == [path]

        assert server.connections == 1


async def test_concurrent_streams_have_separate_connections() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.begin()
        await reply.chunk(request.path.encode())
        await reply.end()

    async with serving(handle) as server, _pool(server) as pool:
        async with pool.stream("/one") as one, pool.stream("/two") as two:
            assert await two.read() == b"/two"
            assert await one.read() == b"/one"

        assert server.connections == 2


async def test_a_kept_stream_that_the_server_has_closed_is_dialled_again() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if len(server.requests) == 2:
            reply.cut()
            return
        await reply.begin()
        await reply.chunk(b"{}")
        await reply.end()

    async with serving(handle) as server, _pool(server) as pool:
        for _ in range(2):
            async with pool.stream("/s") as stream:
                assert [piece async for piece in stream] == [b"{}"]

        assert [request.connection for request in server.requests] == [1, 1, 2]


async def test_the_refusal_of_a_kept_stream_has_the_reason() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if len(server.requests) == 2:
            await reply.refuse(403, "Forbidden", "no")
            return
        await reply.begin()
        await reply.end()

    async with serving(handle) as server, _pool(server) as pool:
        async with pool.stream("/s") as stream:
            assert await stream.read() == b""
        with pytest.raises(ApiError, match="no") as refused:
            async with pool.stream("/s"):
                pass

        assert refused.value.status == 403
        assert server.connections == 1


async def test_a_stream_answered_with_connection_close_is_not_kept() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.send(b"all", headers={"Connection": "close"})

    async with serving(handle) as server, _pool(server) as pool:
        for _ in range(2):
            async with pool.stream("/s") as stream:
                assert [piece async for piece in stream] == [b"all"]

        assert server.connections == 2


async def test_leaving_a_stream_closes_its_connection() -> None:
    ended = asyncio.Event()

    async def handle(request: Request, reply: Reply) -> None:
        await reply.begin()
        try:
            while True:
                await reply.chunk(b"tick")
                await asyncio.sleep(0.001)
        finally:
            ended.set()

    async with serving(handle) as server, _pool(server) as pool:
        async with pool.stream("/s") as stream:
            await stream.read()
        async with asyncio.timeout(20):
            await ended.wait()

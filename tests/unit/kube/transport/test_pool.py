import asyncio
from collections.abc import Awaitable
from pathlib import Path

import pytest

from kwokctl.errors import ApiError, ConfigError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.wire import LOST, REFUSED, TIMEOUT, UNTRUSTED
from kwokctl.replacing import replace
from tests.support.certificates import certificates
from tests.support.eventually import eventually
from tests.support.fake_api_server import FakeApiServer, Reply, Request, serving


async def _ok(request: Request, reply: Reply) -> None:
    await reply.send(request.path.encode())


def _pool(server: FakeApiServer, *, connections: int = 64, timeout: float = 20.0) -> Pool:
    return Pool(Access(server=server.url), connections=connections, timeout=timeout)


async def test_one_connection_carries_many_requests() -> None:
    async with serving(_ok) as server, _pool(server) as pool:
        bodies = [(await pool.request("GET", f"/{n}")).body for n in range(5)]
    assert bodies == [b"/0", b"/1", b"/2", b"/3", b"/4"]
    assert server.connections == 1


async def test_requests_carry_content_type_and_user_agent() -> None:
    async with serving(_ok) as server:
        access = Access(server=f"{server.url}/below", token="abc")
        async with Pool(access, user_agent="me/1") as pool:
            await pool.request(
                "PATCH",
                "/x?a=b",
                body=b"{}",
                content_type="t/p",
                accept="q/r",
                headers={"X-Y": "z"},
            )
            await pool.request("DELETE", "/x")
    patch, delete = server.requests
    assert (patch.method, patch.path, patch.query, patch.body) == (
        "PATCH", "/below/x", {"a": "b"}, b"{}",
    )  # fmt: skip
    assert patch.headers == {
        "host": server.url.removeprefix("http://"),
        "user-agent": "me/1",
        "authorization": "Bearer abc",
        "accept": "q/r",
        "x-y": "z",
        "content-type": "t/p",
        "content-length": "2",
    }
    assert delete.headers["content-length"] == "0"


@pytest.mark.parametrize("cut", range(1, 90, 7))
async def test_an_answer_in_chunks_is_put_together_wherever_it_is_cut(cut: int) -> None:
    whole = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5\r\nhello\r\n1\r\n \r\n5;x=y\r\nworld\r\n0\r\nTrailer: 1\r\n\r\n"
    )

    async def handle(request: Request, reply: Reply) -> None:
        await reply.raw(whole[:cut])
        await asyncio.sleep(0)
        await reply.raw(whole[cut:])

    async with serving(handle) as server, _pool(server) as pool:
        for _ in range(2):
            assert (await pool.request("GET", "/")).body == b"hello world"
    assert server.connections == 1


async def test_an_answer_may_end_with_its_connection() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 200 OK\r\n\r\nall of it")
        reply.close()

    async with serving(handle) as server, _pool(server) as pool:
        assert (await pool.request("GET", "/")).body == b"all of it"
        assert (await pool.request("GET", "/")).body == b"all of it"
    assert server.connections == 2


@pytest.mark.parametrize(
    "part",
    [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"],
)
async def test_an_answer_that_is_not_whole_is_an_error(part: bytes) -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.raw(part)
        reply.close()

    async with serving(handle) as server, _pool(server) as pool:
        with pytest.raises(ApiError) as caught:
            await pool.request("GET", "/")
    assert (caught.value.status, caught.value.reason) == (0, LOST)
    assert len(server.requests) == 1


async def test_what_is_not_http_is_an_error() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.raw(b"SSH-2.0-OpenSSH\r\n\r\n")

    async with serving(handle) as server, _pool(server) as pool:
        with pytest.raises(ApiError, match="is not HTTP"):
            await pool.request("GET", "/")


async def test_interim_answers_are_ignored() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
        await reply.send(b"real")

    async with serving(handle) as server, _pool(server) as pool:
        response = await pool.request("GET", "/")
    assert (response.status, response.body, response.header(b"link")) == (200, b"real", None)


async def test_a_connection_that_the_server_closed_while_idle_is_replaced_silently() -> None:
    async with serving(_ok) as server, _pool(server) as pool:
        await pool.request("POST", "/a")
        server.drop_all()
        # One turn of the loop: the end of the connection is there, but was not read.
        await asyncio.sleep(0)
        assert (await pool.request("POST", "/b")).body == b"/b"
    assert [r.path for r in server.requests] == ["/a", "/b"]


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
async def test_a_repeatable_request_is_sent_again_when_its_old_connection_dies(method: str) -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if request.connection == 1 and request.path == "/b":
            reply.cut()
        else:
            await reply.send(b"ok")

    async with serving(handle) as server, _pool(server) as pool:
        await pool.request("GET", "/a")
        assert (await pool.request(method, "/b")).body == b"ok"
    assert [r.path for r in server.requests] == ["/a", "/b", "/b"]


async def test_a_creation_is_never_sent_twice() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if request.path == "/b":
            reply.cut()
        else:
            await reply.send(b"ok")

    async with serving(handle) as server, _pool(server) as pool:
        await pool.request("GET", "/a")
        with pytest.raises(ApiError) as caught:
            await pool.request("POST", "/b")
    assert caught.value.reason == LOST
    assert [r.path for r in server.requests] == ["/a", "/b"]


async def test_a_request_is_not_sent_again_once_its_answer_has_begun() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if request.path == "/b":
            await reply.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart")
            reply.close()
        else:
            await reply.send(b"ok")

    async with serving(handle) as server, _pool(server) as pool:
        await pool.request("GET", "/a")
        with pytest.raises(ApiError):
            await pool.request("GET", "/b")
    assert [r.path for r in server.requests] == ["/a", "/b"]


@pytest.mark.parametrize("status", [429, 503])
async def test_a_request_is_repeated_after_the_time_that_a_busy_server_names(status: int) -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if len(server.requests) < 3:
            await reply.send(b"busy", status=status, headers={"Retry-After": "0"})
        else:
            await reply.send(b"done")

    async with serving(handle) as server, _pool(server) as pool:
        assert (await pool.request("POST", "/", body=b"x")).body == b"done"
    assert [r.body for r in server.requests] == [b"x"] * 3


async def test_the_answer_of_a_server_that_stays_busy_is_returned() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.send(b"busy", status=429, headers={"Retry-After": "0"})

    async with serving(handle) as server, _pool(server) as pool:
        assert (await pool.request("GET", "/")).status == 429
    assert len(server.requests) == 7


async def test_a_refusal_without_a_time_is_not_repeated() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.send(b"", status=503)

    async with serving(handle) as server, _pool(server) as pool:
        assert (await pool.request("GET", "/")).status == 503
    assert len(server.requests) == 1


async def test_no_answer_in_time_is_an_error_and_the_connection_is_dropped() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if request.path == "/never":
            await asyncio.Event().wait()
        await reply.send(b"ok")

    async with serving(handle) as server, _pool(server, connections=1, timeout=2.0) as pool:
        with pytest.raises(ApiError) as caught:
            await pool.request("GET", "/never")
        assert (caught.value.status, caught.value.reason) == (0, TIMEOUT)
        assert (await pool.request("GET", "/")).body == b"ok"
    assert server.connections == 2


async def test_no_more_connections_are_made_than_allowed_and_the_line_is_kept() -> None:
    release = asyncio.Event()

    async def handle(request: Request, reply: Reply) -> None:
        await release.wait()
        await reply.send(request.path.encode())

    done: list[int] = []

    async def ask(number: int) -> None:
        await pool.request("GET", f"/{number}")
        done.append(number)

    async with (
        serving(handle) as server,
        _pool(server, connections=2) as pool,
        asyncio.TaskGroup() as tasks,
    ):
        for number in range(10):
            tasks.create_task(ask(number))
        await eventually(lambda: len(server.requests) == 2)
        release.set()
    assert server.connections == 2
    assert [r.path for r in server.requests][2:] == [f"/{n}" for n in range(2, 10)]
    assert sorted(done) == list(range(10))


async def test_a_cancelled_request_drops_its_connection_and_frees_its_place() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        if request.path == "/slow":
            await asyncio.Event().wait()
        await reply.send(b"ok")

    async with serving(handle) as server, _pool(server, connections=1) as pool:
        async with asyncio.TaskGroup() as tasks:
            slow = tasks.create_task(pool.request("GET", "/slow"))
            await eventually(lambda: server.requests)
            waiting = [tasks.create_task(pool.request("GET", f"/{n}")) for n in range(3)]
            await asyncio.sleep(0)
            waiting[1].cancel()
            slow.cancel()
        assert [t.cancelled() for t in (slow, *waiting)] == [True, False, True, False]
    assert [r.path for r in server.requests] == ["/slow", "/0", "/2"]
    assert server.connections == 2


async def test_a_cancelled_waiter_passes_the_connection_to_the_next() -> None:
    async with serving(_ok) as server, _pool(server, connections=1) as pool:

        async def first() -> None:
            await pool.request("GET", "/first")
            # The connection has just been given to the second, who has had no turn yet.
            second.cancel()

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(first())
            second = tasks.create_task(pool.request("GET", "/second"))
            third = tasks.create_task(pool.request("GET", "/third"))
        assert third.result().body == b"/third"


async def test_a_closed_pool_fails_waiting_and_later_requests() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await asyncio.Event().wait()

    async with serving(handle) as server:
        pool = _pool(server, connections=1)
        async with asyncio.TaskGroup() as tasks:
            asked = [
                tasks.create_task(_reason(pool.request("GET", f"/{number}"))) for number in range(2)
            ]
            await eventually(lambda: server.requests)
            await pool.close()
        assert [t.result() for t in asked] == [LOST, LOST]
        assert await _reason(pool.request("GET", "/late")) == LOST


async def test_a_port_without_a_listener_is_a_connection_error(tmp_path: Path) -> None:
    async with serving(_ok) as server:
        url = server.url
    async with Pool(Access(server=url)) as pool:
        assert await _reason(pool.request("GET", "/")) == REFUSED
    async with Pool(Access(server="http://x"), socket=tmp_path / "none.sock") as pool:
        assert await _reason(pool.request("GET", "/")) == REFUSED


async def test_the_environment_s_proxies_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with serving(_ok) as server, _pool(server) as pool:
        assert (await pool.request("GET", "/x")).body == b"/x"


async def test_a_unix_socket_is_dialled_in_place_of_the_server(tmp_path: Path) -> None:
    path = tmp_path / "api.sock"
    access = Access(server="http://elsewhere:1234")
    async with serving(_ok, socket=path) as server, Pool(access, socket=path) as pool:
        assert (await pool.request("GET", "/x")).body == b"/x"
    assert server.requests[0].headers["host"] == "elsewhere:1234"


async def test_a_client_certificate_is_shown_and_the_server_s_is_checked() -> None:
    known = certificates()
    context = known.server_context(demand_client=True)
    async with serving(_ok, context=context) as server:
        access = Access(
            server=server.url, ca=known.ca, cert=known.client.cert, key=known.client.key
        )
        async with Pool(access) as pool:
            assert (await pool.request("GET", "/x")).body == b"/x"
        async with Pool(replace(access, ca=certificates("other").ca)) as pool:
            assert await _reason(pool.request("GET", "/")) == UNTRUSTED


async def test_an_unverified_server_is_accepted_only_on_request() -> None:
    context = certificates().server_context()
    async with serving(_ok, context=context) as server:
        async with Pool(Access(server=server.url, insecure=True)) as pool:
            assert (await pool.request("GET", "/x")).body == b"/x"
        async with Pool(Access(server=server.url)) as pool:
            assert await _reason(pool.request("GET", "/")) == UNTRUSTED


async def test_the_server_s_certificate_may_have_another_name_than_is_dialled() -> None:
    known = certificates()
    async with serving(_ok, context=known.server_context()) as server:
        named = Access(server=server.url, ca=known.ca, tls_server_name="localhost")
        async with Pool(named) as pool:
            assert (await pool.request("GET", "/x")).body == b"/x"
        foreign = Access(server=server.url, ca=known.ca, tls_server_name="elsewhere")
        async with Pool(foreign) as pool:
            assert await _reason(pool.request("GET", "/")) == UNTRUSTED


async def _reason(request: Awaitable[object]) -> str:
    with pytest.raises(ApiError) as caught:
        await request
    assert caught.value.status == 0
    return caught.value.reason


def test_a_key_that_does_not_match_is_reported_before_any_connection() -> None:
    one, other = certificates(), certificates("other")
    access = Access(server="https://x", cert=one.client.cert, key=other.client.key)
    with pytest.raises(ConfigError, match="cannot be used together"):
        Pool(access)

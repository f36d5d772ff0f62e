""""""

import asyncio
import gc
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kwokctl.embedded.http.http_server import Certificate, HttpServer
from kwokctl.embedded.http.listening import (
    listening_sockets,
)
from kwokctl.embedded.http.messages import (
    Answer,
    NoAnswerError,
    RawStream,
    RefusedError,
    Request,
)
from kwokctl.embedded.http.route_table import Route, RouteTable
from kwokctl.embedded.http.served_connection import ServedConnection
from kwokctl.errors import ApiError
from kwokctl.tasks import beside
from tests.support.certificates import certificates
from tests.support.eventually import eventually
from tests.support.hello import HELLO, hello
from tests.support.kubelet_rig import client_tls, everybody, serving_kubelet


async def test_tls_and_plain_http_are_spoken_on_one_port(tmp_path: Path) -> None:
    async with serving_kubelet([HELLO], tmp_path) as at:
        plain = await at.ask("GET /hello/a HTTP/1.1")
        secret = await at.ask("GET /hello/a HTTP/1.1", tls=client_tls())
        _, writer = await at.connect(client_tls())
        protocol = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        writer.close()

    assert plain == secret
    assert plain.endswith("hello /hello/a")
    assert protocol == "http/1.1"


async def test_tls_on_a_port_without_is_closed_at_once(tmp_path: Path) -> None:
    server = HttpServer(RouteTable([HELLO]), everybody)
    listening = listening_sockets(["127.0.0.1"], 0)
    port = listening[0].getsockname()[1]
    async with asyncio.timeout(60), beside(server.run(listening, None)):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await asyncio.open_connection("127.0.0.1", port, ssl=client_tls())
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"\x16\x03\x01")  # and no more: it is not waited for
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()


async def test_a_connection_is_kept_and_requests_may_come_ahead(tmp_path: Path) -> None:
    async with serving_kubelet([HELLO], tmp_path) as at:
        reader, writer = await at.connect(client_tls())
        writer.write(b"GET /hello/1 HTTP/1.1\r\n\r\nHEAD /hello/2 HTTP/1.1\r\n\r\n")
        first = await reader.readuntil(b"hello /hello/1")
        second = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET /hello/3 HTTP/1.0\r\n\r\n")
        rest = await reader.read()
        writer.close()

    assert b"Connection: keep-alive" in first
    assert b"Content-Length: 14" in second
    assert rest.endswith(b"hello /hello/3")


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /nothing HTTP/1.1", 404),
        ("GET /hello HTTP/1.1", 404),
        ("POST /hello/a HTTP/1.1", 405),
        ("nonsense", 400),
    ],
)
async def test_what_is_not_served_is_refused(tmp_path: Path, line: str, status: int) -> None:
    async with serving_kubelet([HELLO], tmp_path) as at:
        assert await at.status(line) == status


@pytest.mark.parametrize("is_upgrade", [True, False])
async def test_a_request_without_an_answer_ends_its_connection(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, is_upgrade: bool
) -> None:
    async def answer(_: Request) -> Answer:
        raise NoAnswerError

    async def take_over(_: Request, _raw: RawStream) -> None:
        raise NoAnswerError

    silent = (
        Route(path="/silent", take_over=take_over)
        if is_upgrade
        else Route(path="/silent", answer=answer)
    )
    async with serving_kubelet([HELLO, silent], tmp_path) as at:
        reader, writer = await at.connect()
        writer.write(b"GET /silent HTTP/1.1\r\n\r\n")
        received = b""
        with suppress(ConnectionError):
            received = await reader.read()
        writer.close()
        others = await at.status("GET /hello/a HTTP/1.1")

    assert (received, others) == (b"", 200)
    assert caplog.text == ""


async def test_a_handler_that_refuses_or_fails_answers_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuse(_: Request) -> Answer:
        raise RefusedError(400, "no such thing")

    async def lose(_: Request) -> Answer:
        raise ApiError("no answer", status=0)

    async def fail(_: Request) -> Answer:
        raise ZeroDivisionError

    routes = [
        Route(path="/refuse", answer=refuse),
        Route(path="/lose", answer=lose),
        Route(path="/fail", answer=fail),
    ]
    async with serving_kubelet(routes, tmp_path) as at:
        assert (await at.ask("GET /refuse HTTP/1.1")).endswith("no such thing\n")
        assert await at.status("GET /lose HTTP/1.1") == 503
        assert await at.status("GET /fail HTTP/1.1") == 500
    assert "'GET /fail' has failed" in caplog.text


async def test_a_body_that_comes_in_pieces_is_sent_in_chunks(tmp_path: Path) -> None:
    async def count(_: Request) -> Answer:
        async def pieces() -> AsyncIterator[bytes]:
            for piece in (b"one", b"", b"three"):
                yield piece

        return Answer(200, pieces())

    async with serving_kubelet([Route(path="/count", answer=count)], tmp_path) as at:
        reader, writer = await at.connect()
        writer.write(b"GET /count HTTP/1.1\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readuntil(b"0\r\n\r\n")
        writer.close()
        old = await at.ask("GET /count HTTP/1.0")

    assert b"Transfer-Encoding: chunked" in head
    assert body == b"3\r\none\r\n5\r\nthree\r\n0\r\n\r\n"
    assert old.endswith("\r\n\r\nonethree")


async def test_a_stream_ends_when_its_client_goes(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def forever(_: Request) -> Answer:
        async def pieces() -> AsyncIterator[bytes]:
            try:
                yield b"first"
                await asyncio.Event().wait()
            finally:
                ended.set()

        return Answer(200, pieces())

    async with serving_kubelet([Route(path="/forever", answer=forever)], tmp_path) as at:
        reader, writer = await at.connect(client_tls())
        writer.write(b"GET /forever HTTP/1.1\r\n\r\n")
        await reader.readuntil(b"first")
        writer.transport.abort()
        async with asyncio.timeout(30):
            await ended.wait()
        await eventually(lambda: at.server.connections == 0)


async def test_an_upgrade_hands_the_raw_connection_over(tmp_path: Path) -> None:
    async def echo(_: Request, stream: RawStream) -> None:
        await stream.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        while data := await stream.read():
            await stream.write(data.upper())

    async with serving_kubelet([Route(path="/echo", take_over=echo)], tmp_path) as at:
        reader, writer = await at.connect(client_tls())
        head = b"GET /echo HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n"
        writer.write(head + b"early ")
        await reader.readuntil(b"\r\n\r\n")
        early = await reader.readexactly(6)
        writer.write(b"x" * 1_000_000)
        late = await reader.readexactly(1_000_000)
        writer.close()
        await eventually(lambda: at.server.connections == 0)

    assert early == b"EARLY "
    assert late == b"X" * 1_000_000


async def test_an_upgrade_may_be_refused(tmp_path: Path) -> None:
    async def refuse(_: Request, stream: RawStream) -> None:
        raise RefusedError(400, "upgrade required")

    async with serving_kubelet([Route(path="/exec", take_over=refuse)], tmp_path) as at:
        assert await at.status("GET /exec HTTP/1.1") == 400


async def test_a_slow_reader_holds_the_writer_back(tmp_path: Path) -> None:
    written = 0

    async def flood(_: Request) -> Answer:
        async def pieces() -> AsyncIterator[bytes]:
            nonlocal written
            while True:
                written += 1
                yield b"x" * 100_000

        return Answer(200, pieces())

    async with serving_kubelet([Route(path="/flood", answer=flood)], tmp_path) as at:
        reader, writer = await at.connect()
        writer.write(b"GET /flood HTTP/1.1\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        former = -1
        while former != written:
            former = written
            for _ in range(1000):
                await asyncio.sleep(0)
        assert written < 1000
        writer.transport.abort()


async def test_the_right_is_asked_for_before_anything_is_said(tmp_path: Path) -> None:
    async def nobody(request: Request, certificate: Certificate) -> None:
        raise RefusedError(401, "who are you")

    routes = [HELLO, Route(path="/healthz", answer=hello, is_open=True)]
    async with serving_kubelet(routes, tmp_path, nobody) as at:
        assert await at.status("GET /hello/a HTTP/1.1") == 401
        assert await at.status("GET /unknown HTTP/1.1") == 401
        assert await at.status("GET /healthz HTTP/1.1") == 200


async def test_a_certificate_of_another_authority_ends_the_handshake(tmp_path: Path) -> None:
    seen: list[Certificate] = []

    async def note(request: Request, certificate: Certificate) -> None:
        seen.append(certificate)

    async with serving_kubelet([HELLO], tmp_path, note) as at:
        ours, alien = certificates().client, certificates("alien").client
        assert await at.status("GET /hello/a HTTP/1.1", tls=client_tls(ours)) == 200
        with pytest.raises((OSError, ssl.SSLError, IndexError)):
            await at.status("GET /hello/a HTTP/1.1", tls=client_tls(alien))

    assert [found["subject"] for found in seen if found] == [((("commonName", "client"),),)]


@pytest.fixture
def no_garbage_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_garbage_collector")
@pytest.mark.parametrize("is_cut", [False, True])
async def test_the_memory_of_a_connection_is_free_when_it_ends(
    tmp_path: Path, *, is_cut: bool
) -> None:
    """The collector runs rarely: the buffers of TLS could fill the memory until then."""

    def connections() -> list[object]:
        return [each for each in gc.get_objects() if isinstance(each, ServedConnection)]

    async with serving_kubelet([HELLO], tmp_path) as at:
        reader, writer = await at.connect(client_tls())
        writer.write(b"GET /hello/a HTTP/1.1\r\n\r\n")
        await reader.readuntil(b"hello /hello/a")
        assert len(connections()) == 1
        if is_cut:
            writer.transport.abort()
        else:
            writer.close()
        await eventually(lambda: not connections())


async def test_what_one_client_sends_ahead_does_not_keep_others_waiting(tmp_path: Path) -> None:
    served = 0

    async def count(_: Request) -> Answer:
        nonlocal served
        served += 1
        return Answer()

    async with serving_kubelet([Route(path="/count", answer=count), HELLO], tmp_path) as at:
        _, writer = await at.connect()
        writer.write(b"GET /count HTTP/1.1\r\n\r\n" * 1000)
        await eventually(lambda: served > 0)
        assert await at.status("GET /hello/a HTTP/1.1") == 200
        assert served < 500
        writer.transport.abort()
        await eventually(lambda: at.server.connections == 0)

    assert served < 1000


async def test_a_client_that_takes_no_answers_is_held_back(tmp_path: Path) -> None:
    served = 0

    async def much(_: Request) -> Answer:
        nonlocal served
        served += 1
        return Answer(200, b"x" * 100_000)

    async with serving_kubelet([Route(path="/much", answer=much)], tmp_path) as at:
        _, writer = await at.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # of a socket's
        writer.write(b"GET /much HTTP/1.1\r\n\r\n" * 5000)
        former = -1
        while former != served:
            former = served
            for _ in range(1000):
                await asyncio.sleep(0)
        writer.transport.abort()

    assert served < 1000


def test_the_longest_path_decides() -> None:
    table = RouteTable(
        [
            Route(path="/metrics", answer=hello),
            Route(path="/metrics", is_tree=True, answer=hello, is_open=True),
            Route(path="/metrics/nodes", is_tree=True, answer=hello, is_debugging=True),
        ]
    )

    exact, below, deeper = (
        table.find(path) for path in ("/metrics/", "/metrics/a/b", "/metrics/nodes/n/x")
    )
    assert exact is not None
    assert not exact.is_open
    assert below is not None
    assert below.is_open
    assert deeper is not None
    assert deeper.is_debugging
    assert table.find("/other") is None

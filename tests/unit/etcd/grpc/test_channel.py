import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kwokctl.errors import ConfigError, EtcdGoneError, UnavailableError
from kwokctl.etcd.grpc.channel import Channel
from kwokctl.etcd.grpc.dial_etcd import EtcdAddress
from kwokctl.etcd.grpc.http2_frames import LARGEST_WINDOW, REFUSED_STREAM, rst_stream
from tests.support.certificates import certificates
from tests.support.eventually import eventually
from tests.support.grpc_server import Server, Session, echo
from tests.support.http2_peer import answer, goaway

METHOD = "/a.Service/Method"


@pytest.fixture
def socket() -> Iterator[Path]:
    """Return a path that is short enough for a socket."""
    with TemporaryDirectory(prefix="etcd-") as folder:
        yield Path(folder, "s")


def channel_to(target: str, **files: Path) -> Channel:
    ca, cert, key = (files.get(name) for name in ("ca", "cert", "key"))
    return Channel(EtcdAddress.of(target, ca=ca, cert=cert, key=key))


def silent(session: Session, stream: int, content: bytes) -> bytes:
    """Answer nothing."""
    return b""


def has_asked(server: Server, number: int) -> bool:
    """Return whether the first session has seen so many calls."""
    return bool(server.sessions) and server.sessions[0].asked == number


async def ask(channel: Channel, content: bytes = b"", *, within: float = 30.0) -> bytes:
    return await channel.call(METHOD, content, within=within)


async def test_nothing_is_dialled_before_the_first_call(socket: Path) -> None:
    server = Server()
    async with server.listening(socket) as target:
        channel = channel_to(target)
        assert server.sessions == []
        assert await ask(channel, b"hello") == b"hello"
        await channel.close()


async def test_many_calls_share_one_connection(socket: Path) -> None:
    server = Server()
    async with server.listening(socket) as target:
        channel = channel_to(target)
        contents = [b"%d" % n * (n * 40) for n in range(300)]

        answers = await asyncio.gather(*(ask(channel, content) for content in contents))

        assert answers == contents
        assert len(server.sessions) == 1
        await channel.close()


async def test_large_messages_go_both_ways_beside_small_ones(socket: Path) -> None:
    async with Server().listening(socket) as target:
        channel = channel_to(target)
        contents = [bytes(range(256)) * 12_000, b"small", bytes(1_500_000), b"", b"x" * 16_380]

        assert await asyncio.gather(*(ask(channel, content) for content in contents)) == contents
        await channel.close()


async def test_a_port_without_a_listener_fails_all_waiting_calls(socket: Path) -> None:
    channel = channel_to(f"unix:{socket}")

    failed = await asyncio.gather(*(ask(channel) for _ in range(20)), return_exceptions=True)

    assert all(isinstance(error, EtcdGoneError) for error in failed)
    assert {str(error) for error in failed} == {
        f"etcd at 'unix:{socket}' cannot be reached: connection refused"
    }
    assert len({id(error) for error in failed}) == 20
    await channel.close()


async def test_the_next_call_dials_again(socket: Path) -> None:
    server = Server()
    channel = channel_to(f"unix:{socket}")
    with pytest.raises(EtcdGoneError):
        await ask(channel)

    for number in range(3):
        async with server.listening(socket):
            assert await ask(channel, b"%d" % number) == b"%d" % number
        await eventually(lambda: all(session.is_over for session in server.sessions))
        with pytest.raises(EtcdGoneError):
            await ask(channel)
    await channel.close()


async def test_a_connection_that_breaks_fails_what_is_under_way_and_no_more(socket: Path) -> None:
    def break_once(session: Session, stream: int, content: bytes) -> bytes | None:
        return answer(stream, content) if session.number else None

    async with Server(break_once).listening(socket) as target:
        channel = channel_to(target)
        failed = await asyncio.gather(*(ask(channel) for _ in range(5)), return_exceptions=True)
        assert all(isinstance(error, EtcdGoneError) for error in failed)

        assert await ask(channel, b"again") == b"again"
        await channel.close()


async def test_calls_that_a_goaway_left_unprocessed_are_repeated_on_a_new_connection(
    socket: Path,
) -> None:
    def leave(session: Session, stream: int, content: bytes) -> bytes:
        if session.number == 0 and session.asked == 3:
            return goaway(3) + answer(1, b"old") + answer(3, b"old")
        return answer(stream, b"new") if session.number else b""

    server = Server(leave)
    async with server.listening(socket) as target:
        channel = channel_to(target)

        answers = await asyncio.gather(*(ask(channel) for _ in range(5)))

        assert answers == [b"old", b"old", b"new", b"new", b"new"]
        await eventually(lambda: server.sessions[0].is_over)
        await channel.close()


async def test_calls_go_to_a_new_connection_while_the_old_one_ends(socket: Path) -> None:
    def leave(session: Session, stream: int, content: bytes) -> bytes:
        return answer(stream, content) if session.number else goaway(LARGEST_WINDOW)

    server = Server(leave)
    async with server.listening(socket) as target, asyncio.TaskGroup() as tasks:
        channel = channel_to(target)
        old = tasks.create_task(ask(channel))
        await eventually(lambda: server.sessions and server.sessions[0].asked)
        await asyncio.sleep(0.01)

        assert await ask(channel, b"new") == b"new"
        assert not old.done()
        server.sessions[0].transport.write(answer(1, b"at last"))
        assert await old == b"at last"
        await eventually(lambda: server.sessions[0].is_over)
        await channel.close()


async def test_a_refused_stream_is_opened_again(socket: Path) -> None:
    def refuse_some(session: Session, stream: int, content: bytes) -> bytes:
        if stream < 7:
            return rst_stream(stream, REFUSED_STREAM)
        return answer(stream, content)

    async with Server(refuse_some).listening(socket) as target:
        channel = channel_to(target)
        assert await ask(channel, b"patient") == b"patient"
        await channel.close()


async def test_a_server_that_refuses_every_stream_is_given_up(socket: Path) -> None:
    def refuse(session: Session, stream: int, content: bytes) -> bytes:
        return rst_stream(stream, REFUSED_STREAM)

    async with Server(refuse).listening(socket) as target:
        channel = channel_to(target)
        with pytest.raises(EtcdGoneError, match="no more calls"):
            await ask(channel)
        await channel.close()


async def test_a_call_without_an_answer_ends_at_its_deadline(socket: Path) -> None:
    server = Server()
    async with server.listening(socket) as target:
        channel = channel_to(target)
        await ask(channel)
        server.reply = silent
        with pytest.raises(EtcdGoneError, match="did not answer in time"):
            await ask(channel, within=0.05)
        await channel.close()


async def test_a_server_that_never_greets_is_given_up_at_the_deadline(socket: Path) -> None:
    server = Server(greeting=b"")
    async with server.listening(socket) as target:
        channel = channel_to(target)
        with pytest.raises(EtcdGoneError, match="does not answer"):
            await ask(channel, within=0.05)
        await eventually(lambda: server.sessions[0].is_over)
        await channel.close()


async def test_a_server_of_another_protocol_is_reported(socket: Path) -> None:
    server = Server(greeting=b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    async with server.listening(socket) as target:
        channel = channel_to(target)
        with pytest.raises(EtcdGoneError, match="does not speak HTTP/2"):
            await ask(channel)
        await channel.close()


async def test_a_cancelled_call_is_called_off(socket: Path) -> None:
    server = Server(silent)
    async with server.listening(socket) as target:
        channel = channel_to(target)
        for number in range(1, 4):
            call = asyncio.create_task(ask(channel))
            await eventually(partial(has_asked, server, number))
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        server.reply = echo
        assert await ask(channel, b"next") == b"next"
        await eventually(lambda: server.sessions[0].resets == [1, 3, 5])
        await channel.close()


async def test_a_waiting_call_dials_when_the_dialling_call_is_cancelled(socket: Path) -> None:
    server = Server(greeting=b"")
    async with server.listening(socket) as target, asyncio.TaskGroup() as tasks:
        channel = channel_to(target)
        first = tasks.create_task(ask(channel))
        second = tasks.create_task(ask(channel, b"second"))
        await eventually(lambda: server.sessions)
        server.greeting = Server().greeting
        first.cancel()

        assert await second == b"second"
        await eventually(lambda: server.sessions[0].is_over)
        await channel.close()


async def test_closing_fails_what_is_under_way_and_what_comes_after(socket: Path) -> None:
    server = Server(silent)
    async with server.listening(socket) as target:
        channel = channel_to(target)
        async with asyncio.TaskGroup() as tasks:
            under_way = tasks.create_task(expect_closed(channel))
            await eventually(lambda: server.sessions and server.sessions[0].asked)
            await channel.close()
        await under_way
        await expect_closed(channel)
        await eventually(lambda: server.sessions[0].is_over)
        await channel.close()


async def expect_closed(channel: Channel) -> None:
    with pytest.raises(EtcdGoneError, match="closed on our side"):
        await ask(channel)


async def test_closing_while_dialling_leaves_no_connection(socket: Path) -> None:
    server = Server(greeting=b"")
    async with server.listening(socket) as target:
        channel = channel_to(target)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(expect_closed(channel))
            await eventually(lambda: server.sessions)
            await channel.close()
            server.sessions[0].transport.write(Server().greeting)
        await eventually(lambda: server.sessions[0].is_over)


def pem(folder: Path) -> dict[str, Path]:
    known = certificates()
    contents = {"ca": known.ca, "cert": known.client.cert, "key": known.client.key}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in contents}


async def test_tls_proves_both_sides(socket: Path, tmp_path: Path) -> None:
    context = certificates().server_context(demand_client=True)
    context.set_alpn_protocols(["h2"])
    async with Server().listening(socket, context) as target:
        files = pem(tmp_path)
        channel = channel_to(target, **files)
        assert await ask(channel, b"x" * 100_000) == b"x" * 100_000
        await channel.close()

        nobody = channel_to(target, ca=files["ca"])
        with pytest.raises(EtcdGoneError, match="cannot be reached"):
            await ask(nobody)
        await nobody.close()


async def test_a_server_of_another_authority_is_not_trusted(socket: Path, tmp_path: Path) -> None:
    context = certificates("other").server_context()
    async with Server().listening(socket, context) as target:
        channel = channel_to(target, **pem(tmp_path))
        with pytest.raises(EtcdGoneError, match="cannot be trusted"):
            await ask(channel)
        await channel.close()


async def test_a_server_of_another_authority_is_accepted_if_that_is_asked(socket: Path) -> None:
    context = certificates("other").server_context()
    async with Server().listening(socket, context) as target:
        address = EtcdAddress.of(target, ca=None, cert=None, key=None, accepts_any=True)
        channel = Channel(address)
        assert await ask(channel, b"hello") == b"hello"
        await channel.close()


async def test_unusable_certificates_are_reported(tmp_path: Path) -> None:
    files = pem(tmp_path)
    missing = channel_to("localhost:1", ca=tmp_path / "missing")
    failed = await asyncio.gather(*(ask(missing) for _ in range(5)), return_exceptions=True)
    assert {type(error) for error in failed} == {UnavailableError}
    assert str(failed[0]).endswith("missing') cannot be read: No such file or directory")
    foreign = channel_to("localhost:1", **files | {"key": files["ca"]})
    with pytest.raises(UnavailableError, match="cannot be used"):
        await ask(foreign)


@pytest.mark.parametrize(
    ("target", "socket_path", "host", "port", "authority"),
    [
        ("unix:/run/etcd.sock", "/run/etcd.sock", "localhost", 0, "localhost"),
        ("unix:///run/etcd.sock", "///run/etcd.sock", "localhost", 0, "localhost"),
        ("127.0.0.1:2379", None, "127.0.0.1", 2379, "127.0.0.1:2379"),
        ("[::1]:2379", None, "::1", 2379, "[::1]:2379"),
    ],
)
def test_an_address_is_a_socket_or_a_host_with_a_port(
    target: str, socket_path: str | None, host: str, port: int, authority: str
) -> None:
    address = EtcdAddress.of(target, ca=None, cert=None, key=None)

    assert (address.socket, address.host, address.port) == (socket_path, host, port)
    assert address.authority == authority


@pytest.mark.parametrize("target", ["", "unix:", "localhost", ":2379", "localhost:", "a:b"])
def test_what_is_no_address_is_refused(target: str) -> None:
    with pytest.raises(ConfigError, match="not an address of etcd"):
        EtcdAddress.of(target, ca=None, cert=None, key=None)

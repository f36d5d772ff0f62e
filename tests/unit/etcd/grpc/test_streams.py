"""Calls whose answer is any number of messages."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kwokctl.errors import EtcdGoneError, EtcdRefusedError
from kwokctl.etcd.grpc import http2_frames
from kwokctl.etcd.grpc.call import PREFIX, StreamCall
from kwokctl.etcd.grpc.channel import Channel
from kwokctl.etcd.grpc.dial_etcd import EtcdAddress
from tests.support.eventually import eventually
from tests.support.grpc_server import Server, Session
from tests.support.http2_peer import (
    BEGIN,
    END,
    OPENING,
    Peer,
    data,
    headers,
    message,
    refusal,
)


def _stream(peer: Peer) -> StreamCall:
    call = StreamCall(OPENING, b"", peer.loop.create_future())
    peer.client.start(call)
    return call


async def test_messages_come_one_after_the_other_however_they_are_cut() -> None:
    peer = Peer()
    call = _stream(peer)
    both = message(b"one") + message(b"") + message(b"three")

    peer.say(headers(1, BEGIN), data(1, both[:6]), data(1, both[6:12]), data(1, both[12:]))

    assert [await call.next() for _ in range(3)] == [b"one", b"", b"three"]
    waiting = asyncio.create_task(call.next())
    peer.say(data(1, message(b"late")))
    assert await waiting == b"late"
    peer.say(headers(1, END, ends=True))
    assert await call.next() is None


async def test_the_window_of_a_stream_never_ends() -> None:
    peer = Peer()
    _stream(peer)
    await peer.heard()

    peer.say(headers(1, BEGIN), data(1, message(b"x" * 100)))

    assert await peer.heard() == [(http2_frames.WINDOW_UPDATE, 0, 1, (105).to_bytes(4))]


async def test_what_has_come_before_an_error_is_still_read() -> None:
    peer = Peer()
    call = _stream(peer)

    peer.say(headers(1, BEGIN), data(1, message(b"one")), refusal(1, 7, b"not you"))

    assert await call.next() == b"one"
    with pytest.raises(EtcdRefusedError, match="not you"):
        await call.next()


@pytest.mark.parametrize("piece", [message(b"whole")[:-1], PREFIX.pack(1, 5) + b"whole"])
async def test_an_answer_that_is_cut_or_compressed_is_an_error(piece: bytes) -> None:
    peer = Peer()
    call = _stream(peer)

    peer.say(headers(1, BEGIN), data(1, piece), headers(1, END, ends=True))

    with pytest.raises(EtcdGoneError):
        await call.next()


async def _read(answers: AsyncGenerator[bytes], number: int) -> list[bytes]:
    async with aclosing(answers):
        return [await anext(answers) for _ in range(number)]


async def test_a_reader_that_leaves_cancels_the_call_and_others_go_on() -> None:
    def reply(session: Session, stream: int, content: bytes) -> bytes:
        begun = headers(stream, BEGIN) + data(stream, message(content))
        return begun if content == b"watch" else begun + headers(stream, END, ends=True)

    with TemporaryDirectory(prefix="etcd-") as folder:
        server = Server(reply)
        async with server.listening(Path(folder, "s")) as target:
            channel = Channel(EtcdAddress.of(target, ca=None, cert=None, key=None))

            watched = channel.stream("/a.Service/Watch", b"watch", within=30)
            assert await _read(watched, 1) == [b"watch"]

            await eventually(lambda: server.sessions[0].resets == [1])
            assert await channel.call("/a.Service/Method", b"call", within=30) == b"call"
            await channel.close()

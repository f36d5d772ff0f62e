"""Whatever windows a server grants, in whatever order: never more is sent, and all arrives."""

import random

import pytest

from kwokctl.etcd.grpc import http2_frames
from kwokctl.etcd.grpc.http2_frames import (
    DATA,
    END_STREAM,
    INITIAL_WINDOW_SIZE,
    MAX_FRAME_SIZE,
    RST_STREAM,
    settings,
    window_update,
)
from tests.support.http2_peer import Peer, message


class Strict:
    """A server that grants windows by chance, and keeps account of them."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.peer = Peer()
        self.window = self.initial = http2_frames.DEFAULT_WINDOW
        self.frame_size = http2_frames.DEFAULT_FRAME_SIZE
        self.windows: dict[int, int] = {}
        self.bodies: dict[int, bytes] = {}
        self.ended: set[int] = set()
        self.sent: dict[int, bytes] = {}
        self.cancelled: set[int] = set()

    async def account(self) -> None:
        """Take what the client has sent; it must fit into what it was granted."""
        for frame in await self.peer.heard():
            if frame.kind != DATA:
                continue
            size = len(frame.payload)
            assert size <= self.frame_size
            self.window -= size
            self.windows[frame.stream] -= size
            assert self.window >= 0
            assert self.windows[frame.stream] >= 0
            assert frame.stream not in self.ended
            self.bodies[frame.stream] += frame.payload
            if frame.flags & END_STREAM:
                self.ended.add(frame.stream)

    async def act(self) -> None:
        """Do one thing of those that a client or a server may do."""
        match self.dice.randrange(6):
            case 0 | 1:
                self._call()
            case 2:
                self._grant(0)
            case 3 if self.windows:
                self._grant(self.dice.choice([*self.windows]))
            case 4:
                # What is on its way may still use the windows of before.
                await self.account()
                self._resize(self.dice.choice((0, 10, 1000, 65_535, 200_000)))
            case 5 if self.dice.random() < 0.2:
                self._cancel()

    def _call(self) -> None:
        content = self.dice.randbytes(self.dice.choice((0, 5, 300, 17_000, 90_000)))
        call = self.peer.call(content)
        self.windows[call.stream] = self.initial
        self.bodies[call.stream] = b""
        self.sent[call.stream] = message(content)

    def _cancel(self) -> None:
        for stream, call in [*self.peer.client._calls.items()][:1]:
            self.peer.client.cancel(call)
            self.cancelled.add(stream)

    def _grant(self, stream: int, amount: int | None = None) -> None:
        amount = amount or self.dice.choice((1, 100, 20_000))
        if stream:
            self.windows[stream] += amount
        else:
            self.window += amount
        self.peer.say(window_update(stream, amount))

    def _resize(self, initial: int) -> None:
        self.frame_size = self.dice.choice((16_384, 16_385, 100_000))
        for stream in self.windows:
            self.windows[stream] += initial - self.initial
        self.initial = initial
        self.peer.say(settings({INITIAL_WINDOW_SIZE: initial, MAX_FRAME_SIZE: self.frame_size}))

    async def grant_all(self) -> None:
        await self.account()
        self._grant(0, 1 << 28)
        await self.account()
        self._resize(200_000)
        for stream in self.windows:
            self._grant(stream, 1 << 24)


@pytest.mark.parametrize("seed", range(10))
async def test_no_more_is_sent_than_was_granted_and_all_arrives(seed: int) -> None:
    server = Strict(seed)
    for _ in range(150):
        await server.act()
        if server.dice.random() < 0.7:
            await server.account()
    await server.grant_all()
    await server.account()

    kept = set(server.sent) - server.cancelled
    assert kept <= server.ended
    assert all(server.bodies[stream] == server.sent[stream] for stream in kept)


@pytest.mark.parametrize("seed", range(10))
async def test_noise_ends_a_connection_and_nothing_else(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        peer = Peer()
        peer.call(b"x" * 70_000)
        peer.call()
        for _ in range(20):
            size = dice.randrange(20)
            kind, flags, stream = dice.randrange(12), dice.getrandbits(8), dice.randrange(6)
            head = http2_frames.HEAD.pack(size << 8 | kind, flags, stream)
            peer.say(head + dice.randbytes(size))
            if peer.transport.is_aborted:
                break
        await peer.heard()


async def test_a_cancelled_call_gives_back_no_more_than_its_stream() -> None:
    peer = Peer()
    calls = [peer.call(b"x" * 70_000) for _ in range(3)]
    await peer.heard()

    for call in calls:
        peer.client.cancel(call)

    assert [f.kind for f in await peer.heard()] == [RST_STREAM] * 3
    call = peer.call(b"y")
    assert [f.kind for f in await peer.heard()] == [http2_frames.HEADERS]
    peer.say(window_update(0, 10))
    assert [f.stream for f in await peer.heard()] == [call.stream]

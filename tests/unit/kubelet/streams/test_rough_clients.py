"""Clients that send what makes no sense, break off in the middle, or do not read."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from kwokctl.kubelet.streams.spdy.protocol import SpdyProtocol
from kwokctl.kubelet.streams.spdy.spdy_frames import SpdyError
from tests.support import spdy_client
from tests.support.eventually import eventually
from tests.support.spdy_client import SpdyClient
from tests.unit.kubelet.streams.forward.test_port_forward import (
    BOTH,
    Target,
    connect,
    forwarded,
    forwarding,
)

LONGEST_ANSWER = 10_000


def talk() -> bytes:
    """Return what a client of port-forward sends that opens a connection and writes to it."""
    client = SpdyClient()
    names = {"port": "80", "requestid": "0"}
    return b"".join(
        (
            client.open(1, {"streamtype": "error", **names}),
            client.open(3, {"streamtype": "data", **names}),
            spdy_client.data(3, b"hello" * 20),
            spdy_client.ping(1),
            spdy_client.reset(1),
        )
    )


def damaged(seed: int) -> bytes:
    """Return the same with some bytes changed, left out, or more than once there."""
    random, text = Random(seed), bytearray(talk())
    for _ in range(random.randrange(1, 8)):
        at = random.randrange(len(text))
        match random.randrange(3):
            case 0:
                text[at] = random.randrange(256)
            case 1:
                del text[at : at + random.randrange(1, 9)]
            case _:
                text[at:at] = text[at : at + random.randrange(1, 40)]
    return bytes(text[: random.randrange(1, len(text))])


def pieces(text: bytes, random: Random) -> Iterator[bytes]:
    while text:
        size = random.randrange(1, 60)
        yield text[:size]
        text = text[size:]


def test_whatever_comes_is_understood_or_ends_the_connection() -> None:
    ended = 0
    for seed in range(2000):
        protocol = SpdyProtocol()
        try:
            for piece in pieces(damaged(seed), Random(seed)):
                list(protocol.receive(piece))
        except SpdyError:
            ended += 1
        assert len(protocol.take_output()) < LONGEST_ANSWER

    assert 200 < ended < 2000


@BOTH
async def test_damaged_connections_leave_nothing_and_stop_no_other(
    within_websocket: bool, caplog: pytest.LogCaptureFixture
) -> None:
    target = Target()
    async with (
        forwarded(target.echo) as port,
        forwarding(port, within_websocket=within_websocket) as other,
    ):
        connection = await connect(other, 80)
        await other.send(connection.data, b"before")
        await other.until(connection.data, b"before")
        before = descriptors()
        for seed in range(60):
            async with forwarding(port, within_websocket=within_websocket) as peer:
                with suppress(ConnectionError):  # the server may have closed it already
                    await peer.wire.send(damaged(seed))

        await eventually(lambda: descriptors() <= before)
        await other.send(connection.data, b"after")
        await other.end(connection.data)
        assert await connection.ended() == (b"beforeafter", "")
    assert "Traceback" not in caplog.text


@BOTH
async def test_a_client_that_does_not_read_holds_up_the_target(within_websocket: bool) -> None:
    written = 0

    async def flood(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        with suppress(ConnectionError):
            while True:
                writer.write(bytes(65536))
                await writer.drain()
                written += 1

    async with (
        forwarded(flood) as port,
        forwarding(port, within_websocket=within_websocket) as peer,
    ):
        await connect(peer, 80)
        peer.wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
        settled = await still(lambda: written)

    # What lies between: the kernel's buffers of two connections, and the server's.
    assert settled < 800


async def still(count: Callable[[], int]) -> int:
    """Return a count that does not grow any more."""
    former, same = -1, 0
    while same < 10:
        now = count()
        same = same + 1 if now == former and now > 0 else 0
        former = now
        await asyncio.sleep(0.05)
    return former


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))

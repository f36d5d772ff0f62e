"""The server's side of an HTTP/2 connection, in memory: the frames sent to a client, and those it sends."""

import asyncio
from typing import Any, NamedTuple

from kwokctl.etcd.grpc import hpack, http2_frames
from kwokctl.etcd.grpc.call import PREFIX, Opening, RpcCall
from kwokctl.etcd.grpc.grpc_connection import GrpcConnection

OPENING = Opening("/a.Service/Method", "localhost", is_secure=False)
BEGIN = hpack.encode([(b":status", b"200"), (b"content-type", b"application/grpc")])
END = hpack.encode([(b"grpc-status", b"0"), (b"grpc-message", b"")])


class Frame(NamedTuple):
    """A frame that the client has sent."""

    kind: int
    flags: int
    stream: int
    payload: bytes


def parse(data: bytes) -> list[Frame]:
    """Take whole frames apart."""
    found = []
    while data:
        size = int.from_bytes(data[:3])
        stream = int.from_bytes(data[5:9])
        found.append(Frame(data[3], data[4], stream, data[9 : 9 + size]))
        data = data[9 + size :]
    return found


def headers(stream: int, block: bytes, *, ends: bool = False) -> bytes:
    """Return a whole block of headers in one frame."""
    flags = http2_frames.END_HEADERS | (http2_frames.END_STREAM if ends else 0)
    return http2_frames.frame(http2_frames.HEADERS, flags, stream, block)


def data(stream: int, payload: bytes) -> bytes:
    """Return a frame with a piece of an answer."""
    return http2_frames.frame(http2_frames.DATA, 0, stream, payload)


def message(content: bytes) -> bytes:
    """Return a message as gRPC sends it."""
    return PREFIX.pack(0, len(content)) + content


def answer(stream: int, content: bytes = b"") -> bytes:
    """Return all the frames of an answer."""
    whole, size = message(content), http2_frames.DEFAULT_FRAME_SIZE
    body = b"".join(data(stream, whole[at : at + size]) for at in range(0, len(whole), size))
    return headers(stream, BEGIN) + body + headers(stream, END, ends=True)


def refusal(stream: int, code: int, text: bytes) -> bytes:
    """Return an answer that is nothing but an error."""
    block = [(b":status", b"200"), (b"grpc-status", b"%d" % code), (b"grpc-message", text)]
    return headers(stream, hpack.encode(block), ends=True)


def goaway(last: int) -> bytes:
    """Return a goodbye after stream `last`."""
    return http2_frames.frame(http2_frames.GOAWAY, 0, 0, last.to_bytes(4) + bytes(4))


class _Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.is_aborted = False

    def write(self, data: Any) -> None:
        assert not self.is_aborted
        self.writes.append(bytes(data))

    def abort(self) -> None:
        self.is_aborted = True

    def is_closing(self) -> bool:
        return self.is_aborted


class Peer:
    """A server that sends the preface, and then only what a test gives it."""

    def __init__(
        self, settings: dict[int, int] | None = None, *, greets: bool = True, **how: Any
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.transport = _Transport()
        self.client = GrpcConnection(self.loop, "peer", **how)
        self.client.connection_made(self.transport)
        self.opening = self.transport.writes.pop()
        if greets:
            self.say(http2_frames.settings(settings or {}))

    def say(self, *parts: bytes) -> None:
        """Say this to the client, in one piece."""
        self.client.data_received(b"".join(parts))

    async def heard(self) -> list[Frame]:
        """Return what the client has said since the last time, but for acknowledged settings."""
        for _ in range(3):
            await asyncio.sleep(0)
        said = b"".join(self.transport.writes)
        self.transport.writes.clear()
        return [
            f for f in parse(said) if (f.kind, f.flags) != (http2_frames.SETTINGS, http2_frames.ACK)
        ]

    def call(self, content: bytes = b"", *, within: float = 30.0) -> RpcCall:
        """Have the client call a method with a message."""
        call = RpcCall(OPENING, content, self.loop.time() + within, self.loop.create_future())
        self.client.start(call)
        return call


async def wrong(call: RpcCall) -> BaseException:
    """Return what a call fails with."""
    await asyncio.wait([call.answer], timeout=5)
    error = call.answer.exception()
    assert error is not None
    return error

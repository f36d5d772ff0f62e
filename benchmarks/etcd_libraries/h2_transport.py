"""gRPC over the `h2` package: it frames, compresses headers and counts windows; the rest is here.

Written as cheaply as `h2` allows: its checks are off, and what is sent in one turn of the event loop
goes out in one write. Deadlines, new connections and refusals are left out.
"""

import asyncio
from typing import cast

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, StreamEnded, TrailersReceived, WindowUpdated

from kwokctl.etcd.grpc.call import PREFIX

_WINDOW = 1 << 30


class _Call:
    __slots__ = ("answer", "pieces", "status")

    def __init__(self, answer: asyncio.Future[bytes]) -> None:
        self.answer = answer
        self.pieces: list[bytes] = []
        self.status = b"0"

    def finish(self) -> None:
        if self.status == b"0":
            self.answer.set_result(b"".join(self.pieces)[PREFIX.size :])
        else:
            self.answer.set_exception(AssertionError(f"gRPC status {self.status!r}"))


class _Connection(asyncio.Protocol):
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._http = H2Connection(
            H2Configuration(
                client_side=True,
                header_encoding=None,
                validate_outbound_headers=False,
                normalize_outbound_headers=False,
                validate_inbound_headers=False,
                normalize_inbound_headers=False,
            )
        )
        self._transport: asyncio.Transport | None = None
        self._calls: dict[int, _Call] = {}
        self._blocked: dict[int, memoryview] = {}
        self._will_flush = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._http.initiate_connection()
        self._http.increment_flow_control_window(_WINDOW)
        self._flush()

    def start(self, headers: list[tuple[bytes, bytes]], message: bytes) -> asyncio.Future[bytes]:
        stream = self._http.get_next_available_stream_id()
        call = self._calls[stream] = _Call(self._loop.create_future())
        self._http.send_headers(stream, headers)
        self._send(stream, memoryview(PREFIX.pack(0, len(message)) + message))
        self._flush_soon()
        return call.answer

    def data_received(self, data: bytes) -> None:
        for event in self._http.receive_data(data):
            self._take(event)
        self._flush_soon()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _take(self, event: Event) -> None:
        if isinstance(event, DataReceived):
            self._http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            self._calls[event.stream_id].pieces.append(event.data)
        elif isinstance(event, TrailersReceived):
            self._calls[event.stream_id].status = dict(event.headers)[b"grpc-status"]
        elif isinstance(event, StreamEnded):
            self._calls.pop(event.stream_id).finish()
        elif isinstance(event, WindowUpdated) and self._blocked:
            blocked, self._blocked = self._blocked, {}
            for stream, rest in blocked.items():
                self._send(stream, rest)

    def _send(self, stream: int, data: memoryview) -> None:
        while data:
            window = self._http.local_flow_control_window(stream)
            room = min(window, self._http.max_outbound_frame_size)
            if room <= 0:
                self._blocked[stream] = data
                return
            part, data = data[:room], data[room:]
            self._http.send_data(stream, part.tobytes(), end_stream=not data)

    def _flush_soon(self) -> None:
        if not self._will_flush:
            self._will_flush = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._will_flush = False
        if self._transport is not None and (data := self._http.data_to_send()):
            self._transport.write(data)


class H2Transport:
    """One connection to a unix socket."""

    def __init__(self, target: str) -> None:
        self._socket = target.removeprefix("unix:")
        self._connection: _Connection | None = None
        self._headers: dict[str, list[tuple[bytes, bytes]]] = {}

    async def call(self, path: str, message: bytes, *, within: float) -> bytes:
        if self._connection is None:
            loop = asyncio.get_running_loop()
            _, self._connection = await loop.create_unix_connection(
                lambda: _Connection(loop), self._socket
            )
        headers = self._headers.get(path)
        if headers is None:
            headers = self._headers[path] = _headers(path)
        return await self._connection.start(headers, message)

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _headers(path: str) -> list[tuple[bytes, bytes]]:
    return [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", path.encode()),
        (b":authority", b"localhost"),
        (b"content-type", b"application/grpc"),
        (b"te", b"trailers"),
    ]

"""One HTTP/2 connection to etcd that carries many gRPC calls at a time, made to cost little."""

import asyncio
from collections import deque
from typing import cast

from kwokctl.etcd.grpc import http2_frames
from kwokctl.etcd.grpc.call import Deadlines, RpcCall, RpcOutcome
from kwokctl.etcd.grpc.call_errors import NotProcessedError, explained, gone, refused
from kwokctl.etcd.grpc.frame_sender import Sender
from kwokctl.etcd.grpc.http2_frames import LARGEST_WINDOW, PeerError
from kwokctl.etcd.grpc.receiver import Receiver

_REPLENISH_AFTER = 1 << 20
"""Bytes that are received before the server gets a WINDOW_UPDATE for them."""
_KNOWN_BLOCKS = 64
_UNKNOWN = 2
"""The gRPC status of what ended without one."""


class GrpcConnection(asyncio.Protocol):
    """Carries calls until it is lost or retired; a retired one ends with the last of its calls."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, target: str, *, last_stream: int = LARGEST_WINDOW
    ) -> None:
        """Wait to be connected.

        Streams are numbered up to `last_stream`: a connection that has used them up is retired.
        """
        self._loop = loop
        self._target = target
        self._last_stream = last_stream
        self._transport: asyncio.Transport | None = None
        self._sender = Sender(loop, self._write)
        self._receiver = Receiver(self)
        self._deadlines = Deadlines(loop, self._fail_late)
        self._calls: dict[int, RpcCall] = {}
        self._waiting: deque[RpcCall] = deque()
        """Calls for which there is no stream yet."""
        self._next_stream = 1
        self._streams_at_most = LARGEST_WINDOW
        self._heard = 0
        self._unreplenished = 0
        self._outcomes: dict[bytes, RpcOutcome] = {}
        self.is_usable = True
        """Whether new calls may be given to it."""
        self.greeted: asyncio.Future[str | None] = loop.create_future()
        """Done once the server has sent its settings: None; or why it never will."""
        self.lost = asyncio.Event()
        """Set once the connection is over."""

    def start(self, call: RpcCall) -> None:
        """Send a call; its answer, or what went wrong, goes to its future."""
        call.heard = self._heard
        self._deadlines.add(call.deadline)
        if len(self._calls) >= self._streams_at_most:
            self._waiting.append(call)
        else:
            self._open(call)

    def cancel(self, call: RpcCall) -> None:
        """Give up a call, if it is still under way; nothing of it stays behind."""
        if self._calls.pop(call.stream, None) is not None:
            self._sender.forget(call.stream)
            self._sender.put(http2_frames.rst_stream(call.stream, http2_frames.CANCEL))
            self._go_on()
        elif call in self._waiting:
            self._waiting.remove(call)

    def close(self) -> None:
        """End the connection at once; calls under way fail."""
        self._end("it was closed on our side")

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the preface of a client."""
        # uvloop's transports do not derive from asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(http2_frames.OPENING)

    def data_received(self, data: bytes) -> None:
        """Take the received bytes."""
        self._heard += 1
        try:
            self._receiver.feed(data)
        except PeerError as e:
            self._end(f"its answer cannot be decoded: {e}")

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail what is under way."""
        self._transport = None
        self._end(explained(exc) if exc else "the server closed it")
        self.lost.set()

    # Called for what the server sends.

    def on_data(self, stream: int, payload: bytes, size: int, *, ends: bool) -> None:
        """Keep a piece of an answer."""
        self._unreplenished += size
        if self._unreplenished >= _REPLENISH_AFTER:
            self._sender.put(http2_frames.window_update(0, self._unreplenished))
            self._unreplenished = 0
        call = self._calls.get(stream)
        if call is None:
            self._check_known(stream)
            return
        if not call.take(payload):
            call.fail(gone(self._target, "its answer is compressed"))
            self.cancel(call)
            return
        if call.is_stream:
            # Its window would be used up some day.
            self._sender.put(http2_frames.window_update(stream, size))
        if ends:
            self._finish(call, refused(_UNKNOWN, "its answer has no status"))

    def on_headers(self, stream: int, block: bytes, *, ends: bool) -> None:
        """Handle the headers of an answer, or its trailers."""
        outcome = self._outcomes.get(block)
        if outcome is None:
            outcome = self._learn(block)
        call = self._calls.get(stream)
        if call is None:
            self._check_known(stream)
        elif outcome.http_status >= 300:
            self._finish(call, refused(_UNKNOWN, f"HTTP status {outcome.http_status}"))
        elif not ends:
            return
        elif outcome.code == 0:
            self._finish(call, None)
        elif outcome.code > 0:
            self._finish(call, refused(outcome.code, outcome.text))
        else:
            self._finish(call, refused(_UNKNOWN, "its answer has no status"))

    def on_reset(self, stream: int, code: int) -> None:
        """Fail the call whose stream the server has reset."""
        call = self._calls.get(stream)
        if call is None:
            self._check_known(stream)
            return
        self._sender.forget(stream)
        if code == http2_frames.REFUSED_STREAM:
            self._finish(call, NotProcessedError())
        else:
            self._finish(call, gone(self._target, f"it cancelled the call (HTTP/2 error {code})"))

    def on_settings(self, settings: dict[int, int]) -> None:
        """Apply the server's settings."""
        self._sender.put(http2_frames.frame(http2_frames.SETTINGS, http2_frames.ACK, 0))
        self._streams_at_most = settings.get(
            http2_frames.MAX_CONCURRENT_STREAMS, self._streams_at_most
        )
        self._sender.adjust(settings)
        if not self.greeted.done():
            self.greeted.set_result(None)
        self._go_on()

    def on_ping(self, payload: bytes) -> None:
        """Answer a ping at once: the server measures by it how large its windows should be."""
        self._sender.put(http2_frames.frame(http2_frames.PING, http2_frames.ACK, 0, payload))

    def on_goaway(self, last: int) -> None:
        """Open no new streams; calls that the server has not processed may be sent elsewhere."""
        self.is_usable = False
        for call in [call for stream, call in self._calls.items() if stream > last]:
            self._sender.forget(call.stream)
            self._finish(call, NotProcessedError())
        self._go_on()

    def on_window(self, stream: int, increment: int) -> None:
        """Send what was held back."""
        self._sender.widen(stream, increment)

    # Calls.

    def _open(self, call: RpcCall) -> None:
        stream = self._next_stream
        if stream > self._last_stream:
            self.is_usable = False
            call.fail(NotProcessedError())
            return
        call.stream = stream
        self._next_stream = stream + 2
        self._calls[stream] = call
        self._sender.open(call)

    def _finish(self, call: RpcCall, error: Exception | None) -> None:
        del self._calls[call.stream]
        if self._sender.forget(call.stream):
            # The server has answered before the whole request was sent: it needs no more of it.
            self._sender.put(http2_frames.rst_stream(call.stream, http2_frames.CANCEL))
        if error is not None:
            call.fail(error)
        elif not call.succeed():
            call.fail(gone(self._target, "its answer is not one whole message"))
        if self._waiting or not self.is_usable:
            self._go_on()

    def _go_on(self) -> None:
        """Open streams for calls that wait; end a retired connection that has no more to do."""
        if self.is_usable:
            while self._waiting and len(self._calls) < self._streams_at_most:
                self._open(self._waiting.popleft())
        if self.is_usable:
            return
        while self._waiting:
            self._waiting.popleft().fail(NotProcessedError())
        if not self._calls:
            self._end("it was retired")

    def _learn(self, block: bytes) -> RpcOutcome:
        """Decode a block and keep the result: the next of the same bytes has the same."""
        if len(self._outcomes) >= _KNOWN_BLOCKS:
            self._outcomes.clear()
        outcome = self._outcomes[block] = RpcOutcome(block)
        return outcome

    def _check_known(self, stream: int) -> None:
        """Accept late frames of a stream that has ended, none of one that was never opened."""
        if stream % 2 == 0 or stream >= self._next_stream:
            raise PeerError(f"stream {stream} was never opened")

    def _fail_late(self) -> None:
        """Fail the calls whose deadline has passed."""
        now = self._loop.time()
        for call in [c for c in (*self._calls.values(), *self._waiting) if c.deadline <= now]:
            call.fail(gone(self._target, "it did not answer in time"))
            if call.heard == self._heard:
                # Not a byte was received in all that time: other calls must not wait for this
                # connection, too.
                self.is_usable = False
            self.cancel(call)
        for call in (*self._calls.values(), *self._waiting):
            self._deadlines.add(call.deadline)
        self._go_on()

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def _end(self, why: str) -> None:
        """Drop the connection, and fail all calls that wait for it."""
        self.is_usable = False
        self._deadlines.clear()
        if not self.greeted.done():
            self.greeted.set_result(why)
        while self._waiting:
            self._waiting.popleft().fail(NotProcessedError())
        calls, self._calls = self._calls, {}
        for call in calls.values():
            call.fail(gone(self._target, why))
        if self._transport is not None:
            # Data that is still unsent is of no use any more.
            self._transport.abort()

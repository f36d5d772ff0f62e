"""A connection of a server: requests come out, answers go in, both held back if need be."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from kwokctl.embedded.http.client_limits import KNOWN, MOST_DROPPED, STRANGER, ConnectionLimits
from kwokctl.embedded.http.messages import RefusedError
from kwokctl.embedded.http.parsing import RequestHead, read_body, read_head

_END_OF_HEAD = b"\r\n\r\n"
_HANDSHAKE = b"\x16"
"""The beginning of a TLS handshake, but not of a request."""
_SILENCE = 0.5
"""Seconds in which a client over TLS that sends nothing has sent all, and in which it must answer the end of TLS."""
BUFFER_BYTES = 16 * 1024
"""Bytes that are received at once, as many as TLS has in a record."""


class ServedConnection(asyncio.BufferedProtocol):
    """One connection, over TLS or not; a `RawStream` once it was taken over.

    What is received stays bytes until it is asked for: one head at a time becomes a request.
    """

    def __init__(self, buffer: bytearray, local_host: str = "") -> None:
        """Wait to be connected; the address that was dialled is `local_host`, if that is known.

        What is received passes through `buffer`, which connections of one loop may share.
        """
        self._buffer = buffer
        self._local_host = local_host
        self.limits: ConnectionLimits = STRANGER
        self.is_lost = False
        self.is_in_step = True
        """Whether a request comes next, and no rest of the last one."""
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._searched = 0
        """The position from which the end of a head is searched: it is not before that."""
        self._is_held_back = False
        self._dropping: int | None = None
        """The number of bytes that may still come, and are dropped."""
        self._has_ended = False
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._reader: asyncio.Task[object] | None = None

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        """The client's certificate as `ssl` describes it, which has been verified."""
        found = self._extra("peercert")
        return cast("Mapping[str, Any]", found) if found else None

    @property
    def is_encrypted(self) -> bool:
        """Whether it is a connection over TLS."""
        return self._extra("ssl_object") is not None

    @property
    def _is_tls_in_vain(self) -> bool:
        """Whether the client begins a handshake of TLS on a port without: it waits for no answer of HTTP."""
        return self._received[:1] == _HANDSHAKE and self._extra("ssl_object") is None

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)
        name = self._extra("sockname")
        dialled = str(name[0]) if isinstance(name, tuple) else ""
        self._local_host = self._local_host or dialled

    def get_buffer(self, sizehint: int) -> bytearray:
        """Return where the next bytes go: the kernel keeps the others."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Keep what was received."""
        if self._dropping is None:
            self._received += memoryview(self._buffer)[:nbytes]
            self._hold_back()
        elif nbytes > self._dropping:
            self.abort()
        else:
            self._dropping -= nbytes
        self._news.set()

    def eof_received(self) -> bool:
        """Note that nothing more comes; the answer is still written."""
        self._has_ended = True
        self._news.set()
        return self._extra("ssl_object") is None

    def connection_lost(self, error: Exception | None) -> None:
        """End whatever waits, and let go of the transport, with its buffers.

        Over TLS it holds 0.7 MB, and refers to this protocol: until the garbage collector found that out, a
        stranger who dials again and again would have filled the memory.
        """
        self._transport = None
        self.is_lost = self._has_ended = True
        self._news.set()
        self._writable.set()
        if self._reader is not None:
            self._reader.cancel()

    def pause_writing(self) -> None:
        """Pause the writers."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Resume the writers."""
        self._writable.set()

    # Called by the server.

    def trust(self) -> None:
        """Give the client the limits of those who have shown a credential."""
        self.limits = KNOWN
        self._hold_back()

    async def next(self) -> RequestHead | None:
        """Return the head of the next request; None if none comes any more. RefusedError for a wrong one."""
        if self._received:  # sent ahead: that must not keep others waiting
            await asyncio.sleep(0)
        while (head := self._taken_head()) is None:
            if self._has_ended or self._is_tls_in_vain:
                return None
            await self._wait()
        if self.is_lost:
            return None
        read = read_head(head, self._local_host)
        self.is_in_step = not (read.has_body or read.wants_upgrade)
        return read

    async def body(self, head: RequestHead) -> bytes:
        """Return the body of the request that `next` has returned.

        Raises RefusedError if it is too long or wrong, ClientGoneError if the client goes.
        """
        body = await read_body(head, self.take)
        self.is_in_step = not (head.is_chunked or head.wants_upgrade)
        return body

    async def take(self, most: int) -> bytes:
        """Return received bytes, at most `most`; b"" at the end."""
        while not self._received:
            if self._has_ended:
                return b""
            await self._wait()
        return self._taken(most)

    async def read(self) -> bytes:
        """Return the received bytes of a connection that was taken over, b"" at the end."""
        return await self.take(self.limits.head)

    async def send(self, data: bytes) -> None:
        """Write; waits while the client does not take what was written before.

        Raises ConnectionError when the client is gone.
        """
        if not self.is_lost and self._transport is not None:
            self._transport.write(data)
        if not self._writable.is_set():
            await self._writable.wait()
        if self.is_lost:
            raise ConnectionResetError("the client is gone")

    async def write(self, data: bytes) -> None:
        """Write bytes of a connection that was taken over."""
        await self.send(data)

    def cancel_when_lost(self, task: asyncio.Task[object] | None) -> None:
        """Cancel a task when the client goes, or none any more."""
        self._reader = task
        if task is not None and self.is_lost:
            task.cancel()

    async def close(self) -> None:
        """Close; what was written is sent before."""
        if self._transport is not None:
            self._transport.close()

    async def end(self) -> None:
        """Close when the client has taken what was written; what it still sends is dropped, if it is not much.

        Closed at once, it might lose the answer to a request that it still sends: the kernel resets such a
        connection (https://www.rfc-editor.org/rfc/rfc9112.html#section-9.6). TLS has no half-closed connections
        here, and a transport that closes decrypts and drops whatever comes, without a limit: it is closed when the
        client is silent, and not for long.
        """
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        self._dropping = MOST_DROPPED
        self._received.clear()
        self._hold_back()
        if transport.can_write_eof():
            transport.write_eof()
            while not self._has_ended:
                await self._wait()
            transport.close()
            while not self.is_lost:
                await self._wait()
            return
        transport.set_write_buffer_limits(high=1, low=0)
        await self._writable.wait()
        with suppress(TimeoutError):
            while not (self._has_ended or self.is_in_step):
                await asyncio.wait_for(self._wait(), _SILENCE)
        transport.close()
        async with asyncio.timeout(_SILENCE):
            while not self.is_lost:
                await self._wait()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    def _taken_head(self) -> bytes | None:
        """Take the head of a request from what was received; None if it has not come whole.

        Raises RefusedError if it is longer than this client's may be.
        """
        if self._received.startswith((b"\r", b"\n")):  # as some send behind a body
            self._received = self._received.lstrip(b"\r\n")
            self._searched = 0
        found = self._received.find(_END_OF_HEAD, self._searched)
        length = found + len(_END_OF_HEAD) if found >= 0 else len(self._received)
        if length > self.limits.head:
            self.is_in_step = False
            raise RefusedError(431, "the head of the request is too long")
        if found < 0:
            self._searched = max(0, length - len(_END_OF_HEAD) + 1)
            self._hold_back()
            return None
        return self._taken(length)

    def _taken(self, most: int) -> bytes:
        found = bytes(self._received[:most])
        del self._received[:most]
        self._searched = 0
        self._hold_back()
        return found

    async def _wait(self) -> None:
        self._news.clear()
        await self._news.wait()

    def _hold_back(self) -> None:
        """Pause reading while the client sends faster than it is served."""
        is_much = len(self._received) > self.limits.head
        if is_much == self._is_held_back or self._transport is None:
            return
        self._is_held_back = is_much
        if self._transport.is_closing():
            return
        if is_much:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _extra(self, name: str) -> object:
        return None if self._transport is None else self._transport.get_extra_info(name)

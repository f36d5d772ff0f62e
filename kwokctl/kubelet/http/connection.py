"""A connection of the kubelet server: requests come out, answers go in, both held back if need be."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from kwokctl.kubelet.http.messages import RefusedError
from kwokctl.kubelet.http.parsing import ParsedRequest, RequestParser

_MOST_UNREAD = 256 * 1024
"""Bytes, or requests, that are taken from a client before they are requested."""
_MOST_AHEAD = 8


class ServedConnection(asyncio.Protocol):
    """One connection, over TLS or not; a `RawStream` once it was taken over."""

    def __init__(self, local_host: str = "") -> None:
        """Wait to be connected; the address that was dialled is `local_host`, if that is known."""
        self._local_host = local_host
        self.is_lost = False
        self.began_badly: RefusedError | None = None
        self._transport: asyncio.Transport | None = None
        self._parser = RequestParser("")
        self._raw: bytearray | None = None
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

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)
        name = self._extra("sockname")
        dialled = str(name[0]) if isinstance(name, tuple) else ""
        self._parser = RequestParser(self._local_host or dialled)

    def data_received(self, data: bytes) -> None:
        """Parse a request, or keep the bytes of a connection that was taken over."""
        if self._raw is not None:
            self._raw += data
        elif self.began_badly is None:
            try:
                self._parser.feed(data)
            except RefusedError as e:
                self.began_badly = e
        self._hold_back()
        self._news.set()

    def eof_received(self) -> bool:
        """Note that nothing more comes; the answer is still written."""
        self._has_ended = True
        self._news.set()
        return self._raw is None and self._extra("ssl_object") is None

    def connection_lost(self, error: Exception | None) -> None:
        """End whatever waits."""
        self.is_lost = self._has_ended = True
        self._news.set()
        self._writable.set()
        if self._reader is not None:
            self._reader.cancel()

    def pause_writing(self) -> None:
        """Let writers wait."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let them go on."""
        self._writable.set()

    async def next(self) -> ParsedRequest | None:
        """Return the next request; None if none comes any more. RefusedError for a wrong one."""
        while not self._parser.requests:
            if self.began_badly is not None:
                raise self.began_badly
            if self._has_ended:
                return None
            await self._wait()
        found = self._parser.requests.popleft()
        self._hold_back()
        return found

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

    def cancel_when_lost(self, task: asyncio.Task[object] | None) -> None:
        """Cancel a task when the client goes, or none any more."""
        self._reader = task
        if task is not None and self.is_lost:
            task.cancel()

    def take_over(self) -> None:
        """From now on nothing is parsed: `read` and `write` are all there is."""
        self._raw = bytearray(self._parser.rest)
        self._parser.rest = b""

    async def read(self) -> bytes:
        """Return the received bytes, b"" at the end."""
        assert self._raw is not None
        while not self._raw:
            if self._has_ended:
                return b""
            await self._wait()
        data = bytes(self._raw)
        self._raw.clear()
        self._hold_back()
        return data

    async def write(self, data: bytes) -> None:
        """Write bytes of a connection that was taken over."""
        await self.send(data)

    async def close(self) -> None:
        """Close; what was written is sent before."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    async def _wait(self) -> None:
        self._news.clear()
        await self._news.wait()

    def _hold_back(self) -> None:
        """Let the client wait while it sends faster than it is served."""
        if self._transport is None or self._transport.is_closing():
            return
        unread = len(self._parser.rest if self._raw is None else self._raw)
        if unread > _MOST_UNREAD or len(self._parser.requests) > _MOST_AHEAD:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _extra(self, name: str) -> object:
        return None if self._transport is None else self._transport.get_extra_info(name)

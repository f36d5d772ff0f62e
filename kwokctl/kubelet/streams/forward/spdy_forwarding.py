"""Port-forward over SPDY: the client opens two streams for each connection, for data and for errors."""

import asyncio
import logging

from kwokctl.kubelet.streams.connections.spdy_connection import SpdyConnection, SpdyStream
from kwokctl.kubelet.streams.forward.forwarder import PodForwarder
from kwokctl.kubelet.streams.spdy.frames import ResetStatus

log = logging.getLogger(__name__)

PROTOCOLS = ("portforward.k8s.io",)
_PATIENCE = 30.0
"""Seconds in which the second stream must follow the first; the kubelet's default."""


class _Request:
    """The streams of one connection."""

    def __init__(self) -> None:
        self.streams: dict[str, SpdyStream] = {}
        self.is_whole = asyncio.Event()


class SpdyForwarding:
    """The connections that one client forwards."""

    def __init__(self, connection: SpdyConnection, forwarder: PodForwarder) -> None:
        """Forward what comes over `connection`."""
        self._connection, self._forwarder = connection, forwarder
        self._requests: dict[str, _Request] = {}

    async def serve(self) -> None:
        """Forward until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                stream = await self._connection.accept()
                kind = stream.headers.get("streamtype", "")
                if kind not in {"data", "error"} or _port(stream) is None:
                    await stream.reset(ResetStatus.PROTOCOL_ERROR)
                    continue
                key = _key(stream, kind)
                request = self._requests.get(key)
                if request is None:
                    request = self._requests[key] = _Request()
                    tasks.create_task(self._serve_one(key, request))
                await self._add(request, kind, stream)

    async def _add(self, request: _Request, kind: str, stream: SpdyStream) -> None:
        if kind in request.streams:
            await stream.reset(ResetStatus.STREAM_IN_USE)
            return
        request.streams[kind] = stream
        if len(request.streams) == 2:
            request.is_whole.set()

    async def _serve_one(self, key: str, request: _Request) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                await request.is_whole.wait()
        except TimeoutError:
            log.debug("a client has opened only one stream of a connection")
            for stream in request.streams.values():
                await stream.reset()
            return
        finally:
            del self._requests[key]
        await self._forward(request.streams["data"], request.streams["error"])

    async def _forward(self, data: SpdyStream, errors: SpdyStream) -> None:
        # Nothing is expected here, and nothing shall hold up the other streams.
        errors.inbox.drop()
        problem = await self._forwarder.forward(_port(data) or 0, data)
        if problem:
            await errors.write(problem.encode())
            await errors.end()
            await data.reset()
        else:
            await data.end()
            await errors.end()
            data.inbox.drop()


def _port(stream: SpdyStream) -> int | None:
    text = stream.headers.get("port", "")
    is_port = text.isascii() and text.isdecimal() and len(text) < 6 and 0 < int(text) < 1 << 16
    return int(text) if is_port else None


def _key(stream: SpdyStream, kind: str) -> str:
    """Return what the two streams of a connection have in common.

    Old clients give no number to it, and open the stream for errors before the one for data.
    """
    first = stream.number if kind == "error" else stream.number - 2
    return stream.headers.get("requestid") or f"stream {first}"

"""Serves a command to a client: opens its streams, runs it, and says how it ended."""

import logging
from collections.abc import Awaitable, Callable

import orjson

from kwokctl.embedded.http.messages import RawStream, Request
from kwokctl.kubelet.streams.connections.lifetime import while_connected
from kwokctl.kubelet.streams.connections.upgrade import (
    is_websocket,
    upgrade_to_spdy,
    upgrade_to_websocket,
)
from kwokctl.kubelet.streams.remote import channel_streams, spdy_streams
from kwokctl.kubelet.streams.remote.channel_streams import ChannelStreams
from kwokctl.kubelet.streams.remote.options import StreamOptions
from kwokctl.kubelet.streams.remote.spdy_streams import SpdyStreams
from kwokctl.kubelet.streams.remote.statuses import CommandEnd
from kwokctl.kubelet.streams.remote.streams import RemoteStreams, StreamName

log = logging.getLogger(__name__)

RemoteCommand = Callable[[RemoteStreams], Awaitable[CommandEnd]]
"""Runs for a client; it is cancelled when the client goes."""


async def serve_command(
    request: Request, raw: RawStream, options: StreamOptions, command: RemoteCommand
) -> None:
    """Take the connection over and run the command. Raises RefusedError if it cannot be upgraded."""
    streams = await _upgraded(request, raw, options)

    async def work() -> None:
        try:
            await streams.opened()
        except TimeoutError:
            log.debug("a client has not opened its streams in time")
            return
        await _tell(streams, await command(streams))

    await while_connected(streams, work)


async def _upgraded(request: Request, raw: RawStream, options: StreamOptions) -> RemoteStreams:
    if is_websocket(request):
        socket, protocol = await upgrade_to_websocket(request, raw, channel_streams.PROTOCOLS)
        return ChannelStreams(socket, protocol, options)
    connection, protocol = await upgrade_to_spdy(request, raw, spdy_streams.PROTOCOLS)
    return SpdyStreams(connection, protocol, options)


async def _tell(streams: RemoteStreams, end: CommandEnd) -> None:
    status = orjson.dumps(end.status()) if streams.has_statuses else end.message.encode()
    if status:
        await streams.write(StreamName.ERROR, status)

"""Serves a command to a client: opens its streams, runs it, and says how it ended."""

import logging
from collections.abc import Awaitable, Callable

import msgspec
import orjson

from kwokctl.embedded.http.messages import RawStream, Request
from kwokctl.json_value import Json
from kwokctl.kubelet.streams.command_streams import (
    CHANNEL_PROTOCOLS,
    SPDY_PROTOCOLS,
    ChannelStreams,
    RemoteStreams,
    SpdyStreams,
    StreamName,
    StreamOptions,
)
from kwokctl.kubelet.streams.connections.lifetime import while_connected
from kwokctl.kubelet.streams.connections.upgrade import (
    is_websocket,
    upgrade_to_spdy,
    upgrade_to_websocket,
)


class CommandEnd(msgspec.Struct, frozen=True):
    """Exit code and message; a command that could not be started has no code."""

    exit_code: int | None = 0
    problem: str = ""

    def status(self) -> dict[str, Json]:
        """Return it as a Status of the API (meta/v1), from which clients take the exit code."""
        metadata: dict[str, Json] = {"metadata": {}}
        if self.exit_code == 0:
            return metadata | {"status": "Success"}
        failure = metadata | {"status": "Failure", "message": self.message}
        if self.exit_code is None:
            return failure | {"reason": "InternalError", "code": 500}
        cause: dict[str, Json] = {"reason": "ExitCode", "message": str(self.exit_code)}
        return failure | {"reason": "NonZeroExitCode", "details": {"causes": [cause]}}

    @property
    def message(self) -> str:
        """Say it in words; empty if all went well."""
        if self.exit_code is None:
            return f"error executing command in container: {self.problem}"
        if self.exit_code == 0:
            return ""
        return f"command terminated with non-zero exit code: exit status {self.exit_code}"


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
        socket, protocol = await upgrade_to_websocket(request, raw, CHANNEL_PROTOCOLS)
        return ChannelStreams(socket, protocol, options)
    connection, protocol = await upgrade_to_spdy(request, raw, SPDY_PROTOCOLS)
    return SpdyStreams(connection, protocol, options)


async def _tell(streams: RemoteStreams, end: CommandEnd) -> None:
    status = orjson.dumps(end.status()) if streams.has_statuses else end.message.encode()
    if status:
        await streams.write(StreamName.ERROR, status)

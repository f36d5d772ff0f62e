"""A connection within a WebSocket connection: what messages carry is taken for one stream of bytes."""

from contextlib import suppress

from kwokctl.kubelet.streams.connections.websocket_connection import WebSocketConnection


class WebSocketTunnel:
    """The bytes in the messages of a WebSocket connection; where these end means nothing."""

    def __init__(self, socket: WebSocketConnection) -> None:
        """Use a connection whose handshake is done."""
        self._socket = socket

    async def read(self) -> bytes:
        """Return the received bytes, at least one byte; b"" at the end."""
        while (piece := await self._socket.receive()) is not None:
            if piece.data:
                return piece.data
        return b""

    async def write(self, data: bytes) -> None:
        """Send data; ConnectionError if the client is gone."""
        await self._socket.send(data)

    async def close(self) -> None:
        """Say that no more comes, to a client that is still there."""
        with suppress(ConnectionError):
            await self._socket.say_goodbye()

"""Upgrades a connection from HTTP to SPDY or WebSocket."""

import logging
from collections.abc import Sequence

from websockets.http11 import Request as Opening
from websockets.http11 import Response
from websockets.server import ServerProtocol

from kwokctl.embedded.http.messages import RawStream, RefusedError, Request
from kwokctl.kubelet.streams.connections.spdy_connection import SpdyConnection
from kwokctl.kubelet.streams.connections.websocket_connection import WebSocketConnection

# The library reports every connection.
_quiet = logging.getLogger(f"{__name__}.websockets")
_quiet.setLevel(logging.WARNING)

_SPDY = "SPDY/3.1"
_VERSION = "x-stream-protocol-version"
_SUBPROTOCOL = "sec-websocket-protocol"
_LONGEST_FRAME = 16 * 1024 * 1024
"""Of WebSocket, whose frames are read whole; those of the API server's clients have some 32 KiB."""


def is_websocket(request: Request) -> bool:
    """Tell whether a client wants WebSocket."""
    return _wants(request, "websocket")


def offers(request: Request, protocol: str) -> bool:
    """Tell whether a client of WebSocket offers a protocol."""
    return protocol in _words(request, _SUBPROTOCOL)


async def upgrade_to_spdy(
    request: Request, raw: RawStream, known: Sequence[str]
) -> tuple[SpdyConnection, str]:
    """Return the connection, and the first of the client's protocols that is known.

    Raises RefusedError if the client does not ask for SPDY, or for no protocol that is known.
    """
    if not _wants(request, _SPDY.lower()):
        raise RefusedError(
            400, f"this path is only for connections that become {_SPDY} or WebSocket"
        )
    offered = _words(request, _VERSION)
    if not offered:
        raise RefusedError(400, "the header 'X-Stream-Protocol-Version' is missing")
    protocol = next((each for each in offered if each in known), None)
    if protocol is None:
        raise RefusedError(403, f"only these stream protocols are supported: {', '.join(known)}")
    head = (
        f"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: {_SPDY}\r\n"
        f"X-Stream-Protocol-Version: {protocol}\r\n\r\n"
    )
    await raw.write(head.encode("ascii"))
    return SpdyConnection(raw), protocol


async def upgrade_to_websocket(
    request: Request, raw: RawStream, known: Sequence[str]
) -> tuple[WebSocketConnection, str]:
    """Return the connection, and the first of the client's protocols that is known.

    The protocol is empty if the client names none. Raises RefusedError if the client names only
    others, or does not speak WebSocket.
    """
    offered = _words(request, _SUBPROTOCOL)
    chosen = next((each for each in offered if each in known), "")
    if offered and not chosen:
        raise RefusedError(403, f"only these stream protocols are supported: {', '.join(known)}")
    protocol = ServerProtocol(max_size=(None, _LONGEST_FRAME), logger=_quiet)
    response = _accepted(protocol, request)
    if chosen:
        response.headers[_SUBPROTOCOL] = chosen
    protocol.send_response(response)
    await raw.write(b"".join(protocol.data_to_send()))
    return WebSocketConnection(protocol, raw), chosen


def _accepted(protocol: ServerProtocol, request: Request) -> Response:
    """Return the library's answer to a request, whose head it reads itself."""
    protocol.receive_data(_head(request))
    opening = next(iter(protocol.events_received()), None)
    if not isinstance(opening, Opening):
        raise RefusedError(400, "this is not a WebSocket request")
    response = protocol.accept(opening)
    if response.status_code != 101:
        raise RefusedError(response.status_code, (response.body or b"").decode().strip())
    return response


def _wants(request: Request, protocol: str) -> bool:
    upgrades = [each.lower() for each in _words(request, "upgrade")]
    return protocol in upgrades and "upgrade" in map(str.lower, _words(request, "connection"))


def _words(request: Request, name: str) -> list[str]:
    """Return what headers of a name list, one or several in each."""
    listed = (word.strip() for value in request.all_headers(name) for word in value.split(","))
    return [word for word in listed if word]


def _head(request: Request) -> bytes:
    """Return the request without its protocols: one of Kubernetes has no valid name (RFC 6455, 4.1)."""
    lines = (f"{name}: {value}" for name, value in request.headers if name != _SUBPROTOCOL)
    return "\r\n".join((f"{request.method} / HTTP/1.1", *lines, "", "")).encode("latin-1")

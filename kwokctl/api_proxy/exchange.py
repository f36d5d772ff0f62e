"""Passes one request on to the API server, and its answer back, as both come."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from kwokctl.api_proxy.client_identity import CertifiedUser
from kwokctl.api_proxy.request_bytes import body_bytes, head_bytes
from kwokctl.api_proxy.server_connection import ServerConnection
from kwokctl.embedded.http.messages import RefusedError
from kwokctl.embedded.http.parsing import ClientGoneError, RequestHead
from kwokctl.embedded.http.served_connection import ServedConnection
from kwokctl.errors import ApiError


async def exchange(
    client: ServedConnection,
    head: RequestHead,
    user: CertifiedUser | None,
    server: ServerConnection,
    answered: Callable[[int], None],
) -> bool:
    """Pass a request on, and its answer back; False if no further request can follow on these connections.

    `answered` gets the status as soon as it has come: the answer to a watch goes on for a long time.
    Raises RefusedError before anything is sent, and ConnectionError where it breaks off later. What a connection
    is upgraded to is passed on until either side ends it.
    """
    written = head_bytes(head, user)
    server.begin(asks_for_head=head.request.method == "HEAD")
    body: asyncio.Task[None] | None = None
    try:
        await server.send(written)
        if head.has_body:
            pieces = body_bytes(head, client.take)
            body = asyncio.get_running_loop().create_task(_pass_body(pieces, server))
        await _pass_back(server, client, answered)
    except ApiError as e:
        # Begun or not: a client may repeat what a connection has lost, if it is safe to repeat.
        raise ConnectionResetError(str(e)) from e
    finally:
        has_sent_all = body is None or _has_ended_well(body)
    return has_sent_all and server.is_kept and not server.is_tunnel


def _has_ended_well(body: asyncio.Task[None]) -> bool:
    """Return whether a body was passed on to its end; end the task."""
    if not body.done():
        body.cancel()
        return False
    return not body.cancelled() and body.exception() is None


async def _pass_body(pieces: AsyncIterator[bytes], server: ServerConnection) -> None:
    """Pass a body on; where it breaks off, the answer breaks off, too."""
    try:
        async for piece in pieces:
            await server.send(piece)
    except (ClientGoneError, RefusedError, ApiError):
        server.close()
        raise


async def _pass_back(
    server: ServerConnection, client: ServedConnection, answered: Callable[[int], None]
) -> None:
    is_said = False
    while piece := await server.read():
        if server.has_answered and not is_said:
            is_said = True
            answered(server.status)
        await client.send(piece)
        if server.is_tunnel:
            await _tunnel(server, client)
            return


async def _tunnel(server: ServerConnection, client: ServedConnection) -> None:
    """Pass bytes on both ways until one side ends; then both have ended, as TLS knows no other end."""

    async def there() -> None:
        while piece := await client.read():
            await server.send(piece)

    async def back() -> None:
        while piece := await server.read():
            await client.send(piece)

    ways = [asyncio.ensure_future(there()), asyncio.ensure_future(back())]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*ways, return_exceptions=True)
        server.close()

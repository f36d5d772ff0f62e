"""Serves clients as the API server does, request by request, with a connection of each client to the API server."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec

from kwokctl.api_proxy.api_fault import ApiFault, treatment
from kwokctl.api_proxy.api_request import ApiRequest, api_request
from kwokctl.api_proxy.client_identity import (
    CertifiedUser,
    Tokens,
    UnfitNameError,
    bearer_token,
    certified_user,
)
from kwokctl.api_proxy.exchange import exchange
from kwokctl.api_proxy.open_watches import OpenWatches
from kwokctl.api_proxy.refused_requests import refused, unreachable
from kwokctl.api_proxy.request_bytes import body_pieces
from kwokctl.api_proxy.server_connection import ServerConnection
from kwokctl.embedded.http.answer_bytes import refusal_of, whole_answer
from kwokctl.embedded.http.listening import connected, serve_each
from kwokctl.embedded.http.messages import Answer, RefusedError, Request
from kwokctl.embedded.http.parsing import ClientGoneError, RequestHead
from kwokctl.embedded.http.served_connection import BUFFER_BYTES, ServedConnection
from kwokctl.embedded.http.strangers import Strangers
from kwokctl.errors import ApiError
from kwokctl.kube.transport.dial import ServerAddress, dial

log = logging.getLogger(__name__)

_DIAL_WITHIN = 10.0
_UNAUTHORIZED = 401
_FIRST_ERROR = 400
_OF_KNOWN = frozenset({403, 404})
"""Errors that the API server answers only after it has looked at the credential; 400 and 503, say, come before."""


class ApiServer(msgspec.Struct, frozen=True):
    """The ways to dial the API server: as its front proxy for users with a certificate, and without a certificate for others."""

    address: ServerAddress
    as_front_proxy: ssl.SSLContext
    as_nobody: ssl.SSLContext

    async def dial(self, user: CertifiedUser | None) -> ServerConnection:
        """Connect; raises ApiError if it does not answer."""
        tls = self.as_front_proxy if user else self.as_nobody
        return await dial(ServerConnection, self.address, tls, within=_DIAL_WITHIN)


class ProxyServer:
    """Listens until cancelled."""

    def __init__(
        self,
        server: ApiServer,
        tokens: Tokens,
        faults: Callable[[], Iterable[ApiFault]],
        watches: OpenWatches,
    ) -> None:
        """Pass requests on to `server`, as the `faults` that are open let them pass."""
        self._server = server
        self._tokens = tokens
        self._faults = faults
        self._watches = watches
        self._strangers = Strangers()
        self._buffer = bytearray(BUFFER_BYTES)

    async def run(self, listening: Sequence[socket.socket], tls: ssl.SSLContext) -> None:
        """Serve the connections of these sockets until cancelled; close them in the end."""
        await serve_each(listening, partial(self.serve, tls=tls), self._strangers)

    async def serve(self, found: socket.socket, tls: ssl.SSLContext) -> None:
        """Serve a connection until it ends."""
        client = ServedConnection(self._buffer)
        self._strangers.add(client)
        served = _ServedClient(client, self._server)
        try:
            if await connected(found, client, tls):
                await self._serve(served)
        except (OSError, ClientGoneError):  # either side is gone, or too slow
            pass
        except Exception:  # one connection must not end the others
            log.exception("a connection has failed")
        finally:
            self._strangers.remove(client)
            served.close()

    async def _serve(self, served: "_ServedClient") -> None:
        client = served.client
        try:
            served.identify()
            if served.user is not None:
                self._know(client)
            while await self._serve_one(served):
                pass
        except RefusedError as e:
            await _answer(client, None, refusal_of(e))
        async with asyncio.timeout(client.limits.patience):
            await client.end()

    async def _serve_one(self, served: "_ServedClient") -> bool:
        """Serve a request; False if it is the connection's last."""
        client = served.client
        async with asyncio.timeout(client.limits.patience):
            head = await client.next()
            if client in self._strangers:
                await self._strangers.turn()
        if head is None:
            return False
        request = self._asked(served, head)
        client.cancel_when_lost(asyncio.current_task())
        try:
            faults = self._faults()
            found = treatment(faults, request)
            if found.delay:
                await asyncio.sleep(found.delay)
            if found.refusal is not None:
                return await _answer(client, head, refused(found.refusal))
            return await self._pass_on(served, head, request)
        finally:
            client.cancel_when_lost(None)

    def _asked(self, served: "_ServedClient", head: RequestHead) -> ApiRequest:
        request = head.request
        user = served.user
        authorizations = request.all_headers("authorization")
        return api_request(
            request.method,
            request.path,
            head.query,
            user=user.name if user else self._tokens.user(authorizations),
            user_agent=request.header("user-agent"),
        )

    async def _pass_on(
        self, served: "_ServedClient", head: RequestHead, request: ApiRequest
    ) -> bool:
        client = served.client
        try:
            server = await served.connection()
        except ApiError as e:
            return await _answer(client, head, unreachable(str(e)))

        def answered(status: int) -> None:
            if client in self._strangers and _is_token_taken(head.request, status):
                self._know(client)

        with self._watches.opened(request, client.abort):
            is_kept = await exchange(client, head, served.user, server, answered)
        return is_kept and head.is_kept

    def _know(self, client: ServedConnection) -> None:
        """Note that a client has shown a credential."""
        self._strangers.remove(client)
        client.trust()


def _is_token_taken(request: Request, status: int) -> bool:
    """Return whether the API server has taken the token of a request: refused clients get an answer, too.

    The API server may answer OPTIONS, such as `OPTIONS *`, before it looks at the token.
    """
    has_token = bool(bearer_token(request.all_headers("authorization")))
    is_answer = status < _FIRST_ERROR or status in _OF_KNOWN
    return has_token and is_answer and request.method != "OPTIONS"


class _ServedClient:
    """A client, and its own connection to the API server: what it may do there is that of its certificate."""

    def __init__(self, client: ServedConnection, server: ApiServer) -> None:
        self.client = client
        self.user: CertifiedUser | None = None
        self._server = server
        self._connection: ServerConnection | None = None

    def identify(self) -> None:
        """Read the certificate; RefusedError for one whose names cannot be passed on, and without TLS."""
        if not self.client.is_encrypted:
            raise RefusedError(400, "Client sent an HTTP request to an HTTPS server.")
        try:
            self.user = certified_user(self.client.certificate)
        except UnfitNameError as e:
            raise RefusedError(_UNAUTHORIZED, str(e)) from e

    async def connection(self) -> ServerConnection:
        """Return the connection to the API server, a new one where there is none; raises ApiError."""
        if self._connection is None or not self._connection.is_open:
            self._connection = await self._server.dial(self.user)
        return self._connection

    def close(self) -> None:
        """End both connections."""
        self.client.abort()
        if self._connection is not None:
            self._connection.close()


async def _answer(client: ServedConnection, head: RequestHead | None, answer: Answer) -> bool:
    """Answer a request instead of the API server, once its body has come; False if it is the connection's last."""
    is_kept = head is not None and head.is_kept and not head.wants_upgrade
    if head is not None and head.has_body:
        async for _ in body_pieces(head, client.take):
            pass
    with_body = head is None or head.request.method != "HEAD"
    assert isinstance(answer.body, bytes)
    await client.send(whole_answer(answer, answer.body, with_body=with_body, is_kept=is_kept))
    return is_kept

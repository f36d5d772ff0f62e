"""The routes on the controller's port, and the right that each requires."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from pathlib import Path

import msgspec

from kwokctl.controller.serving.scale_api import RetryLaterError
from kwokctl.dataplane.scale_protocol import PlayedStages
from kwokctl.errors import UnavailableError
from kwokctl.host.tokens import new_token

_SCHEME = b"bearer"
JSON = "application/json"
_TEXT = "text/plain; version=0.0.4; charset=utf-8"
_REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    503: "Service Unavailable",
}
_AGAIN = ("Retry-After: 1",)


class Right(Enum):
    """The right that a client needs for an answer."""

    NONE = "none"
    """For every client: answers that reveal no more than that the controller lives."""
    OWNER = "owner"
    """For clients that can read the cluster's own files."""


class Authorizer:
    """Knows which credentials give which rights."""

    def __init__(self, token: str | None) -> None:
        """Accept `token` as the owner's; without one no credential is accepted."""
        self._token = token.encode() if token else None

    def allows(self, right: Right, authorization: bytes) -> bool:
        """Return whether the value of an `Authorization` header gives a right."""
        if right is Right.NONE:
            return True
        scheme, _, shown = authorization.partition(b" ")
        if self._token is None or scheme.lower() != _SCHEME:
            return False
        # In a time that does not depend on how much of it is right.
        return hmac.compare_digest(shown.strip(), self._token)


async def owner_authorizer(token_file: Path | None) -> Authorizer:
    """Write a new token to a file, and return its authorizer; without a file none is accepted."""
    if token_file is None:
        return Authorizer(None)
    try:
        return Authorizer(await asyncio.to_thread(new_token, token_file))
    except OSError as e:
        raise UnavailableError(
            f"the token cannot be written to '{token_file}': {e.strerror}",
            hint="give another file with --server-token-file",
        ) from e


class HttpResponse(msgspec.Struct, frozen=True):
    """An answer."""

    status: int
    content: str | bytes
    kind: str = _TEXT
    headers: tuple[str, ...] = ()

    def encoded(self, *, with_body: bool, is_kept: bool) -> bytes:
        """Write it as HTTP/1.1 has it; `is_kept` says whether the connection is."""
        body = self.content.encode() if isinstance(self.content, str) else self.content
        lines = (
            f"HTTP/1.1 {self.status} {_REASONS[self.status]}",
            f"Content-Type: {self.kind}",
            f"Content-Length: {len(body)}",
            *self.headers,
            f"Connection: {'keep-alive' if is_kept else 'close'}\r\n\r\n",
        )
        return "\r\n".join(lines).encode() + (body if with_body else b"")


class HttpRoute(msgspec.Struct, frozen=True):
    """A path that can be requested."""

    method: str
    path: str
    right: Right
    answer: Callable[[bytes], Awaitable[HttpResponse]]
    """Gets the body of the request; called only for clients that have the right."""


class Handlers(msgspec.Struct, frozen=True, kw_only=True):
    """Where the answers come from."""

    is_ready: Callable[[], bool]
    metrics: Callable[[], Awaitable[str]]
    kubelet: bytes
    """Where the API server reaches the kubelets of fake nodes, as JSON."""
    stages: Callable[[], PlayedStages | None]
    """What is played on new nodes and pods; None before there is anything."""
    seen: Callable[[], bytes | None]
    """How far the watches have come, as JSON; None before there are any."""
    reserve: Callable[[bytes], bytes | None]
    """Reserves addresses of pods: JSON in and out; ValueError for what cannot be read."""


def routes(handlers: Handlers) -> Sequence[HttpRoute]:
    """Return all routes; HEAD is answered wherever GET is."""

    async def live(_: bytes) -> HttpResponse:
        return HttpResponse(200, "ok")

    async def ready(_: bytes) -> HttpResponse:
        return HttpResponse(200, "ok") if handlers.is_ready() else _NOT_SYNCED

    async def metrics(_: bytes) -> HttpResponse:
        return HttpResponse(200, await handlers.metrics())

    async def reserve(body: bytes) -> HttpResponse:
        try:
            return _json(handlers.reserve(body))
        except ValueError as e:
            return HttpResponse(400, f"{e}\n")
        except RetryLaterError as e:
            return HttpResponse(503, f"{e}\n", headers=_AGAIN)

    return (
        HttpRoute("GET", "/healthz", Right.NONE, live),
        HttpRoute("GET", "/livez", Right.NONE, live),
        HttpRoute("GET", "/readyz", Right.NONE, ready),
        HttpRoute("GET", "/metrics", Right.OWNER, metrics),
        HttpRoute("GET", "/seen", Right.OWNER, _answering(handlers.seen)),
        HttpRoute("GET", "/kubelet", Right.OWNER, _answering(lambda: handlers.kubelet)),
        HttpRoute("GET", "/stages", Right.OWNER, _answering(_stages(handlers))),
        HttpRoute("GET", "/stages/generation", Right.OWNER, _answering(_generation(handlers))),
        HttpRoute("POST", "/pod-addresses", Right.OWNER, reserve),
    )


def _answering(found: Callable[[], bytes | None]) -> Callable[[bytes], Awaitable[HttpResponse]]:
    """Return what answers with what is found, as JSON."""

    async def answer(_: bytes) -> HttpResponse:
        return _json(found())

    return answer


def _stages(handlers: Handlers) -> Callable[[], bytes | None]:
    return lambda: msgspec.json.encode(found) if (found := handlers.stages()) else None


def _generation(handlers: Handlers) -> Callable[[], bytes | None]:
    return lambda: msgspec.json.encode(found.generation) if (found := handlers.stages()) else None


_NOT_SYNCED = HttpResponse(503, "not synced")


def _json(body: bytes | None) -> HttpResponse:
    return _NOT_SYNCED if body is None else HttpResponse(200, body, JSON)

"""What the controller answers on its port, and the right that each answer takes."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from kwokctl.controller.serving.authorization import Right
from kwokctl.controller.serving.scale_api import NotNowError

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


@dataclass(frozen=True, slots=True)
class Response:
    """An answer."""

    status: int
    content: str | bytes
    kind: str = _TEXT
    headers: tuple[str, ...] = ()

    def encoded(self, *, with_body: bool, is_kept: bool) -> bytes:
        """Write it as HTTP/1.1 has it; `is_kept` tells whether the connection is."""
        body = self.content.encode() if isinstance(self.content, str) else self.content
        lines = (
            f"HTTP/1.1 {self.status} {_REASONS[self.status]}",
            f"Content-Type: {self.kind}",
            f"Content-Length: {len(body)}",
            *self.headers,
            f"Connection: {'keep-alive' if is_kept else 'close'}\r\n\r\n",
        )
        return "\r\n".join(lines).encode() + (body if with_body else b"")


@dataclass(frozen=True, slots=True)
class Route:
    """One thing that can be asked for."""

    method: str
    path: str
    right: Right
    answer: Callable[[bytes], Awaitable[Response]]
    """Gets the body of the request; called only for clients that have the right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Where the answers come from."""

    is_ready: Callable[[], bool]
    metrics: Callable[[], Awaitable[str]]
    kubelet: bytes
    """Where the API server reaches the kubelets of fake nodes, as JSON."""
    seen: Callable[[], bytes | None]
    """How far the watches have come, as JSON; None before there are any."""
    reserve: Callable[[bytes], bytes | None]
    """Reserves addresses of pods: JSON in and out; ValueError for what cannot be read."""


def routes(answers: Answers) -> Sequence[Route]:
    """Return all that can be asked for; HEAD is answered wherever GET is."""

    async def live(_: bytes) -> Response:
        return Response(200, "ok")

    async def ready(_: bytes) -> Response:
        return Response(200, "ok") if answers.is_ready() else _NOT_SYNCED

    async def metrics(_: bytes) -> Response:
        return Response(200, await answers.metrics())

    async def seen(_: bytes) -> Response:
        return _json(answers.seen())

    async def kubelet(_: bytes) -> Response:
        return _json(answers.kubelet)

    async def reserve(body: bytes) -> Response:
        try:
            return _json(answers.reserve(body))
        except ValueError as e:
            return Response(400, f"{e}\n")
        except NotNowError as e:
            return Response(503, f"{e}\n", headers=_AGAIN)

    return (
        Route("GET", "/healthz", Right.NONE, live),
        Route("GET", "/livez", Right.NONE, live),
        Route("GET", "/readyz", Right.NONE, ready),
        Route("GET", "/metrics", Right.OWNER, metrics),
        Route("GET", "/seen", Right.OWNER, seen),
        Route("GET", "/kubelet", Right.OWNER, kubelet),
        Route("POST", "/pod-addresses", Right.OWNER, reserve),
    )


_NOT_SYNCED = Response(503, "not synced")


def _json(body: bytes | None) -> Response:
    return _NOT_SYNCED if body is None else Response(200, body, JSON)

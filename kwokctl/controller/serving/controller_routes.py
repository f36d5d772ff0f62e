"""The routes on the controller's port, and the token that all but health require."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from kwokctl.controller.serving.fleet_metrics import FleetMetrics
from kwokctl.controller.serving.scale_api import RetryLaterError
from kwokctl.dataplane.scale_protocol import PlayedStages
from kwokctl.embedded.http.messages import Answer, Handler, RefusedError, Request
from kwokctl.embedded.http.route_table import Route
from kwokctl.errors import UnavailableError
from kwokctl.host.tokens import new_token

_SCHEME = "bearer"
JSON = "application/json"
_METRICS = "text/plain; version=0.0.4; charset=utf-8"
_AGAIN = (("Retry-After", "1"),)


class Authorizer:
    """Admits those who show the owner's token."""

    def __init__(self, token: str | None) -> None:
        """Accept `token` as the owner's; without one no credential is accepted."""
        self._token = token.encode() if token else None

    async def admit(self, request: Request, _certificate: object) -> None:
        """Raise RefusedError 401 for a client that does not show it."""
        scheme, _, shown = request.header("authorization").partition(" ")
        # In a time that does not depend on how much of it is right.
        is_right = hmac.compare_digest(shown.strip().encode(), self._token or b"")
        if self._token is None or scheme.lower() != _SCHEME or not is_right:
            raise RefusedError(
                401,
                "authenticate with the token of --server-token-file: 'Authorization: Bearer TOKEN'",
            )


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


class Handlers(msgspec.Struct, frozen=True, kw_only=True):
    """The handlers of the controller's port."""

    is_ready: Callable[[], bool]
    metrics: Callable[[], Awaitable[str]]
    kubelet: bytes
    """The address at which the API server reaches the kubelets of fake nodes, as JSON."""
    stages: Callable[[], PlayedStages | None]
    """The Stages that are played on new nodes and pods; None before they are known."""
    seen: Callable[[], bytes | None]
    """The versions that the watches have reached, as JSON; None before there are any."""
    reserve: Callable[[bytes], bytes | None]
    """Reserves addresses of pods: JSON in and out; ValueError for what cannot be read."""


def routes(handlers: Handlers, fleet: FleetMetrics | None = None) -> Sequence[Route]:
    """Return all routes; with the metrics of the fleet, no metrics need a credential."""

    async def live(_: Request) -> Answer:
        return _LIVE

    async def ready(_: Request) -> Answer:
        return _LIVE if handlers.is_ready() else _NOT_SYNCED

    async def metrics(_: Request) -> Answer:
        return Answer(200, (await handlers.metrics()).encode(), _METRICS)

    async def reserve(request: Request) -> Answer:
        # A page that a browser shows cannot send that unasked
        # (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
        if request.header("content-type").partition(";")[0].strip() != JSON:
            raise RefusedError(415, f"the body must be {JSON}")
        try:
            return _json(handlers.reserve(request.body))
        except ValueError as e:
            raise RefusedError(400, str(e)) from e
        except RetryLaterError as e:
            return Answer(503, f"{e}\n".encode(), headers=_AGAIN)

    return (
        Route(path="/healthz", answer=live, is_open=True),
        Route(path="/livez", answer=live, is_open=True),
        Route(path="/readyz", answer=ready, is_open=True),
        Route(path="/metrics", answer=metrics, is_open=fleet is not None),
        *(fleet.routes() if fleet else ()),
        Route(path="/seen", answer=_answering(handlers.seen)),
        Route(path="/kubelet", answer=_answering(lambda: handlers.kubelet)),
        Route(path="/stages", answer=_answering(_stages(handlers))),
        Route(path="/stages/generation", answer=_answering(_generation(handlers))),
        Route(path="/pod-addresses", answer=reserve, methods=frozenset({"POST"})),
    )


def _answering(found: Callable[[], bytes | None]) -> Handler:
    """Return what answers with what is found, as JSON."""

    async def answer(_: Request) -> Answer:
        return _json(found())

    return answer


def _stages(handlers: Handlers) -> Callable[[], bytes | None]:
    return lambda: msgspec.json.encode(found) if (found := handlers.stages()) else None


def _generation(handlers: Handlers) -> Callable[[], bytes | None]:
    return lambda: msgspec.json.encode(found.generation) if (found := handlers.stages()) else None


_LIVE = Answer(200, b"ok")
_NOT_SYNCED = Answer(503, b"not synced")


def _json(body: bytes | None) -> Answer:
    return _NOT_SYNCED if body is None else Answer(200, body, JSON)

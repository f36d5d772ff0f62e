"""What a controller answers in a test that asks it for a part of all."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from kwokctl.controller.serving.controller_routes import Authorizer, Handlers, routes
from kwokctl.dataplane.scale_protocol import PlayedStages
from kwokctl.embedded.http.http_server import HttpServer
from kwokctl.embedded.http.listening import listening_sockets
from kwokctl.embedded.http.route_table import RouteTable
from kwokctl.tasks import beside


def answers(
    *,
    kubelet: bytes = b"{}",
    seen: bytes | None = None,
    reserve: Callable[[bytes], bytes | None] = lambda _: None,
    stages: PlayedStages | None = None,
) -> Handlers:
    """Return the answers of a controller that is ready and has no metrics."""
    return Handlers(
        is_ready=lambda: True,
        metrics=_no_metrics,
        kubelet=kubelet,
        stages=lambda: stages,
        seen=lambda: seen,
        reserve=reserve,
    )


async def _no_metrics() -> str:
    return ""


@asynccontextmanager
async def serving_controller(
    handlers: Handlers, token: str | None = "secret"
) -> AsyncIterator[int]:
    """Serve what a controller answers to those who show a token; yields the port."""
    server = HttpServer(RouteTable(routes(handlers)), Authorizer(token).admit)
    listening = listening_sockets(["127.0.0.1"], 0)
    async with beside(server.run(listening, None)):
        yield listening[0].getsockname()[1]

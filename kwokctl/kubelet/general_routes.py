"""The answers of a kubelet that do not depend on its pods: health, its own metrics, disabled paths."""

from collections.abc import Awaitable, Callable, Iterable, Iterator

import msgspec

from kwokctl.embedded.http.messages import Answer, Request
from kwokctl.embedded.http.route_table import Route
from kwokctl.embedded.process_metrics import Help, joined_pages
from kwokctl.kubelet.fleet.device_gauges import DEVICES


async def _nothing() -> str:
    return ""


class Companion(msgspec.Struct, frozen=True, kw_only=True):
    """The controller, where it shares the process and the port."""

    is_ready: Callable[[], bool] = lambda: True
    metrics: Callable[[], Awaitable[str]] = _nothing
    """Returns its page in the Prometheus text format."""


ALONE = Companion()
"""There is nothing else."""

REQUESTS = "kwok_kubelet_requests_total"
MEANINGS: Help = {
    REQUESTS: ("counter", "Answered requests, by the path of their route and by status."),
    "kwok_kubelet_connections": ("gauge", "Open connections."),
    "kwok_kubelet_objects": ("gauge", "Objects that are watched, by kind."),
    DEVICES: ("gauge", "Devices of the nodes that are watched, by shape, resource and state."),
}
METRICS_TEXT = "text/plain; version=0.0.4; charset=utf-8"
_WELL = Answer(200, b"ok")
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_OFF = ("/run", "/runningpods", "/debug", "/checkpoint")
"""Paths that kubelets serve, and this server does not."""


def general_routes(
    metrics: Callable[[], str],
    is_ready: Callable[[], bool] = lambda: True,
    companion: Companion = ALONE,
) -> Iterator[Route]:
    """Return the routes for health, metrics, and for what is never served."""

    async def ready(_: Request) -> Answer:
        is_whole = is_ready() and companion.is_ready()
        return _WELL if is_whole else Answer(503, b"the objects of the cluster are not known yet")

    async def own_metrics(_: Request) -> Answer:
        page = joined_pages(metrics(), await companion.metrics())
        return Answer(200, page.encode(), METRICS_TEXT)

    for path in ("/healthz", "/livez"):
        yield Route(path=path, answer=_well, is_open=True)
    yield Route(path="/readyz", answer=ready, is_open=True)
    yield Route(path="/metrics", answer=own_metrics)
    for path in _OFF:
        yield from (
            Route(path=path, is_tree=is_tree, methods=_METHODS, answer=_disabled)
            for is_tree in (False, True)
        )


def without_debugging(routes: Iterable[Route]) -> Iterator[Route]:
    """Return these routes with the answer 405 where they are for debugging."""
    for route in routes:
        if route.is_debugging:
            yield msgspec.structs.replace(route, methods=_METHODS, answer=_disabled, take_over=None)
        else:
            yield route


async def _well(_: Request) -> Answer:
    return _WELL


async def _disabled(_: Request) -> Answer:
    return Answer(405, b"Debug endpoints are disabled.\n")

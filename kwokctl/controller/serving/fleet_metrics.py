"""Answers what the original has on the controller's port: the metrics of the fleet, without a credential.

The kubelet server has them, at a port that asks for one; the controller asks there as itself.
"""

from collections.abc import Iterable, Mapping
from urllib.parse import urlencode

import msgspec

from kwokctl.embedded.http.messages import Answer, RefusedError, Request
from kwokctl.embedded.http.route_table import Route
from kwokctl.errors import ApiError
from kwokctl.kube.transport.pool import Pool

_TYPES = {"/discovery/prometheus": "application/json"}
_METRICS = "text/plain; version=0.0.4; charset=utf-8"


class FleetMetrics:
    """Hands on what a kubelet server answers."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def routes(self) -> Iterable[Route]:
        """Return the routes that the original answers without a credential; `/metrics` itself is the controller's own."""
        yield Route(path="/discovery/prometheus", answer=self._discovery, is_open=True)
        yield Route(path="/metrics", is_tree=True, answer=self._page, is_open=True)

    async def _page(self, request: Request) -> Answer:
        return await self._handed_on(request)

    async def _discovery(self, request: Request) -> Answer:
        """Name this port as the target of all pages: it is where the client is let in."""
        answer = await self._handed_on(request)
        if answer.status != 200 or not isinstance(answer.body, bytes):
            return answer
        found = msgspec.json.decode(answer.body, type=list[_Target])
        here = request.header("host")
        pages = [
            _Target(targets=[here], labels={**each.labels, "__scheme__": "http"}) for each in found
        ]
        return Answer(200, msgspec.json.encode(pages), _TYPES[request.path])

    async def _handed_on(self, request: Request) -> Answer:
        query = f"?{urlencode(request.query)}" if request.query else ""
        try:
            found = await self._pool.request("GET", request.path + query, accept="*/*")
        except ApiError as e:
            raise RefusedError(503, f"the kubelet server does not answer, {e}") from e
        return Answer(found.status, found.body, _TYPES.get(request.path, _METRICS))


class _Target(msgspec.Struct):
    targets: list[str]
    labels: Mapping[str, str]

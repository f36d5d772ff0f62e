"""Relays metrics that a component gives only to clients that may do anything else there, too.

The controller's token reserves addresses, and a certificate that etcd accepts writes to it. Here the
right to read the metrics of nodes is enough.
"""

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from kwokctl.embedded.http.messages import Answer, RefusedError, Request
from kwokctl.embedded.http.route_table import Route
from kwokctl.embedded.process_metrics import relayed_path
from kwokctl.errors import KwokctlError
from kwokctl.kube.transport.probe import fetched
from kwokctl.kube.transport.wire import Response
from kwokctl.kubelet.general_routes import METRICS_TEXT
from kwokctl.model import HttpProbe

_PATIENCE = 9.0
"""Seconds: less than Prometheus has, so that the reason is shown there."""


class RelayedMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """The metrics of one component."""

    name: str
    page: HttpProbe
    token: Path | None = None
    """A file with the token for these metrics; each start of the component may change it."""

    async def answer(self, _: Request) -> Answer:
        """Return the metrics as they are; RefusedError 502 where they cannot be read."""
        try:
            async with asyncio.timeout(_PATIENCE):
                found = await self._fetched()
        except (KwokctlError, OSError, ValueError) as e:
            raise RefusedError(502, f"the metrics of '{self.name}' cannot be read: {e}") from e
        if found.status != 200:
            raise RefusedError(502, f"'{self.name}' refuses its metrics: status {found.status}")
        return Answer(body=found.body, content_type=METRICS_TEXT)

    async def _fetched(self) -> Response:
        if self.token is None:
            return await fetched(self.page)
        token = await asyncio.to_thread(self.token.read_text, encoding="ascii")
        return await fetched(self.page, token=token.strip())


def relay_routes(relays: Iterable[RelayedMetrics]) -> Iterator[Route]:
    """Return a route for the metrics of each component."""
    for each in relays:
        yield Route(path=relayed_path(each.name), answer=each.answer)

"""Ends exec, attach and port-forward that are under way when the kubelet of their node falls silent."""

import asyncio
from contextlib import suppress

from kwokctl.embedded.http.messages import RawStream, Request, UpgradeHandler
from kwokctl.errors import ApiError
from kwokctl.kubelet.fleet.views import PodFinder
from kwokctl.tasks import beside

_LOOK_AGAIN = 5.0
"""Seconds between looks at the node of a connection."""


class WhileHeard:
    """A handler whose connections end with the kubelet through which they lead."""

    def __init__(
        self, handler: UpgradeHandler, fleet: PodFinder, *, look_again: float = _LOOK_AGAIN
    ) -> None:
        """Hand connections over to `handler`, and look at their pods every `look_again` seconds."""
        self._handler = handler
        self._fleet = fleet
        self._look_again = look_again

    async def __call__(self, request: Request, raw: RawStream) -> None:
        """Take the connection over; NoAnswerError, which ends it, when the kubelet is silent."""
        async with beside(self._until_silent(request)):
            await self._handler(request, raw)

    async def _until_silent(self, request: Request) -> None:
        _, *place = request.segments
        while len(place) >= 2:
            await asyncio.sleep(self._look_again)
            with suppress(ApiError):  # a kubelet goes on while the cluster is away
                await self._fleet.pod(place[0], place[1])

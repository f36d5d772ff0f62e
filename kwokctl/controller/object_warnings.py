"""Events with which the controller warns about objects; playing never waits for them, or fails with them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.errors import RequestError

log = logging.getLogger(__name__)

COMPONENT = "kwok_controller"
"""The source component of the controller's Events."""
_MOST_WAITING = 1000


class ObjectWarnings:
    """The Events that are to be created, one after the other."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[ObjectEvent] = asyncio.Queue(_MOST_WAITING)

    def put(self, event: ObjectEvent) -> None:
        """Create an Event soon; none while very many wait, which are about the same mistake, mostly."""
        with suppress(asyncio.QueueFull):
            self._waiting.put_nowait(event)

    async def run(self, record: Callable[[ObjectEvent], Awaitable[None]]) -> None:
        """Create Events by `record` until cancelled."""
        while True:
            event = await self._waiting.get()
            try:
                await record(event)
            except RequestError as e:
                log.debug("no Event for %s '%s': %s", event.resource.kind, event.about, e)

"""A watch on pods of a fake API server, and what it delivers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec

from kwokctl.kube.collections.watch import Event, watch
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import FakeApiServer, Handler, Request, serving


class Metadata(msgspec.Struct, rename="camel"):
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class Pod(msgspec.Struct):
    metadata: Metadata


decode = msgspec.json.Decoder(Pod).decode


def pod(name: str, version: int, *, uid: str = "") -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": uid or f"uid-{name}",
            "resourceVersion": str(version),
        }
    }


def page(*pods: Any, version: int, more: str = "") -> dict[str, Any]:
    return {"metadata": {"resourceVersion": str(version), "continue": more}, "items": list(pods)}


def is_watch(request: Request) -> bool:
    return "watch" in request.query


class Seen:
    """What a watch delivers."""

    def __init__(self, batches: AsyncIterator[list[Event[Pod]]]) -> None:
        self._batches = batches
        self.deliveries = 0
        """How many batches it has delivered."""
        self._events: list[Event[Pod]] = []

    async def take(self, count: int) -> list[Event[Pod]]:
        """Return the next `count` events."""
        async with asyncio.timeout(20):
            while len(self._events) < count:
                self._events += await anext(self._batches)
                self.deliveries += 1
        taken, self._events = self._events[:count], self._events[count:]
        return taken

    async def next(self, count: int) -> list[str]:
        """Return the next `count` events as texts."""
        return [text(event) for event in await self.take(count)]


def text(event: Event[Pod]) -> str:
    if event.object is None:
        return event.type.value
    return f"{event.type.value} {event.object.metadata.name}"


@asynccontextmanager
async def watching(handle: Handler, **how: Any) -> AsyncIterator[tuple[FakeApiServer, Seen]]:
    async with (
        serving(handle) as server,
        Pool(Access(server=server.url)) as pool,
        aclosing(watch(pool, PODS, decoder=decode, **how)) as batches,
    ):
        yield server, Seen(batches)


async def forever() -> None:
    await asyncio.Event().wait()

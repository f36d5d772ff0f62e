"""Clients that follow a kind each in a manner of its own, and are cut off again and again."""

import asyncio
from enum import Enum
from random import Random

import msgspec

from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.transport.stream import Lines

_METADATA = "application/json;as={};g=meta.k8s.io;v=v1"
_ITEM = _METADATA.format("PartialObjectMetadata")
_LIST = _METADATA.format("PartialObjectMetadataList")
_INITIAL_END = "k8s.io/initial-events-end"
_FORGOTTEN = 410
_CUTS = 8
"""At most; a list that comes as events must come to its end at some time."""
_LONGEST = 300
"""Events after which a connection is cut at the latest."""


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str
    name: str = ""
    annotations: dict[str, str] | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata


class Event(msgspec.Struct):
    """A change, or a bookmark."""

    type: str
    object: msgspec.Raw


_event = msgspec.json.Decoder(Event).decode
_object = msgspec.json.Decoder(_Object).decode


class Manner(Enum):
    """How a client comes to know what there is before it hears of changes."""

    PAGES = "lists page by page"
    CACHE = "lists from the cache of the server"
    STREAM = "has the list streamed to it"
    BARE = "watches from anywhere, and begins again when it is cut off"


class _Begin(Exception):  # noqa: N818 - a turn of events, not an error
    """What is known is of no use for going on."""


class Follower:
    """One client; the protocol: https://kubernetes.io/docs/reference/using-api/api-concepts/."""

    def __init__(
        self, client: Client, query: ListQuery, manner: Manner, random: Random | None = None
    ) -> None:
        """Cut the connection at moments that `random` chooses, never without it."""
        self.known: dict[str, str] = {}
        """The resourceVersion of every object, by name."""
        self.manner = manner
        self.heard = 0
        """Events that have come."""
        self.cuts = 0
        self._pool = client.pool
        self._query = query
        self._random = random
        self._version = ""

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            try:
                if not self._version:
                    await self.begin()
                await self._follow()
            except _Begin:
                self._version = ""
            except ApiError as e:
                if e.status == _FORGOTTEN:
                    self._version = ""
                await asyncio.sleep(0.05)

    async def begin(self) -> None:
        """List what exists, unless that comes with the watch."""
        self.known = {}
        if self.manner in {Manner.STREAM, Manner.BARE}:
            return
        at = "0" if self.manner is Manner.CACHE else ""
        pages = list_pages(self._pool, self._query, limit=200, resource_version=at, accept=_LIST)
        async for page in pages:
            self._version = page.metadata.resource_version
            for raw in page.objects:
                metadata = _object(raw).metadata
                self.known[metadata.name] = metadata.resource_version

    async def _follow(self) -> None:
        words = {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": self._version}
        if not self._version and self.manner is Manner.STREAM:
            words |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        is_cut = self._random is not None and self.cuts < _CUTS
        left = self._random.randint(1, _LONGEST) if self._random and is_cut else None
        lines = Lines()
        async with self._pool.stream(self._query.path(**words), accept=_ITEM) as stream:
            async for piece in stream:
                for line in lines.feed(piece):
                    self._take(_event(line))
                    self.heard += 1
                    if left is not None and (left := left - 1) == 0:
                        self.cuts += 1
                        break
                if left == 0:
                    break
        if self.manner is Manner.BARE:
            raise _Begin

    def _take(self, event: Event) -> None:
        if event.type == "ERROR":
            raise _Begin
        metadata = _object(event.object).metadata
        if event.type == "DELETED":
            self.known.pop(metadata.name, None)
        elif event.type != "BOOKMARK":
            self.known[metadata.name] = metadata.resource_version
        is_complete = bool(self._version) or _INITIAL_END in (metadata.annotations or {})
        if is_complete and self.manner is not Manner.BARE:
            self._version = metadata.resource_version

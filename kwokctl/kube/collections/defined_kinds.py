"""Follows custom resources whose kinds may come and go meanwhile: those that kwokctl defines itself.

A cluster that cannot be reached, or that does not serve the kinds for a moment, as after a restart of its API server, removes
nothing: only the deletion of an object does, or that of the CustomResourceDefinition. Kinds that are not defined cost one watch of
their definition.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from itertools import count
from random import Random
from typing import Any, NamedTuple

import msgspec

from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.known_objects import Known
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import CUSTOM_RESOURCE_DEFINITIONS, Resource
from kwokctl.retry import may_pass, until_answered
from kwokctl.tasks import beside

_GATHER = 0.02
"""Seconds between looks at a watch while many events come: a fault of many nodes has many pages."""
_PAUSE, _LONG_PAUSE = 0.5, 5.0
"""Seconds until the next look at a kind that is defined and not yet served, and where it is not known whether it is defined."""
_TRIES = 40
"""Looks after which a kind that is still not served is taken not to be defined."""


class ObjectName(msgspec.Struct, frozen=True, rename="camel"):
    """The name of an object, its uid, and its version."""

    name: str
    uid: str = ""
    resource_version: str = ""


class NamedObject(msgspec.Struct, frozen=True):
    """An object of which only the name is known: one that was deleted, or that has another shape; also a definition."""

    metadata: ObjectName


def _reader(shape: type[Any]) -> Callable[[bytes | msgspec.Raw], Any]:
    """Return what reads objects of a kind; of those that have another shape it returns the name."""
    strict, named = msgspec.json.Decoder(shape).decode, msgspec.json.Decoder(NamedObject).decode

    def read(raw: bytes | msgspec.Raw) -> Any:
        try:
            return strict(raw)
        except msgspec.ValidationError:
            return named(raw)

    return read


class FollowedKind(NamedTuple):
    """A kind that is followed, and what takes its objects."""

    resource: Resource
    shape: type[Any]
    note: Callable[[EventType, Any], None]
    """Gets each object, in its shape or, where it has another, as `NamedObject`."""
    synced: Callable[[], None] | None = None
    """Called when all objects of the kind are known; those of a kind that has this are not waited for by `known`."""


async def _at_once() -> None:
    """Wait for nothing."""


class DefinedKinds:
    """Feeds what is known of some kinds with the objects of the cluster; they are defined together with the first of them."""

    def __init__(
        self,
        client: Client,
        kinds: Sequence[FollowedKind],
        random: Random,
        *,
        gone: Callable[[], None],
        begin: Callable[[], Awaitable[None]] = _at_once,
        has_come_back: Callable[[Any], bool] = lambda _: False,
    ) -> None:
        """Watch with `client`; `gone` is called when the definition was removed.

        `begin` is awaited before anything is listed, and again when an object has come back with a state of the cluster, as
        `has_come_back` says.
        """
        self._client = client
        self._kinds = kinds
        self._random = random
        self._gone = gone
        self._begin = begin
        self._has_come_back = has_come_back
        self._is_defined, self._is_gone = asyncio.Event(), asyncio.Event()
        self._is_known = asyncio.Event()
        self._pause = _PAUSE
        self._waiting = {kind.resource for kind in kinds if kind.synced is None}

    @property
    def is_known(self) -> bool:
        """Whether all are known, or the cluster has turned out to have none."""
        return self._is_known.is_set()

    async def known(self) -> None:
        """Wait until all are known, or the cluster has turned out to have none."""
        await self._is_known.wait()

    async def run(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(until_answered(self._follow_definition, self._random))
            for kind in reversed(self._kinds):  # those that belong to the first come before it
                tasks.create_task(self._follow(kind))

    async def _follow_definition(self) -> None:
        """Follow the CustomResourceDefinition; without the right to read it, it may be there."""
        defining = self._kinds[0].resource
        events = watch(
            self._client.pool,
            CUSTOM_RESOURCE_DEFINITIONS,
            decoder=msgspec.json.Decoder(NamedObject).decode,
            field_selector=f"metadata.name={defining.plural}.{defining.group}",
        )
        try:
            async with aclosing(events) as batches:
                async for batch in batches:
                    for event in batch:
                        self._note_definition(event.type)
        except ApiError as e:
            if not may_pass(e):
                self._pause = _LONG_PAUSE
                self._is_defined.set()
            raise

    def _note_definition(self, event: EventType) -> None:
        match event:
            case EventType.ADDED:
                self._is_gone.clear()
                self._is_defined.set()
            case EventType.DELETED:
                self._is_defined.clear()
                self._is_gone.set()
                self._gone()
            case EventType.SYNCED if not self._is_defined.is_set():
                self._is_known.set()
            case _:
                pass

    async def _follow(self, kind: FollowedKind) -> None:
        while True:
            await self._is_defined.wait()
            # The API server keeps the watches of a kind that was removed open, and they do not show the objects of a new one.
            async with beside(self._again_and_again(kind)):
                await self._is_gone.wait()
            self._synced(kind)

    async def _again_and_again(self, kind: FollowedKind) -> None:
        known = Known()  # an object may be deleted while the kind is not served

        async def once() -> None:
            try:
                await self._begin()
                await self._watch(kind, known)
            except ApiError as e:
                if not may_pass(e):
                    self._synced(kind)  # without the right to read, nothing waits for it
                raise

        for number in count():
            await until_answered(once, self._random)
            if self._pause == _LONG_PAUSE:
                self._synced(kind)
            # A cluster whose kinds were defined by an earlier version lacks some of them.
            await asyncio.sleep(self._pause if number < _TRIES else _LONG_PAUSE)

    async def _watch(self, kind: FollowedKind, known: Known) -> None:
        events = watch(
            self._client.pool,
            kind.resource,
            decoder=_reader(kind.shape),
            gather=_GATHER,
            while_served=True,
            known=known,
        )
        async with aclosing(events) as batches:
            async for batch in batches:
                if any(self._has_come_back(event.object) for event in batch):
                    await self._begin()
                for event in batch:
                    if event.object is None:
                        self._synced(kind)
                    else:
                        kind.note(event.type, event.object)

    def _synced(self, kind: FollowedKind) -> None:
        if kind.synced is not None:
            kind.synced()
            return
        self._waiting.discard(kind.resource)
        if not self._waiting:
            self._is_known.set()

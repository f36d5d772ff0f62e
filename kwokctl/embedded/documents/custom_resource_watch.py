"""Follows the custom resources of one kind, which say what documents of that kind say."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from random import Random

import msgspec

from kwokctl.config.document_kinds import API_VERSIONS
from kwokctl.embedded.documents.verdicts import Bodies, Verdicts
from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.collections.served import while_served
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import Resource
from kwokctl.retry import ASK_MOST, until_answered

Use = Callable[[Bodies], Mapping[str, str]]
"""Makes use of custom resources; returns what is wrong with some of them, by their keys."""
_GATHER = 0.03
"""Seconds between looks at the watch while many come: `kubectl apply` sends one after the other."""


class CustomResources:
    """The custom resources of one kind, as they are now."""

    def __init__(
        self,
        client: Client,
        kind: str,
        use: Use,
        verdicts: Verdicts,
        random: Random,
        *,
        missing_most: float = ASK_MOST,
    ) -> None:
        """Call `use` with all of them when they are known, and after each change.

        A kind that is not served is looked for again at least every `missing_most` seconds.
        """
        self._missing_most = missing_most
        self._client = client
        self._kind = kind
        self._use = use
        self._verdicts = verdicts
        self._random = random
        self._bodies: dict[str, Mapping[str, Json]] = {}
        self._known = asyncio.Event()

    @property
    def are_known(self) -> bool:
        """Whether they have been listed, or the cluster has turned out not to show them."""
        return self._known.is_set()

    async def known(self) -> None:
        """Wait until they have been listed, or the cluster has turned out not to serve the kind."""
        await self._known.wait()

    async def run(self) -> None:
        """Follow them until cancelled; their CustomResourceDefinition may come and go meanwhile."""
        kind = (API_VERSIONS[self._kind], self._kind)
        following = while_served(
            self._client, kind, self._follow, self._forget, self._random, most=self._missing_most
        )
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(following)
            tasks.create_task(self._verdicts.run())

    async def _follow(self, resource: Resource) -> None:
        async def once() -> None:
            try:
                await self._watch(resource)
            except ApiError:
                self._forget()  # they may not be read: what there is besides them counts
                raise

        await until_answered(once, self._random)

    async def _watch(self, resource: Resource) -> None:
        bodies: dict[str, Mapping[str, Json]] = {}
        is_listed = False
        events = watch(
            self._client.pool,
            resource,
            decoder=msgspec.json.decode,
            gather=_GATHER,
            while_served=True,
        )
        async with aclosing(events) as batches:
            async for batch in batches:
                for event in batch:
                    is_listed = is_listed or event.type is EventType.SYNCED
                    _note(bodies, event)
                if is_listed:
                    self._take(bodies)

    def _take(self, bodies: Bodies) -> None:
        self._bodies = dict(bodies)
        self._verdicts.note(self._bodies, self._use(self._bodies))
        self._known.set()

    def _forget(self) -> None:
        if self._bodies or not self._known.is_set():
            self._take({})


def _note(bodies: dict[str, Mapping[str, Json]], event: Event[Json]) -> None:
    if event.object is None:
        return
    metadata = event.object["metadata"]
    namespace, name = metadata.get("namespace"), metadata["name"]
    key = f"{namespace}/{name}" if namespace else name
    if event.type is EventType.DELETED:
        bodies.pop(key, None)
    else:
        bodies[key] = event.object

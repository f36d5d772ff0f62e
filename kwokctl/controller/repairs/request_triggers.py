"""Follows the objects with which remediators ask for repairs, such as RebootNode, while policies watch their kinds."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from functools import partial
from random import Random

import msgspec

from kwokctl.faults.repairs.policy_schema import RepairPolicySpec
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.collections.known_objects import Known
from kwokctl.kube.collections.served import while_served
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import Resource

log = logging.getLogger(__name__)

RequestKind = tuple[str, str]
"""The apiVersion and the name of a kind."""
MOST_KINDS = 100
"""Kinds that are watched, of all policies together."""
_MOST_TOLD = 5
"""Kinds of which the log says that the cluster does not serve them: a user with the right to write policies must not fill it."""


class RequestTriggers:
    """The objects of the watched kinds."""

    def __init__(self, client: Client, changed: Callable[[], None], random: Random) -> None:
        """Watch with `client`; `changed` is called when there are others than before."""
        self._client = client
        self._changed = changed
        self._random = random
        self._tasks: dict[RequestKind, asyncio.Task[None]] = {}
        self._wanted: set[RequestKind] = set()
        self._are_too_many = False
        self._told: set[RequestKind] = set()
        self._has_more = False
        """Whether the log says that there are more than those."""
        self._renewed = asyncio.Event()
        self.requests: dict[RequestKind, dict[str, dict[str, Json]]] = {}
        """The objects of each kind, by uid."""

    def watch_for(self, policies: Mapping[str, RepairPolicySpec]) -> None:
        """Watch the kinds that policies name, and no others; of too many, those that come first by the names of the policies."""
        named = dict.fromkeys(
            (each.request.api_version, each.request.kind)
            for _, policy in sorted(policies.items())
            for each in policy.triggers
            if each.request is not None
        )
        wanted = {*[*named][:MOST_KINDS]}
        self._say_if_too_many(len(named))
        if wanted != self._wanted:
            self._wanted = wanted
            self._renewed.set()

    async def run(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._renewed.clear()
                for kind in self._tasks.keys() - self._wanted:
                    self._tasks.pop(kind).cancel()
                    self.requests.pop(kind, None)
                for kind in self._wanted - self._tasks.keys():
                    self._tasks[kind] = tasks.create_task(self._follow(kind))
                await self._renewed.wait()

    def _say_if_too_many(self, number: int) -> None:
        was, self._are_too_many = self._are_too_many, number > MOST_KINDS
        if self._are_too_many and not was:
            log.warning(
                "RepairPolicies name %d kinds of requests: only the first %d, by the names of the policies, are watched",
                number, MOST_KINDS,
            )  # fmt: skip

    def _is_told(self, kind: RequestKind) -> bool:
        """Return whether the log says that the cluster does not serve a kind."""
        if len(self._told) < _MOST_TOLD:
            self._told.add(kind)
        elif not self._has_more and kind not in self._told:
            self._has_more = True
            log.warning("further kinds of requests that the cluster does not serve are not logged")
        return kind in self._told

    async def _follow(self, kind: RequestKind) -> None:
        def absent() -> None:
            self.requests.pop(kind, None)

        is_told = partial(self._is_told, kind)
        await while_served(
            self._client, kind, self._follower(kind), absent, self._random, is_told=is_told
        )

    def _follower(self, kind: RequestKind) -> Callable[[Resource], Awaitable[None]]:
        known = Known()  # a request may be deleted while its kind is not served

        async def follow(resource: Resource) -> None:
            events = watch(
                self._client.pool,
                resource,
                decoder=msgspec.json.decode,
                while_served=True,
                known=known,
            )
            async with aclosing(events) as batches:
                async for batch in batches:
                    for event in batch:
                        self._note(kind, event)

        return follow

    def _note(self, kind: RequestKind, event: Event[dict[str, Json]]) -> None:
        if event.object is None:
            return
        uid = event.object["metadata"].get("uid", "")
        known = self.requests.setdefault(kind, {})
        if event.type is EventType.DELETED:
            known.pop(uid, None)
        else:
            known[uid] = event.object
            self._changed()

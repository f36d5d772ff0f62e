"""Makes the missing objects of a set, many at once, and never over somebody else's."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from kwokctl.clusters.scaling import ttl
from kwokctl.clusters.scaling.in_flight import for_each
from kwokctl.clusters.scaling.pace import Pace
from kwokctl.clusters.scaling.reading import Known, Reader, others_than
from kwokctl.clusters.scaling.request import ScaleRequest
from kwokctl.dataplane.port import DataPlane, Target
from kwokctl.errors import ApiError, ConflictError, NotFoundError
from kwokctl.kube.resource import Resource

AT_ONCE = 32
"""Requests under way at a time."""

_ACCOUNT_PATIENCE = 10.0
"""Seconds to wait for the service account of a namespace that has just been made."""
_ACCOUNT_POLL = 0.1
_PAUSES = (0.1, 0.5, 1.0, 2.0)
"""Seconds to wait before each try after one that the cluster could not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """What is made, and where."""

    request: ScaleRequest
    stamp: Callable[[int], dict[str, Any]]
    """Gives the object with a serial."""
    resource: Resource
    namespace: str | None
    plane: DataPlane
    reader: Reader

    async def run(
        self, serials: Sequence[int], *, members: int, pace: Pace | None, tell: Callable[[], None]
    ) -> None:
        """Make the objects with these serials, `tell`ing of each; the set has `members` already.

        Raises ConflictError, before anything is made, for a name that somebody else's object has,
        and NotFoundError if the namespace does not exist. When it fails later, what has been made
        is whole, and doing the same again makes the rest.
        """
        others = await self._others(serials)
        bodies = self._bodies(serials, members + others)
        await self._make_first(next(bodies))
        tell()

        async def make(body: dict[str, Any]) -> None:
            if pace is not None:
                await pace.turn()
            await self._make(body)
            tell()

        await for_each(bodies, make, at_once=AT_ONCE)

    async def _others(self, serials: Sequence[int]) -> int:
        """Count the objects that are not of the set; ConflictError if one has a wanted name."""
        wanted = {self.request.object_name(serial) for serial in serials}
        number = 0
        selector = others_than(self.request.set_name)
        async for known in self.reader.select(self.resource, self.namespace, selector):
            number += 1
            if known.name in wanted:
                raise self._taken(known)
        return number

    def _bodies(self, serials: Sequence[int], before: int) -> Iterator[dict[str, Any]]:
        """Yield the objects; `before` is how many of their kind there are."""
        is_node = self.resource.kind == "Node" and not self.resource.group
        for number, serial in enumerate(serials, start=before + 1):
            body = self.stamp(serial)
            if is_node:
                ttl.stamp(body, number)
            yield body

    async def _make_first(self, body: dict[str, Any]) -> None:
        """Make one object alone, so that what is wrong with all is told before the others.

        A namespace that has just been made has no service account yet, which pods wait for.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _ACCOUNT_PATIENCE
        while True:
            try:
                return await self._make(body)
            except ApiError as e:
                if not _lacks_account(e) or loop.time() > deadline:
                    raise
            await asyncio.sleep(_ACCOUNT_POLL)

    async def _make(self, body: dict[str, Any]) -> None:
        data = orjson.dumps(body)
        for pause in (*_PAUSES, None):
            try:
                await self.plane.create(self.resource, self.namespace, data)
            except ApiError as e:
                if pause is None or not _may_pass(e):
                    await self._explain(e, body["metadata"]["name"])
                    return
                await asyncio.sleep(pause)
            else:
                return

    async def _explain(self, error: ApiError, name: str) -> None:
        """Raise what a refusal means; return if it means that the object has been made after all."""
        if error.reason == "AlreadyExists":
            await self._make_sure_it_is_ours(name)
        elif error.reason == "NotFound" and self.namespace and "namespaces" in str(error):
            raise NotFoundError(
                f"there is no namespace '{self.namespace}'",
                hint=f"make it first: kubectl create namespace {self.namespace}",
            ) from error
        else:
            raise error

    async def _make_sure_it_is_ours(self, name: str) -> None:
        """Tell whether an object that exists all of a sudden is what an unanswered request made."""
        known = await self.reader.get(Target(self.resource, self.namespace, name))
        if known is None or known.set_name != self.request.set_name or known.is_going:
            raise self._taken(known or name)

    def _taken(self, by: Known | str) -> ConflictError:
        kind = self.resource.kind.lower()
        if isinstance(by, str):
            return ConflictError(f"{kind} '{by}' came and went", hint="do the same again")
        if by.set_name == self.request.set_name:
            return ConflictError(
                f"{kind} '{by.name}' is still being deleted", hint="do the same again in a while"
            )
        owner = f"of the set '{by.set_name}'" if by.set_name else "not made by 'scale'"
        return ConflictError(
            f"{kind} '{by.name}' exists already and is {owner}; nothing is ever overwritten",
            hint=f"choose another name for the set: kwokctl scale {self.request.kind} NAME",
        )


def _may_pass(error: ApiError) -> bool:
    """Tell whether the same request may succeed a little later: no answer, or a server in need."""
    return error.status == 0 or error.status >= 500


def _lacks_account(error: ApiError) -> bool:
    text = str(error).lower()
    return error.reason == "Forbidden" and "serviceaccount" in text and "not found" in text

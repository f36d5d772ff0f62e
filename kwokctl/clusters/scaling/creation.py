"""Makes the missing objects of a set, many at once, and never over somebody else's."""

import asyncio
from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import orjson

from kwokctl.clusters.scaling import ttl
from kwokctl.clusters.scaling.in_flight import for_each
from kwokctl.clusters.scaling.pace import Pace
from kwokctl.clusters.scaling.reading import Known, Reader, others_than
from kwokctl.clusters.scaling.request import ScaleRequest
from kwokctl.clusters.scaling.retrying import retried
from kwokctl.dataplane.port import DataPlane, Target
from kwokctl.errors import ApiError, ConflictError, NotFoundError
from kwokctl.kube.resource import NODES, Resource

AT_ONCE = 32
"""Requests under way at a time."""

_ACCOUNT_PATIENCE = 10.0
"""Seconds to wait for the service account of a namespace that has just been made."""
_ACCOUNT_POLL = 0.1


Made = TypeVar("Made")


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

    async def others(self, wanted: Container[str]) -> int:
        """Count the objects that are not of the set, before anything is made.

        Raises ConflictError if one has a name that is `wanted`.
        """
        number = 0
        selector = others_than(self.request.set_name)
        async for known in self.reader.select(self.resource, self.namespace, selector):
            number += 1
            if known.name in wanted:
                raise self._taken(known)
        return number

    async def first(self, serial: int, *, before: int) -> bytes | None:
        """Make one object alone, so that what is wrong with all is told before the others.

        `before` is how many of their kind there are. Returns the object as the cluster made it,
        None if it was there after all. Raises NotFoundError if the namespace does not exist. A
        namespace that has just been made has no service account yet: that is waited for.
        """
        return await self.patiently(partial(self.one, serial, before=before))

    async def patiently(self, make: Callable[[], Awaitable[Made]]) -> Made:
        """Do what `make` does as soon as the namespace has its service account."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _ACCOUNT_PATIENCE
        while True:
            try:
                return await make()
            except ApiError as e:
                if not _lacks_account(e) or loop.time() > deadline:
                    raise
            await asyncio.sleep(_ACCOUNT_POLL)

    async def rest(
        self, serials: Sequence[int], *, before: int, pace: Pace | None, tell: Callable[[], None]
    ) -> None:
        """Make objects, many at a time, `tell`ing of each.

        When it fails, what has been made is complete, and doing the same again makes the rest.
        """

        async def make(place: tuple[int, int]) -> None:
            if pace is not None:
                await pace.turn()
            number, serial = place
            await self.one(serial, before=number)
            tell()

        await for_each(enumerate(serials, start=before), make, at_once=AT_ONCE)

    async def one(self, serial: int, *, before: int) -> bytes | None:
        """Make one object, and return it as the cluster made it; None if it was there after all."""
        body = self.body(serial, before=before)
        data = orjson.dumps(body)
        try:
            return await retried(partial(self.plane.create, self.resource, self.namespace, data))
        except ApiError as e:
            await self.explain(e, body["metadata"]["name"])
            return None

    def body(self, serial: int, *, before: int) -> dict[str, Any]:
        """Return an object to make; `before` is how many of its kind there are."""
        body = self.stamp(serial)
        if self.resource == NODES:
            ttl.stamp(body, before + 1)
        return body

    async def _make_sure_it_is_ours(self, name: str) -> None:
        """Tell whether an object that exists all of a sudden is what an unanswered request made."""
        known = await self.reader.get(Target(self.resource, self.namespace, name))
        if known is None or known.set_name != self.request.set_name or known.is_going:
            raise self._taken(known or name)

    async def explain(self, error: ApiError, name: str) -> None:
        """Raise what a refusal means; return if it means that the object has been made after all."""
        if error.reason == "AlreadyExists":
            await self._make_sure_it_is_ours(name)
        elif error.reason == "NotFound" and self.namespace and "namespaces" in str(error):
            raise NotFoundError(
                f"there is no namespace '{self.namespace}'",
                hint=f"create it first: kubectl create namespace {self.namespace}",
            ) from error
        else:
            raise error

    def _taken(self, by: Known | str) -> ConflictError:
        kind = self.resource.kind.lower()
        if isinstance(by, str):
            return ConflictError(
                f"{kind} '{by}' was created and deleted meanwhile", hint="repeat the command"
            )
        if by.set_name == self.request.set_name:
            return ConflictError(
                f"{kind} '{by.name}' is still being deleted", hint="repeat the command later"
            )
        owner = f"of the set '{by.set_name}'" if by.set_name else "not made by 'scale'"
        return ConflictError(
            f"{kind} '{by.name}' exists already and is {owner}; nothing is ever overwritten",
            hint=f"choose another name for the set: kwokctl scale {self.request.kind} NAME",
        )


def _lacks_account(error: ApiError) -> bool:
    text = str(error).lower()
    return error.reason == "Forbidden" and "serviceaccount" in text and "not found" in text

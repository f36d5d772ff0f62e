"""Finds out when the objects of an arrival have ended, and deletes them then."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from functools import partial

import msgspec

from kwokctl.clusters.objects.wait import Predicate, predicate
from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import Resource
from kwokctl.load.arrival import Made
from kwokctl.load.client.sender import LoadSender
from kwokctl.load.description.schema import DoneShape, LoadSpec
from kwokctl.load.description.units import period
from kwokctl.retry import retried

_USUAL: Mapping[str, tuple[str, ...]] = {
    "Pod": ('.status.phase | . == "Succeeded" or . == "Failed"',),
    "Job": ("Complete", "Failed"),
    "JobSet": ("Completed", "Failed"),
}
"""The kinds that end, and the conditions of which one says so."""
_GONE = "NotFound"
_decode = msgspec.json.Decoder(dict[str, Json]).decode


def ending_kinds(done: Sequence[DoneShape]) -> dict[str, list[Predicate]]:
    """Return the kinds that end, with what says so; UsageError for an invalid condition."""
    found = {kind: [predicate(each) for each in words] for kind, words in _USUAL.items()}
    for each in done:
        found[each.kind] = [predicate(each.condition)]
    return found


class Endings:
    """Follows the objects of one load to their end."""

    def __init__(
        self, spec: LoadSpec, sender: LoadSender, selector: str, tasks: asyncio.TaskGroup
    ) -> None:
        """Watch what has the labels of `selector`, in tasks of the group."""
        self._sender, self._selector, self._tasks = sender, selector, tasks
        self._kinds = ending_kinds(spec.done)
        self._ended: set[str] = set()
        self._waiting: dict[Resource, dict[str, asyncio.Future[None]]] = {}
        """The objects that are waited for, by kind and uid."""
        self._watches: list[asyncio.Task[None]] = []

    def come_for(self, made: Sequence[Made]) -> bool:
        """Return whether any of the objects is of a kind that ends."""
        return any(each.kind in self._kinds for each in made)

    async def all_of(self, made: Sequence[Made]) -> None:
        """Return when all objects have ended that can, or exist no longer."""
        ends = [await self._end_of(each) for each in made if each.kind in self._kinds]
        await asyncio.gather(*ends)

    def close(self) -> None:
        """Watch no longer."""
        for each in self._watches:
            each.cancel()

    async def _end_of(self, made: Made) -> asyncio.Future[None]:
        """Return what is done when an object has ended; its kind is watched from now on."""
        resource = await self._sender.client.resource_for(made.api_version, made.kind)
        end = asyncio.get_running_loop().create_future()
        if made.uid in self._ended:
            end.set_result(None)
            return end
        if resource not in self._waiting:
            self._watches.append(self._tasks.create_task(self._watch(resource)))
        return self._waiting.setdefault(resource, {}).setdefault(made.uid, end)

    async def _watch(self, resource: Resource) -> None:
        waiting = self._waiting[resource]
        gone = set(waiting)
        """The objects made before a list, and not seen since the watch ended: those that the list does not show are gone already."""
        batches = watch(
            self._sender.client.pool,
            resource,
            decoder=_decode,
            label_selector=self._selector,
            shows_gaps=True,
        )
        async with aclosing(batches):
            async for events in batches:
                for event in events:
                    if event.type is EventType.SYNCED:
                        self._end(waiting, *gone)
                    if event.object is None:
                        gone = set(waiting) if event.type is EventType.INTERRUPTED else set()
                        continue
                    uid = event.object["metadata"]["uid"]
                    gone.discard(uid)
                    if self._has_ended(resource, event):
                        self._end(waiting, uid)

    def _has_ended(self, resource: Resource, event: Event[dict[str, Json]]) -> bool:
        body = event.object
        if body is None or event.type is EventType.DELETED:
            return True
        return any(has_ended(body) for has_ended in self._kinds[resource.kind])

    def _end(self, waiting: dict[str, asyncio.Future[None]], *uids: str) -> None:
        for uid in uids:
            self._ended.add(uid)
            end = waiting.pop(uid, None)
            if end is not None and not end.done():
                end.set_result(None)


class Afterlife:
    """The wait for the objects of an arrival once they are accepted, and their deletion."""

    def __init__(self, spec: LoadSpec, sender: LoadSender, endings: Endings, speed: float) -> None:
        self._ttl = None if spec.ttl is None else period(spec.ttl, "ttl") / speed
        self._follows = spec.delete_when_done or spec.arrivals.concurrency is not None
        self._deletes = spec.delete_when_done or self._ttl is not None
        self._sender, self._endings = sender, endings

    async def of(self, made: Sequence[Made]) -> None:
        """Return when an arrival is over: its time to live is, or its objects have ended; then delete them."""
        if self._follows and self._endings.come_for(made):
            await self._until_done(made)
        elif self._ttl is not None:
            await asyncio.sleep(self._ttl)
        if self._deletes:
            for each in reversed(made):
                await self._delete(each)

    async def _until_done(self, made: Sequence[Made]) -> None:
        try:
            async with asyncio.timeout(self._ttl):
                await self._endings.all_of(made)
        except TimeoutError:
            return

    async def _delete(self, made: Made) -> None:
        try:
            await retried(partial(self._sender.delete, made))
        except ApiError as e:
            if e.reason not in (_GONE, "Conflict"):  # another has its name now
                raise

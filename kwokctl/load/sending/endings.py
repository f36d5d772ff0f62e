"""When what an arrival has made has ended, and its deletion then."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing

import msgspec

from kwokctl.clusters.objects.conditions import Predicate, predicate
from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import Resource
from kwokctl.load.arrival import Made
from kwokctl.load.client.sender import LoadSender
from kwokctl.load.description.schema import DoneShape, LoadSpec
from kwokctl.load.description.units import period

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
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._watches: dict[Resource, asyncio.Task[None]] = {}

    def come_for(self, made: Sequence[Made]) -> bool:
        """Return whether any of the objects is of a kind that ends."""
        return any(each.kind in self._kinds for each in made)

    async def all_of(self, made: Sequence[Made]) -> None:
        """Return when all objects have ended that can, or exist no longer."""
        for each in made:
            if each.kind in self._kinds and each.uid not in self._ended:
                await self._follow(each)
                await self._waiting.setdefault(each.uid, asyncio.get_running_loop().create_future())

    def close(self) -> None:
        """Watch no longer."""
        for each in self._watches.values():
            each.cancel()

    async def _follow(self, made: Made) -> None:
        resource = await self._sender.client.resource_for(made.api_version, made.kind)
        if resource not in self._watches:
            self._watches[resource] = self._tasks.create_task(self._watch(resource))

    async def _watch(self, resource: Resource) -> None:
        conditions = self._kinds[resource.kind]
        pool = self._sender.client.pool
        batches = watch(pool, resource, decoder=_decode, label_selector=self._selector)
        async with aclosing(batches):
            async for events in batches:
                for event in events:
                    body = event.object
                    if body is None:
                        continue
                    is_gone = event.type is EventType.DELETED
                    if is_gone or any(has_ended(body) for has_ended in conditions):
                        self._end(body["metadata"]["uid"])

    def _end(self, uid: str) -> None:
        self._ended.add(uid)
        waiting = self._waiting.pop(uid, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)


class Afterlife:
    """What happens to the objects of an arrival once they are accepted, and how many arrivals are open."""

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
            await self._sender.delete(made)
        except ApiError as e:
            if e.reason not in (_GONE, "Conflict"):  # another has its name now
                raise

"""Gives a set of objects its size: makes what is missing, deletes what is too much, waits."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from kwokctl.clusters.scaling.changes import Changes, changes_for
from kwokctl.clusters.scaling.creation import Creation
from kwokctl.clusters.scaling.direct import Direct
from kwokctl.clusters.scaling.following import Following
from kwokctl.clusters.scaling.growth import Growth
from kwokctl.clusters.scaling.in_flight import first_failure
from kwokctl.clusters.scaling.mould import Mould
from kwokctl.clusters.scaling.obstacles import obstacle
from kwokctl.clusters.scaling.pace import Pace
from kwokctl.clusters.scaling.place import Place
from kwokctl.clusters.scaling.placing import Placing, placing_of
from kwokctl.clusters.scaling.readiness import judge_of
from kwokctl.clusters.scaling.reading import members_of
from kwokctl.clusters.scaling.request import ScaleRequest, ScaleResult
from kwokctl.clusters.scaling.room import stored_size
from kwokctl.clusters.scaling.shrinking import Shrinking
from kwokctl.clusters.scaling.stamping import WORTH
from kwokctl.clusters.scaling.stragglers import Stragglers
from kwokctl.clusters.scaling.templates import ResourceTemplate, find_template
from kwokctl.clusters.scaling.waiting import Goal, wait_for
from kwokctl.config.data_path import Choice
from kwokctl.kube.resource import NODES, PODS

_MANY = 1000
"""Objects for which it is looked whether etcd has room for them."""


async def scale_set(
    request: ScaleRequest, templates: Mapping[str, ResourceTemplate], place: Place
) -> ScaleResult:
    """Make or delete objects until the set has as many as asked for, and wait if asked to.

    The oldest members are kept. Interrupted at any moment it leaves whole objects only, and doing
    the same again completes it. Raises UsageError for an unknown template or a bad parameter before
    the cluster is touched, ConflictError for a name that somebody else's object has, NotFoundError
    for a namespace that does not exist, and TimedOutError, which names the laggards.
    """
    mould = Mould(find_template(templates, request.kind), request, place.wall)
    first = mould.stamp(0)
    resource = await place.reader.resolve(first["apiVersion"], first["kind"])
    namespace = request.namespace if resource.namespaced else None
    placing = await placing_of(request, mould, resource, place.reader)
    creation = Creation(
        request=request,
        stamp=placing.stamp,
        resource=resource,
        namespace=namespace,
        plane=place.plane,
        reader=place.reader,
    )
    return await _Scaling(creation, place, mould, placing).run()


class _Scaling:
    """One run of scaling."""

    def __init__(self, creation: Creation, place: Place, mould: Mould, placing: Placing) -> None:
        self._creation = creation
        self._request = creation.request
        self._resource = creation.resource
        self._place = place
        self._mould = mould
        self._selector = members_of(self._request.set_name)
        self._growth = Growth(creation, place, mould, placing)
        grace = self._request.grace_seconds
        self._shrinking = Shrinking(
            place, creation.resource, creation.namespace, grace_seconds=grace
        )

    async def run(self) -> ScaleResult:
        listed = self._place.reader.select(self._resource, self._creation.namespace, self._selector)
        changes = changes_for(self._request, [known async for known in listed])
        direct = await self._settle_path(len(changes.missing), len(changes.surplus))
        if direct is None:
            await self._through_api(changes)
        else:
            await self._through_etcd(changes, direct)
        return ScaleResult(
            kind=self._resource.kind,
            name=self._request.set_name,
            created=len(changes.missing),
            deleted=len(changes.surplus),
            existing=len(changes.kept) + len(changes.surplus),
        )

    async def _through_api(self, changes: Changes) -> None:
        """Make nodes no faster than they become ready, which a watch tells."""
        made = self._names(changes.missing)
        pace = Pace() if made and self._resource == NODES else None
        following = Following({*changes.kept, *made}, _settling(pace, made))
        needed = pace is not None or self._request.wait is not None
        async with self._followed(following, needed=needed):
            async with self._watched(changes.missing):
                await self._change(changes, pace, None)
            if self._request.wait is not None:
                await self._wait(following, len(following.wanted))

    async def _through_etcd(self, changes: Changes, direct: Direct) -> None:
        """Write what is ready as it is written; look afterwards whether all are as asked for."""
        number = len(changes.missing) + len(changes.surplus)
        async with self._counted(direct, number), self._watched(changes.missing):
            await self._change(changes, None, direct)
        if self._request.wait is None:
            return
        wanted = {*changes.kept, *self._names(changes.missing)}
        if self._resource == PODS and not changes.surplus:
            namespace, reader = self._creation.namespace, self._place.reader
            names = direct.pods_like
            stragglers = Stragglers(reader, namespace, self._selector, wanted, names)
            await self._wait(stragglers, len(wanted))
            return
        following = Following(wanted, lambda _: None)
        async with self._followed(following, needed=True):
            await self._wait(following, len(wanted))

    async def _change(self, changes: Changes, pace: Pace | None, direct: Direct | None) -> None:
        if changes.missing:
            await self._growth.make(changes.missing, len(changes.kept), pace, direct)
        if changes.surplus:
            await self._shrinking.delete(changes.surplus, direct)

    async def _wait(self, goal: Goal, number: int) -> None:
        request, progress = self._request, self._place.progress
        seconds = request.wait or 0.0
        await wait_for(goal, seconds, number, self._resource, request.set_name, progress)

    def _names(self, serials: Sequence[int]) -> set[str]:
        return {self._request.object_name(serial) for serial in serials}

    @asynccontextmanager
    async def _counted(self, direct: Direct | None, number: int) -> AsyncIterator[None]:
        """Tell afterwards how many watches could not follow, if many objects are written."""
        if direct is None or number < _MANY:
            yield
            return
        await direct.ended.ask()
        yield
        await direct.ended.ask()
        if ended := direct.ended.new:
            self._place.progress.note(
                f"{ended} watches fell behind and were ended by the API server; they went on from there"
            )

    @asynccontextmanager
    async def _watched(self, serials: Sequence[int]) -> AsyncIterator[None]:
        """Make sure that etcd has room for many objects, now and as long as they are made."""
        room = self._place.room
        if room is None or self._request.force or len(serials) < _MANY:
            yield
            return
        await room.demand(len(serials) * stored_size(self._resource, self._mould.stamp(serials[0])))
        async with room.guarded():
            yield

    async def _settle_path(self, missing: int, surplus: int) -> Direct | None:
        """Decide how so many objects are written, and say it if there are many."""
        place, direct = self._place, self._place.direct
        if max(missing, surplus) < WORTH:
            return None
        why = await self._obstacle(direct) if direct is not None else None
        if direct is not None and missing and self._mould.pattern() is None:
            why = "the shape of what the template makes depends on Name or Index"
        place.progress.note(str(place.choice if why is None else Choice(path="api", why=why)))
        return direct if why is None else None

    async def _obstacle(self, direct: Direct) -> str | None:
        if self._place.insists:
            return None
        return await obstacle(direct.client.pool, self._resource, self._creation.namespace)

    @asynccontextmanager
    async def _followed(self, following: Following, *, needed: bool) -> AsyncIterator[None]:
        """Follow the members of the set in the background, if that is needed."""
        if not needed:
            yield
            return
        changes = self._place.reader.watch(
            self._resource,
            self._creation.namespace,
            self._selector,
            judge_of(self._resource.kind),
        )
        try:
            async with asyncio.TaskGroup() as tasks:
                task = tasks.create_task(following.follow(changes))
                yield
                task.cancel()
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None


def _settling(pace: Pace | None, made: set[str]) -> Callable[[str], None]:
    """Return what tells `pace` of each object of this run that becomes ready, once."""
    due = set(made)

    def settle(name: str) -> None:
        if pace is not None and name in due:
            due.remove(name)
            pace.settle()

    return settle

"""Gives a set of objects its size: makes what is missing, deletes what is too much, waits."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from kwokctl.clusters.scaling.changes import changes_for
from kwokctl.clusters.scaling.creation import Creation
from kwokctl.clusters.scaling.direct import Direct
from kwokctl.clusters.scaling.following import Following
from kwokctl.clusters.scaling.growth import Growth
from kwokctl.clusters.scaling.in_flight import first_failure
from kwokctl.clusters.scaling.mould import Mould
from kwokctl.clusters.scaling.obstacles import obstacle
from kwokctl.clusters.scaling.pace import Pace
from kwokctl.clusters.scaling.place import Place, amount
from kwokctl.clusters.scaling.placing import Placing, placing_of
from kwokctl.clusters.scaling.readiness import judge_of, word_for
from kwokctl.clusters.scaling.reading import members_of
from kwokctl.clusters.scaling.request import ScaleRequest, ScaleResult
from kwokctl.clusters.scaling.room import stored_size
from kwokctl.clusters.scaling.shrinking import Shrinking
from kwokctl.clusters.scaling.stamping import WORTH
from kwokctl.clusters.scaling.templates import ResourceTemplate, find_template
from kwokctl.config.data_path import Choice
from kwokctl.dataplane.window import Window
from kwokctl.errors import TimedOutError
from kwokctl.kube.ended_watches import ended_watches
from kwokctl.kube.resource import NODES

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
        self._window = Window()
        self._growth = Growth(creation, place, mould, placing, self._window)
        self._shrinking = Shrinking(
            place,
            creation.resource,
            creation.namespace,
            self._window,
            grace_seconds=self._request.grace_seconds,
        )

    async def run(self) -> ScaleResult:
        listed = self._place.reader.select(self._resource, self._creation.namespace, self._selector)
        changes = changes_for(self._request, [known async for known in listed])
        direct = await self._settle_path(len(changes.missing), len(changes.surplus))
        made = {self._request.object_name(serial) for serial in changes.missing}
        is_paced = bool(made) and self._resource == NODES and direct is None
        pace = Pace() if is_paced else None
        following = Following(
            {*changes.kept, *made}, _settling(pace, made), on_version=self._window.seen
        )
        needed = is_paced or direct is not None or self._request.wait is not None
        async with (
            self._counted(direct, max(len(changes.missing), len(changes.surplus))),
            self._followed(following, needed=needed),
            self._watched(changes.missing),
        ):
            if changes.missing:
                await self._growth.make(changes.missing, len(changes.kept), pace, direct)
            if changes.surplus:
                await self._shrinking.delete(changes.surplus, direct)
            if self._request.wait is not None:
                await self._wait(following, self._request.wait)
        return ScaleResult(
            kind=self._resource.kind,
            name=self._request.set_name,
            created=len(changes.missing),
            deleted=len(changes.surplus),
            existing=len(changes.kept) + len(changes.surplus),
        )

    @asynccontextmanager
    async def _counted(self, direct: Direct | None, number: int) -> AsyncIterator[None]:
        """Tell afterwards how many watches could not follow, if many objects are written."""
        if direct is None or number < _MANY:
            yield
            return
        before = await ended_watches(direct.client.pool)
        yield
        if ended := await ended_watches(direct.client.pool) - before:
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

    async def _wait(self, following: Following, seconds: float) -> None:
        number, word = len(following.wanted), word_for(self._resource.kind)
        title = f"Waiting until {amount(number, self._resource)} {'is' if number == 1 else 'are'} {word}"
        if number == 0:
            title = f"Waiting until no {self._resource.plural} are left"
        unit = self._resource.plural
        try:
            with self._place.progress.step(title, total=number, unit=unit) as step:
                async with asyncio.timeout(seconds or None):
                    await following.complete(step.advance)
        except TimeoutError as e:
            late, names = following.laggards()
            raise TimedOutError(
                f"after {seconds:g} s {amount(late, self._resource)} of '{self._request.set_name}' "
                f"{'is' if late == 1 else 'are'} not as asked for",
                detail=names,
                hint="nothing is undone; the same command waits on",
            ) from e

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

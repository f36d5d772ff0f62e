"""Gives a set of objects its size: makes what is missing, deletes what is too much, waits."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Container, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext

from kwokctl.clusters.scaling.changes import Changes, Names, changes_for
from kwokctl.clusters.scaling.creation import Creation
from kwokctl.clusters.scaling.direct import Direct
from kwokctl.clusters.scaling.following import Following
from kwokctl.clusters.scaling.growth import Growth
from kwokctl.clusters.scaling.in_flight import beside
from kwokctl.clusters.scaling.mould import Mould
from kwokctl.clusters.scaling.obstacles import Obstacles, Way, watched
from kwokctl.clusters.scaling.pace import Pace
from kwokctl.clusters.scaling.place import Place, amount
from kwokctl.clusters.scaling.placing import Placing, placing_of
from kwokctl.clusters.scaling.readiness import judge_of
from kwokctl.clusters.scaling.reading import members_of
from kwokctl.clusters.scaling.request import ScaleRequest, ScaleResult
from kwokctl.clusters.scaling.room import stored_size
from kwokctl.clusters.scaling.serials import Serials
from kwokctl.clusters.scaling.shrinking import Shrinking
from kwokctl.clusters.scaling.stamping import WORTH
from kwokctl.clusters.scaling.stragglers import Stragglers
from kwokctl.clusters.scaling.templates import ResourceTemplate, find_template
from kwokctl.clusters.scaling.waiting import Goal, wait_for
from kwokctl.config.data_path import Choice
from kwokctl.errors import KwokctlError
from kwokctl.kube.resource import NODES, PODS

log = logging.getLogger(__name__)

_MANY = 1000
"""Objects for which it is looked whether etcd has room for them."""
_MUCH = 0.05
"""Watches that are ended for each object written, above which that is said."""
_FEW = Choice(path="api", why="there are few objects")


async def scale_set(
    request: ScaleRequest, templates: Mapping[str, ResourceTemplate], place: Place
) -> ScaleResult:
    """Make or delete objects until the set has as many as asked for, and wait if asked to.

    The oldest members are kept. Interrupted at any moment it leaves whole objects only, and doing
    the same again completes it. Raises UsageError for an unknown template or a bad parameter before
    the cluster is touched, ConflictError for a name that somebody else's object has, NotFoundError
    for a namespace that does not exist, and TimedOutError, which names the laggards.
    """
    mould = Mould(find_template(templates, request.kind), request, place.wall, place.kubelet)
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
        self._placing = placing
        self._selector = members_of(self._request.set_name)
        self._growth = Growth(creation, place, mould, placing)
        grace = self._request.grace_seconds
        self._shrinking = Shrinking(
            place, creation.resource, creation.namespace, grace_seconds=grace
        )

    async def run(self) -> ScaleResult:
        """Change the set while no other command does, then wait until it is ready."""
        request = self._request
        doing = f"scaling '{request.set_name}' to {request.replicas:,}"
        async with AsyncExitStack() as changing:
            await changing.enter_async_context(self._place.turn(self._identity, doing))
            changes = await self._changes()
            await self._demand_room(changes.missing)
            way = await self._way(changes, changing)
            async with self._told(changes):
                if way is None:
                    await self._through_api(changes, changing)
                else:
                    await self._through_etcd(changes, way, changing)
        return ScaleResult(
            kind=self._resource.kind,
            name=self._request.set_name,
            created=len(changes.missing),
            deleted=len(changes.surplus),
            existing=len(changes.kept) + len(changes.surplus),
            held=changes.held if request.wait is None else 0,
        )

    @property
    def _identity(self) -> str:
        """What tells one set of a cluster from the others."""
        creation = self._creation
        return f"{self._resource.path(creation.namespace)} {self._request.set_name}"

    async def _changes(self) -> Changes:
        namespace = self._creation.namespace
        listed = self._place.reader.select(self._resource, namespace, self._selector)
        return changes_for(self._request, [known async for known in listed])

    async def _through_api(self, changes: Changes, changing: AsyncExitStack) -> None:
        """Make nodes no faster than they become ready, which a watch tells."""
        made = Names(self._request, changes.missing)
        pace = Pace() if made and self._resource == NODES else None
        wanted = Names(self._request, changes.missing, changes.kept)
        following = Following(wanted, _settling(pace, made))
        needed = pace is not None or self._request.wait is not None
        async with self._followed(following, needed=needed):
            async with self._room_watched(changes.missing):
                await self._change(changes, pace, None)
            await changing.aclose()
            if self._request.wait is not None:
                await self._wait(following, len(wanted))

    async def _through_etcd(self, changes: Changes, way: Way, changing: AsyncExitStack) -> None:
        """Write what is ready as it is written; look afterwards whether all are as asked for."""
        number = len(changes.missing) + len(changes.surplus)
        async with self._counted(way.direct, number), self._room_watched(changes.missing):
            await self._change(changes, None, way)
        await changing.aclose()
        if self._request.wait is None:
            return
        wanted = Names(self._request, changes.missing, changes.kept)
        if self._resource == PODS and not changes.surplus:
            namespace, reader = self._creation.namespace, self._place.reader
            names = way.direct.pods_like
            stragglers = Stragglers(reader, namespace, self._selector, wanted, names)
            await self._wait(stragglers, len(wanted))
            return
        following = Following(wanted, lambda _: None)
        async with self._followed(following, needed=True):
            await self._wait(following, len(wanted))

    async def _change(self, changes: Changes, pace: Pace | None, way: Way | None) -> None:
        if changes.missing:
            await self._placing.settle(changes.missing, self._place.reader)
            await self._growth.make(changes.missing, len(changes.kept), pace, way)
        if changes.surplus:
            await self._shrinking.delete(changes.surplus, len(changes.kept), way)
            await self._growth.give_back(changes.kept)

    async def _wait(self, goal: Goal, number: int) -> None:
        request, seconds = self._request, self._request.wait or 0.0
        await wait_for(goal, seconds, number, self._resource, request.set_name, self._place)

    @asynccontextmanager
    async def _told(self, changes: Changes) -> AsyncIterator[None]:
        """Say what exists, and that it stays, when making or deleting it has not come to its end."""
        try:
            yield
        except asyncio.CancelledError:
            for stands in self._stand(changes):
                note = f"at least {stands}; nothing is undone; repeat the command to continue"
                self._place.progress.note(note)
            raise
        except KwokctlError:
            if self._growth.made < len(changes.missing):
                for stands in self._stand(changes):
                    self._place.progress.note(stands)
            raise

    def _stand(self, changes: Changes) -> Iterator[str]:
        """Yield how far making and deleting have come, if they have begun."""
        made, deleted = self._growth.made, self._shrinking.deleted
        if made:
            whole = amount(self._request.replicas, self._resource)
            yield f"{len(changes.kept) + made:,} of {whole} exist"
        if deleted:
            yield f"{deleted:,} of {amount(len(changes.surplus), self._resource)} are deleted"

    @asynccontextmanager
    async def _counted(self, direct: Direct, number: int) -> AsyncIterator[None]:
        """Tell afterwards how many watches could not follow, if many objects are written."""
        if number < _MANY:
            yield
            return
        await direct.ended.ask()
        yield
        await direct.ended.ask()
        ended = direct.ended.new
        text = f"the API server ended {ended:,} watches that fell behind; they have resumed"
        if ended > number * _MUCH:
            self._place.progress.note(text)
        elif ended:
            log.debug(text)

    def _is_bounded(self, serials: Serials) -> bool:
        """Whether so many objects are made that etcd may not have room for them."""
        return self._place.room is not None and not self._request.force and len(serials) >= _MANY

    async def _demand_room(self, serials: Serials) -> None:
        """Make sure that etcd has room for many objects before any is made."""
        if self._place.room is not None and self._is_bounded(serials):
            size = stored_size(self._resource, self._mould.stamp(serials[0]))
            await self._place.room.demand(len(serials) * size)

    def _room_watched(self, serials: Serials) -> AbstractAsyncContextManager[None]:
        """Make sure that etcd has room for many objects as long as they are made."""
        if self._place.room is not None and self._is_bounded(serials):
            return self._place.room.guarded()
        return nullcontext()

    async def _way(self, changes: Changes, changing: AsyncExitStack) -> Way | None:
        """Return the way past the API server, None for few objects or if something is in it.

        It is watched as long as the set is `changing`.
        """
        number = max(len(changes.missing), len(changes.surplus))
        direct, why = self._place.direct, None
        if number < WORTH:
            direct = None
        elif direct is not None and changes.missing and self._mould.pattern() is None:
            direct, why = None, "the shape of what the template makes depends on Name or Index"
        watching = await changing.enter_async_context(AsyncExitStack())
        way = None if direct is None else await self._free_way(direct, watching)
        if way is not None and (why := way.obstacles.why) is not None:
            await watching.aclose()
            way = None
        self._tell_path(why, number)
        return way

    async def _free_way(self, direct: Direct, watching: AsyncExitStack) -> Way:
        """Begin to watch what may get in the way."""
        obstacles = Obstacles(
            direct.client.pool,
            self._resource,
            self._creation.namespace,
            insists=self._place.insists,
            tell=self._tell_why,
        )
        await watching.enter_async_context(watched(obstacles))
        return Way(direct, obstacles)

    def _tell_why(self, why: str) -> None:
        self._place.progress.note(str(Choice(path="api", why=why)))

    def _tell_path(self, why: str | None, number: int) -> None:
        """Say how is written if that is not what was said when the cluster was made."""
        place = self._place
        if why is not None:
            self._tell_why(why)
        elif place.tells_path and number >= WORTH:
            place.progress.note(str(place.choice))
        else:
            log.debug("%s", place.choice if number >= WORTH else _FEW)

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
        async with beside(following.follow(changes)):
            yield


def _settling(pace: Pace | None, made: Container[str]) -> Callable[[str], None]:
    """Return what tells `pace` of each object of this run that becomes ready, once."""
    settled: set[str] = set()

    def settle(name: str) -> None:
        if pace is not None and name in made and name not in settled:
            settled.add(name)
            pace.settle()

    return settle

"""Gives a set of objects its size: makes what is missing, deletes what is too much, waits."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kwokctl.clusters.scaling.changes import changes_for
from kwokctl.clusters.scaling.creation import Creation
from kwokctl.clusters.scaling.deletion import delete_all
from kwokctl.clusters.scaling.following import Following
from kwokctl.clusters.scaling.in_flight import first_failure
from kwokctl.clusters.scaling.mould import Mould
from kwokctl.clusters.scaling.pace import Pace
from kwokctl.clusters.scaling.readiness import judge_of, word_for
from kwokctl.clusters.scaling.reading import Known, Reader, members_of
from kwokctl.clusters.scaling.request import ScaleRequest, ScaleResult
from kwokctl.clusters.scaling.templates import ResourceTemplate, find_template
from kwokctl.dataplane.port import DataPlane
from kwokctl.errors import TimedOutError
from kwokctl.kube.resource import Resource
from kwokctl.progress import Progress

_PACED = frozenset({"Node"})
"""Kinds that are made no faster than they become ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The cluster in which a set is scaled, and who listens."""

    reader: Reader
    plane: DataPlane
    progress: Progress
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp."""


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
    creation = Creation(
        request=request,
        stamp=mould.stamp,
        resource=resource,
        namespace=namespace,
        plane=place.plane,
        reader=place.reader,
    )
    return await _Scaling(creation, place).run()


class _Scaling:
    """One run of scaling."""

    def __init__(self, creation: Creation, place: Place) -> None:
        self._creation = creation
        self._request = creation.request
        self._resource = creation.resource
        self._place = place
        self._selector = members_of(self._request.set_name)

    async def run(self) -> ScaleResult:
        listed = self._place.reader.select(self._resource, self._creation.namespace, self._selector)
        changes = changes_for(self._request, [known async for known in listed])
        made = {self._request.object_name(serial) for serial in changes.missing}
        is_paced = bool(made) and self._resource.kind in _PACED
        pace = Pace() if is_paced else None
        following = Following({*changes.kept, *made}, _settling(pace, made))
        async with self._followed(following, needed=is_paced or self._request.wait is not None):
            if changes.missing:
                await self._make(changes.missing, len(changes.kept), pace)
            if changes.surplus:
                await self._delete(changes.surplus)
            if self._request.wait is not None:
                await self._wait(following, self._request.wait)
        return ScaleResult(
            kind=self._resource.kind,
            name=self._request.set_name,
            created=len(changes.missing),
            deleted=len(changes.surplus),
            existing=len(changes.kept) + len(changes.surplus),
        )

    async def _make(self, serials: tuple[int, ...], members: int, pace: Pace | None) -> None:
        title = f"Creating {_amount(len(serials), self._resource)}"
        unit = self._resource.plural
        with self._place.progress.step(title, total=len(serials), unit=unit) as step:
            await self._creation.run(serials, members=members, pace=pace, tell=step.advance)

    async def _delete(self, surplus: tuple[Known, ...]) -> None:
        title = f"Deleting {_amount(len(surplus), self._resource)}"
        unit = self._resource.plural
        with self._place.progress.step(title, total=len(surplus), unit=unit) as step:
            await delete_all(
                self._place.plane, self._resource, self._creation.namespace, surplus, step.advance
            )

    async def _wait(self, following: Following, seconds: float) -> None:
        number, word = len(following.wanted), word_for(self._resource.kind)
        amount = _amount(number, self._resource)
        title = f"Waiting until {amount} {'is' if number == 1 else 'are'} {word}"
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
                f"after {seconds:g} s {_amount(late, self._resource)} of '{self._request.set_name}' "
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


def _amount(number: int, resource: Resource) -> str:
    return f"{number} {resource.kind.lower() if number == 1 else resource.plural}"

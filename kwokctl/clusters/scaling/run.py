"""Gives a set of objects its size: makes what is missing, deletes what is too much, waits."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kwokctl.clusters.scaling.changes import changes_for
from kwokctl.clusters.scaling.creation import AT_ONCE, Creation
from kwokctl.clusters.scaling.deletion import Deletion
from kwokctl.clusters.scaling.direct import Direct
from kwokctl.clusters.scaling.following import Following
from kwokctl.clusters.scaling.freshness import paced
from kwokctl.clusters.scaling.in_flight import first_failure, for_each
from kwokctl.clusters.scaling.mould import Mould
from kwokctl.clusters.scaling.obstacles import obstacle
from kwokctl.clusters.scaling.pace import Pace
from kwokctl.clusters.scaling.placing import Placing, placing_of
from kwokctl.clusters.scaling.readiness import judge_of, word_for
from kwokctl.clusters.scaling.reading import Known, Reader, members_of
from kwokctl.clusters.scaling.request import ScaleRequest, ScaleResult
from kwokctl.clusters.scaling.stamping import SAMPLES, WORTH, Stamping
from kwokctl.clusters.scaling.templates import ResourceTemplate, find_template
from kwokctl.config.data_path import Choice
from kwokctl.dataplane.port import DataPlane
from kwokctl.dataplane.stamp import CannotStampError
from kwokctl.dataplane.window import LATE, Window
from kwokctl.errors import TimedOutError
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.progress import Progress, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The cluster in which a set is scaled, and who listens."""

    reader: Reader
    plane: DataPlane
    progress: Progress
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp."""
    choice: Choice
    """How is written, as far as the cluster's options tell."""
    direct: Direct | None = None
    """What is needed to write to etcd; None if that is not to be."""
    insists: bool = False
    """Whether etcd is written to though webhooks, policies or quotas are passed by."""


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
        self._placing = placing
        self._selector = members_of(self._request.set_name)
        self._window = Window()

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
        async with self._followed(following, needed=needed):
            if changes.missing:
                await self._make(changes.missing, len(changes.kept), pace, direct)
            if changes.surplus:
                await self._delete(changes.surplus, direct)
            if self._request.wait is not None:
                await self._wait(following, self._request.wait)
        return ScaleResult(
            kind=self._resource.kind,
            name=self._request.set_name,
            created=len(changes.missing),
            deleted=len(changes.surplus),
            existing=len(changes.kept) + len(changes.surplus),
        )

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

    async def _make(
        self, serials: Sequence[int], members: int, pace: Pace | None, direct: Direct | None
    ) -> None:
        before = members + await self._creation.others(serials)
        title = f"Creating {_amount(len(serials), self._resource)}"
        unit = self._resource.plural
        with self._place.progress.step(title, total=len(serials), unit=unit) as step:
            if direct is not None and len(serials) >= WORTH:
                if await self._stamp(serials, before, direct, step):
                    return
                serials, before = serials[SAMPLES:], before + SAMPLES
            else:
                await self._creation.first(serials[0], before=before)
                step.advance()
                serials, before = serials[1:], before + 1
            await self._creation.rest(serials, before=before, pace=pace, tell=step.advance)

    async def _stamp(self, serials: Sequence[int], before: int, direct: Direct, step: Step) -> bool:
        """Write copies to etcd; False, after the first two objects, if they would not be right."""
        pattern = self._mould.pattern()
        varying = {} if pattern is None else pattern.varying
        stamping = Stamping(self._creation, direct, varying, self._placing.node_of)
        try:
            await stamping.prepare(serials, before=before)
            step.advance(SAMPLES)
            tell = _telling(step, self._window)
            await stamping.write(serials[SAMPLES:], self._window, tell)
        except CannotStampError as e:
            if self._place.insists:
                raise
            self._place.progress.note(str(Choice(path="api", why=str(e))))
            return False
        return True

    async def _delete(self, surplus: Sequence[Known], direct: Direct | None) -> None:
        if self._resource == NODES:
            await self._delete_pods(surplus, direct)
        title = f"Deleting {_amount(len(surplus), self._resource)}"
        with self._place.progress.step(
            title, total=len(surplus), unit=self._resource.plural
        ) as step:
            deletion = self._deletion(self._resource, self._creation.namespace)
            if direct is None or self._request.grace_seconds:
                await deletion.through_api(surplus, step.advance)
            else:
                tell = _telling(step, self._window)
                await deletion.through_etcd(surplus, direct, self._window, tell)

    async def _delete_pods(self, nodes: Sequence[Known], direct: Direct | None) -> None:
        """Delete the pods of nodes that go: nobody else would do it for most of a minute."""
        found: defaultdict[str, list[Known]] = defaultdict(list)

        async def look(node: Known) -> None:
            async for pod in self._place.reader.pods_on(node.name):
                found[pod.namespace].append(pod)

        await for_each(nodes, look, at_once=AT_ONCE)
        number = sum(map(len, found.values()))
        if not number:
            return
        title = f"Deleting {_amount(number, PODS)} on them"
        with self._place.progress.step(title, total=number, unit=PODS.plural) as step:
            for namespace, pods in found.items():
                deletion = self._deletion(PODS, namespace)
                if direct is None or self._request.grace_seconds:
                    await deletion.through_api(pods, step.advance)
                    continue
                async with paced(direct.client.pool, PODS, namespace) as window:
                    await deletion.through_etcd(pods, direct, window, _telling(step, window))

    def _deletion(self, resource: Resource, namespace: str | None) -> Deletion:
        return Deletion(
            plane=self._place.plane,
            reader=self._place.reader,
            resource=resource,
            namespace=namespace,
            grace_seconds=self._request.grace_seconds,
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


def _telling(step: Step, window: Window) -> Callable[[], None]:
    """Return what counts one object done, and says when the watch holds the writer back."""

    def tell() -> None:
        step.advance()
        if window.delay > LATE:
            step.say(f"held back: watches are {window.delay:.1f} s behind")

    return tell


def _amount(number: int, resource: Resource) -> str:
    return f"{number} {resource.kind.lower() if number == 1 else resource.plural}"

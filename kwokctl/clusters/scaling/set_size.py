"""Gives a set of objects its size: creates missing objects, deletes surplus ones, waits."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Container, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext

from kwokctl.clusters.etcd_quota import stored_size
from kwokctl.clusters.scaling.changes import Changes, Names, Serials, changes_for
from kwokctl.clusters.scaling.cluster_reader import members_of
from kwokctl.clusters.scaling.companions import SetCompanions
from kwokctl.clusters.scaling.consent import is_agreed, remark_parameters
from kwokctl.clusters.scaling.context import ScaleContext, Supervision, amount
from kwokctl.clusters.scaling.create_objects import SetCreation
from kwokctl.clusters.scaling.delete_objects import SetDeletion
from kwokctl.clusters.scaling.objects.parameters import NAME, SetParameters
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.placement import Placing, placing_of
from kwokctl.clusters.scaling.rate import Pace
from kwokctl.clusters.scaling.ready_objects import judge_of
from kwokctl.clusters.scaling.scale_request import ScaleRequest, ScaleResult
from kwokctl.clusters.scaling.set_admission import SetAdmission, watched, with_dependents
from kwokctl.clusters.scaling.wait_for_set import Goal, ReadinessWatch, Stragglers, wait_for
from kwokctl.clusters.state.resource_templates import ResourceTemplate, find_template
from kwokctl.config.data_path import Choice
from kwokctl.dataplane.port import FEWEST_COPIES, FakeKubelet
from kwokctl.errors import ApiError, KwokctlError, TimedOutError
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.tasks import beside

log = logging.getLogger(__name__)

_MANY = 1000
"""Objects for which it is looked whether etcd has room for them."""
_MUCH = 0.05
"""Watches that are ended for each object written, above which that is reported."""
_BRANCHES = (
    "the template renders other fields for some names or numbers of objects, so each object is created by "
    "itself, which takes longer"
)
_FEW = Choice(path="api", why="there are few objects")


async def scale_set(
    request: ScaleRequest, templates: Mapping[str, ResourceTemplate], context: ScaleContext
) -> ScaleResult:
    """Make or delete objects until the set has as many as requested, and wait if asked to.

    The oldest members are kept. Interrupted at any moment it leaves whole objects only, and doing
    the same again completes it. Raises UsageError for an unknown template or a bad parameter before
    the cluster is touched, ConflictError for a name that another client's object has, NotFoundError
    for a namespace that does not exist, and TimedOutError, which names the objects that are late.
    """
    template = find_template(templates, request.kind)
    renderer = Renderer(template, request, context.wall, context.kubelet, context.faults)
    first = renderer.stamp(0)
    resource = await context.reader.resolve(first["apiVersion"], first["kind"])
    request = request.placed(resource, first)
    parameters = SetParameters(request, resource, context.parameters, template)
    await parameters.recall()
    renderer = renderer if request.params else renderer.edited(parameters.known)
    placing = await placing_of(request, renderer, resource, context.reader)
    return await _Scaling(request, resource, context, renderer, placing, parameters).run()


class _Scaling:
    """One run of scaling."""

    def __init__(
        self,
        request: ScaleRequest,
        resource: Resource,
        context: ScaleContext,
        renderer: Renderer,
        placing: Placing,
        parameters: SetParameters,
    ) -> None:
        self._parameters = parameters
        self._request = request
        self._resource = resource
        self._namespace = request.namespace if resource.namespaced else None
        self._context = context
        self._renderer = renderer
        self._selector = members_of(request.set_name)
        self._companions = SetCompanions(request, resource, context, renderer)
        self._creation = SetCreation(request, resource, context, renderer, placing)
        self._again: dict[SetCreation, Serials] = {}
        """Those that make objects again as they were, with parameters other than the last."""
        self._deletion = SetDeletion(
            context, resource, self._namespace, grace_seconds=request.grace_seconds
        )
        self._limit = asyncio.timeout(request.timeout)
        self._broken = 0

    async def run(self) -> ScaleResult:
        """Change the set while no other command changes it, then wait until it is ready."""
        request = self._request
        doing = f"scaling '{request.set_name}' to {request.replicas:,}"
        await self._companions.look_up()
        async with self._bounded(), AsyncExitStack() as changing:
            await changing.enter_async_context(self._context.turn(self._identity, doing))
            changes = await self._changes()
            known = self._parameters.known
            remark_parameters(
                request, self._parameters, changes, self._resource, self._context.progress
            )
            if not await is_agreed(request, known, changes, self._resource):
                return self._result(changes.declined())
            await self._demand_room(changes.missing)
            await self._divide(changes.missing)
            await self._remember(changes)
            admission = await self._admission(changes, changing)
            async with self._reporting(changes):
                if admission is None:
                    if self._context.supervision is not None:
                        kinds = with_dependents(self._resource) | self._companions.resources
                        self._context.supervision.direct.leave(kinds)
                    await self._through_api(changes, changing)
                else:
                    await self._past_api(changes, admission, changing)
        return self._result(changes)

    def _result(self, changes: Changes) -> ScaleResult:
        return ScaleResult(
            kind=self._resource.kind,
            name=self._request.set_name,
            namespace=self._namespace or "",
            created=len(changes.missing),
            deleted=len(changes.surplus),
            existing=changes.members,
            held=changes.held if self._request.wait is None else 0,
            broken=self._broken,
            companions=self._companions.made,
        )

    @property
    def _identity(self) -> str:
        """The identity of a set: cluster, kind, namespace and name."""
        return f"{self._resource.path(self._namespace)} {self._request.set_name}"

    async def _changes(self) -> Changes:
        reader = self._context.reader
        listed = reader.select(self._resource, self._namespace, self._selector)
        return changes_for(self._request, [known async for known in listed])

    async def _divide(self, missing: Serials) -> None:
        """Find the objects that are made again with parameters of their own."""
        for params, serials in self._parameters.former(missing).items():
            renderer = self._renderer.edited(params)
            request, resource, context = self._request, self._resource, self._context
            placing = await placing_of(request, renderer, resource, context.reader)
            creation = SetCreation(request, resource, context, renderer, placing)
            self._again[creation] = Serials.of(serials)

    async def _remember(self, changes: Changes) -> None:
        """Remember what the objects to come are made with, and forget what those were that go."""
        is_for_kept = bool(changes.kept and self._companions.resources)
        try:
            if changes.surplus and not changes.kept:
                await self._parameters.forget()
            elif changes.missing or changes.surplus or is_for_kept:
                await self._parameters.remember(changes, is_for_kept=is_for_kept)
        except ApiError as e:
            if e.reason != "Forbidden":
                raise
            self._context.progress.warn(
                f"the parameters of '{self._request.set_name}' are not remembered: '{NAME}' cannot be "
                "written; give --param again with the next 'scale'"
            )

    async def _through_api(self, changes: Changes, changing: AsyncExitStack) -> None:
        """Create nodes no faster than they become ready, as a watch shows."""
        made = Names(self._request, changes.missing)
        pace = Pace() if made and self._resource == NODES else None
        wanted = Names(self._request, changes.missing, changes.kept)
        following = ReadinessWatch(wanted, _settling(pace, made))
        needed = pace is not None or self._request.wait is not None
        async with self._followed(following, needed=needed):
            async with self._room_watched(changes.missing):
                await self._change(changes, pace)
            await changing.aclose()
            if self._request.wait is not None:
                await self._wait(following, len(wanted))
                self._broken = len(following.broken)

    async def _past_api(
        self, changes: Changes, admission: SetAdmission, changing: AsyncExitStack
    ) -> None:
        """Write objects that are ready from the start; check afterwards that all are as requested."""
        number = len(changes.missing) + len(changes.surplus)
        async with (
            self._counted(number),
            self._room_watched(changes.missing),
            self._creation.kubelet(changes.missing) as kubelet,
        ):
            await self._change(changes, None, lambda: admission.namespace_version, kubelet)
        await changing.aclose()
        if self._request.wait is None:
            return
        wanted = Names(self._request, changes.missing, changes.kept)
        supervision = self._context.supervision
        if supervision is not None and self._resource == PODS and not changes.surplus:
            reader, names = self._context.reader, supervision.pod_names
            stragglers = Stragglers(reader, self._namespace, self._selector, wanted, names)
            await self._wait(stragglers, len(wanted))
            return
        following = ReadinessWatch(wanted, lambda _: None)
        async with self._followed(following, needed=True):
            await self._wait(following, len(wanted))
            self._broken = len(following.broken)

    async def _change(
        self,
        changes: Changes,
        pace: Pace | None,
        version: Callable[[], int] = int,
        kubelet: FakeKubelet | None = None,
    ) -> None:
        members, last = len(changes.kept), changes.missing
        for creation, serials in self._again.items():
            await creation.make(serials, members, pace, version, kubelet)
            members, last = members + len(serials), last.without(serials)
        if last:
            await self._creation.make(last, members, pace, version, kubelet)
        if changes.surplus:
            await self._companions.delete_of(changes.surplus)
            await self._deletion.delete(changes.surplus, len(changes.kept))
            await self._creation.give_back(changes.kept)
        await self._companions.complete()

    async def _wait(self, goal: Goal, number: int) -> None:
        request, seconds = self._request, self._request.wait or 0.0
        self._limit.reschedule(None)
        await wait_for(goal, seconds, number, self._resource, request.set_name, self._context)

    @asynccontextmanager
    async def _bounded(self) -> AsyncIterator[None]:
        """Bound the changes of the set, but not the wait for its readiness, which has its own time."""
        try:
            async with self._limit:
                yield
        except TimeoutError as e:
            if not self._limit.expired():
                raise
            request = self._request
            raise TimedOutError(
                f"scaling '{request.set_name}' to {amount(request.replicas, self._resource)} was not "
                f"done after {request.timeout:g} s",
                hint="what was done stays; repeat the command to continue",
            ) from e

    @asynccontextmanager
    async def _reporting(self, changes: Changes) -> AsyncIterator[None]:
        """Report what exists, and that it stays, when creation or deletion was not completed."""
        try:
            yield
        except asyncio.CancelledError:
            for progress in self._so_far(changes):
                note = f"at least {progress}; what was done stays; repeat the command to continue"
                self._context.progress.note(note)
            raise
        except KwokctlError:
            if self._made < len(changes.missing):
                for progress in self._so_far(changes):
                    self._context.progress.note(progress)
            raise

    @property
    def _made(self) -> int:
        return sum(each.made for each in (self._creation, *self._again))

    def _so_far(self, changes: Changes) -> Iterator[str]:
        """Yield how many objects are created and deleted, if that has begun."""
        made, deleted = self._made, self._deletion.deleted
        if made:
            whole = amount(self._request.replicas, self._resource)
            yield f"{len(changes.kept) + made:,} of {whole} exist"
        if deleted:
            yield f"{deleted:,} of {amount(len(changes.surplus), self._resource)} are deleted"

    @asynccontextmanager
    async def _counted(self, number: int) -> AsyncIterator[None]:
        """Report afterwards how many watches could not follow, if writes were held back for any.

        Each answer of the API server has megabytes, and takes it and us 30 ms: it is asked anyway in DEBUG.
        """
        supervision = self._context.supervision
        if supervision is None:
            yield
            return
        ended = supervision.ended
        async with beside(ended.ask()) if log.isEnabledFor(logging.DEBUG) else nullcontext():
            yield
        if not ended.is_known:
            return
        await ended.ask()
        text = f"the API server ended {ended.new:,} watches that fell behind; they have resumed"
        if ended.new > number * _MUCH:
            self._context.progress.note(text)
        elif ended.new:
            log.debug(text)

    def _is_bounded(self, serials: Serials) -> bool:
        """Whether the number of objects is so large that etcd may not have room for them."""
        return (
            self._context.etcd_quota is not None
            and not self._request.force
            and len(serials) >= _MANY
        )

    async def _demand_room(self, serials: Serials) -> None:
        """Make sure that etcd has room for many objects before any is made."""
        if self._context.etcd_quota is not None and self._is_bounded(serials):
            size = stored_size(self._resource, self._renderer.stamp(serials[0]))
            size += self._companions.size_each
            await self._context.etcd_quota.demand(len(serials) * size)

    def _room_watched(self, serials: Serials) -> AbstractAsyncContextManager[None]:
        """Make sure that etcd has room for many objects as long as they are made."""
        if self._context.etcd_quota is not None and self._is_bounded(serials):
            return self._context.etcd_quota.guarded()
        return nullcontext()

    async def _admission(self, changes: Changes, changing: AsyncExitStack) -> SetAdmission | None:
        """Return the guard of writes past the API server; None if the objects go through the API.

        They do if they are few, or if a webhook, policy or quota applies to them. The guard watches
        as long as the set is `changing`.
        """
        number = max(len(changes.missing), len(changes.surplus))
        supervision, why = self._context.supervision, None
        if number < FEWEST_COPIES:
            supervision = None
        elif supervision is not None and changes.missing and not self._has_patterns():
            supervision, why = None, _BRANCHES
        watching = await changing.enter_async_context(AsyncExitStack())
        admission = None if supervision is None else await self._watched(supervision, watching)
        if admission is not None and (why := admission.why) is not None:
            await watching.aclose()
            admission = None
        self._report_path(why, number)
        return admission

    def _has_patterns(self) -> bool:
        return all(each.has_pattern for each in (self._creation, *self._again))

    async def _watched(self, supervision: Supervision, watching: AsyncExitStack) -> SetAdmission:
        """Begin to watch the webhooks, policies and quotas that may apply to the objects."""
        admission = SetAdmission(
            supervision.pool,
            self._resource,
            self._namespace,
            insists=self._context.insists,
            leave=supervision.direct.leave,
            report=self._context.note_api,
        )
        admission.written |= self._companions.resources
        await watching.enter_async_context(watched(admission))
        return admission

    def _report_path(self, why: str | None, number: int) -> None:
        """Report how objects are written if that differs from what the cluster's creation reported."""
        context = self._context
        if why is not None:
            context.note_api(why)
        elif context.tells_path and number >= FEWEST_COPIES:
            context.progress.note(str(context.choice))
        else:
            log.debug("%s", context.choice if number >= FEWEST_COPIES else _FEW)

    @asynccontextmanager
    async def _followed(self, following: ReadinessWatch, *, needed: bool) -> AsyncIterator[None]:
        """Follow the members of the set in the background, if that is needed."""
        if not needed:
            yield
            return
        changes = self._context.reader.watch(
            self._resource,
            self._namespace,
            self._selector,
            judge_of(self._resource.kind, keeps_taints=self._context.keeps_taints),
        )
        async with beside(following.follow(changes)):
            yield


def _settling(pace: Pace | None, made: Container[str]) -> Callable[[str], None]:
    """Return a function that notifies `pace` once per object of this run that becomes ready."""
    settled: set[str] = set()

    def settle(name: str) -> None:
        if pace is not None and name in made and name not in settled:
            settled.add(name)
            pace.settle()

    return settle

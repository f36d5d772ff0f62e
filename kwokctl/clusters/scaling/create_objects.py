"""Creates the missing objects of a set, and never overwrites an object of another client."""

from asyncio import TaskGroup
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial

from kwokctl.clusters.scaling.changes import Names, Serials
from kwokctl.clusters.scaling.cluster_reader import Existing, others_than
from kwokctl.clusters.scaling.context import ScaleContext, amount
from kwokctl.clusters.scaling.objects.networks import NAME
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.placement import Placing
from kwokctl.clusters.scaling.rate import Pace, held_back
from kwokctl.clusters.scaling.ready_objects import judge_of
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.dataplane.copies.variable_fields import Varying
from kwokctl.dataplane.port import FakeKubelet, NewObjects, ObjectKey
from kwokctl.errors import ApiError, ConfigError, ConflictError, NotFoundError
from kwokctl.json_value import Json
from kwokctl.kube.resource import NODES, Resource
from kwokctl.replacing import replace
from kwokctl.tasks import first_failure

TTL = "node.alpha.kubernetes.io/ttl"
"""The annotation with which kube-controller-manager sets how long kubelets cache secrets.

Its TTL controller writes on every node a value that grows with the number of nodes, in one more
write for each node that has another value. A node that is born with the right value saves it.
"""
_UP_TO = (100, 500, 1000, 2000, 10000)
"""Nodes; while a cluster grows it passes to the next value when it has more than these."""
_SECONDS = ("0", "15", "30", "60", "300", "600")


class SetCreation:
    """The objects of a set that have not been created yet."""

    def __init__(
        self,
        request: ScaleRequest,
        resource: Resource,
        context: ScaleContext,
        renderer: Renderer,
        placing: Placing,
    ) -> None:
        """Create objects of a kind in `context`, rendered and placed."""
        self._request = request
        self._resource = resource
        self._namespace = request.namespace if resource.namespaced else None
        self._context = context
        self._renderer = renderer
        self._placing = placing
        self.made = 0
        """The number of objects created so far."""
        self._judge = judge_of(resource.kind, keeps_taints=context.keeps_taints)
        self._awaited = ""
        """The lack of a sample of the objects for which their copies wait; empty if they wait for none."""

    @property
    def has_pattern(self) -> bool:
        """Whether all objects are certain to have the same fields."""
        return self._renderer.pattern() is not None

    async def make(
        self,
        serials: Serials,
        members: int,
        pace: Pace | None,
        version: Callable[[], int] = int,
        kubelet: FakeKubelet | None = None,
    ) -> None:
        """Create the objects with these serials; the set has `members` already.

        `version` gives that of the namespace, where it is watched; `kubelet` plays what is written
        past the API server.
        """
        resource, context = self._resource, self._context
        before = members + await self._looked_around(serials)
        await self._settle_positions(serials[-1] + 1)
        title = self._title(len(serials), members)
        total = len(serials)
        with context.progress.step(title, total=total, unit=resource.plural) as step:

            def on_created() -> None:
                self.made += 1
                self._awaited = ""
                step.advance()

            turn = None if pace is None else pace.turn
            new = replace(self.objects(serials, before, on_created, turn, version), kubelet=kubelet)
            async with held_back(context, resource, step, lambda: self._awaited):
                await context.plane.create_copies(new)

    async def _looked_around(self, serials: Serials) -> int:
        """Count the objects that are not of the set, and look for room for pods meanwhile.

        The API server lets a list wait until its cache has caught up with etcd: two wait together.
        """
        try:
            async with TaskGroup() as reading:
                reading.create_task(self._settled(serials))
                others = reading.create_task(self.others(Names(self._request, serials)))
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        return others.result()

    async def _settled(self, serials: Serials) -> None:
        await self._placing.settle(serials, self._context.reader)

    def objects(
        self,
        serials: Serials,
        before: int,
        on_created: Callable[[], None],
        turn: Callable[[], Awaitable[None]] | None = None,
        version: Callable[[], int] = int,
    ) -> NewObjects:
        """Return what is created: `before` is how many of the kind there are."""

        def number_of(serial: int) -> int:
            return before + serials.index(serial) + 1

        return NewObjects(
            resource=self._resource,
            namespace=self._namespace,
            serials=serials,
            name_of=self._request.object_name,
            body=partial(self._body, number_of),
            varying=partial(self._varying, number_of),
            node_of=self._placing.node_of,
            lacks=self._lacks,
            managed_fields=self._context.has_managed_fields(self._resource),
            namespace_version=version,
            turn=turn,
            on_created=on_created,
            on_refused=self.explain,
            on_api=self._context.note_api,
        )

    def kubelet(self, serials: Serials) -> AbstractAsyncContextManager[FakeKubelet | None]:
        """Provide what plays new objects like the cluster's kubelets, if they see them at once."""
        supervision = self._context.supervision
        is_seen = self._resource == NODES or self._placing.node_of is not None
        if supervision is None or supervision.controller is None or not serials or not is_seen:
            return nullcontext()
        from kwokctl.clusters.scaling.playing_before import (
            kubelet_of,  # half of the controller's code
        )

        return kubelet_of(supervision.controller, self._resource.kind)

    async def others(self, wanted: Container[str]) -> int:
        """Count the objects that are not of the set, before anything is created.

        Raises ConflictError if one has a name that is `wanted`.
        """
        number = 0
        selector = others_than(self._request.set_name)
        async for existing in self._context.reader.select(
            self._resource, self._namespace, selector
        ):
            number += 1
            if existing.name in wanted:
                raise self._taken(existing)
        return number

    async def give_back(self, kept: Sequence[str]) -> None:
        """Release the networks and addresses of nodes that do not exist any more."""
        book = self._context.book
        if book is None or self._resource != NODES:
            return
        serials = map(self._request.serial_of, kept)
        used = max((serial for serial in serials if serial is not None), default=-1) + 1
        try:
            await self._renderer.positions.give_back(used, book)
        except ApiError as e:
            # A full etcd accepts no write: the set keeps its share until it is changed again.
            if e.reason != "Forbidden" and not e.is_full:
                raise

    async def explain(self, error: ApiError, name: str) -> None:
        """Raise the error for a refusal; return if the object exists after all.

        Raises NotFoundError if the namespace does not exist.
        """
        if error.reason == "AlreadyExists":
            await self._check_membership(name)
        elif error.reason == "NotFound" and self._namespace and "namespaces" in str(error):
            raise NotFoundError(
                f"there is no namespace '{self._namespace}'",
                hint=f"create it first: kubectl create namespace {self._namespace}",
            ) from error
        else:
            raise error

    def _lacks(self, raw: bytes) -> str | None:
        """Return what a sample lacks, and note it for the progress that is shown."""
        verdict = self._judge(raw)
        self._awaited = "" if verdict.lacks is None else f"{verdict.name} {verdict.lacks}"
        return verdict.lacks

    def _title(self, number: int, members: int) -> str:
        if not members:
            return f"Creating {amount(number, self._resource)}"
        return f"Creating {amount(number, self._resource, more=True)}, to {members + number:,}"

    def _body(self, number_of: Callable[[int], int], serial: int) -> dict[str, Json]:
        body = self._placing.stamp(serial)
        self._check_namespace(body["metadata"])
        if self._resource == NODES:
            _annotate(body, number_of(serial))
        return body

    def _check_namespace(self, metadata: Mapping[str, Json]) -> None:
        """Make sure that all objects are in the namespace of the first one."""
        own = metadata.get("namespace") or self._namespace
        if self._namespace is not None and own != self._namespace:
            raise ConfigError(
                f"the template '{self._request.kind}' puts '{metadata['name']}' into the namespace "
                f"'{own}', but the first object into '{self._namespace}'",
                hint="a set is in one namespace: scale one set for each namespace, with --namespace",
            )

    def _varying(self, number_of: Callable[[int], int], samples: Mapping[int, Json]) -> Varying:
        pattern = self._renderer.pattern()
        varying = {} if pattern is None else dict(pattern.varying)
        if self._resource == NODES:
            varying.update(_ttl(samples, number_of))
        return varying

    async def _settle_positions(self, number: int) -> None:
        """Allocate networks and addresses, if the objects are nodes."""
        context = self._context
        if context.book is None or self._resource != NODES:
            return
        starts = self._renderer.starts()
        if not starts:
            return
        try:
            await self._renderer.positions.settle(number, starts, context.book, context.reader)
        except ApiError as e:
            if e.reason != "Forbidden":
                raise
            context.progress.warn(
                f"networks and addresses of other sets may be repeated: '{NAME}' cannot be written"
            )

    async def _check_membership(self, name: str) -> None:
        """Raise ConflictError unless an unanswered request has created the object for this set."""
        target = ObjectKey(self._resource, self._namespace, name)
        existing = await self._context.reader.get(target)
        set_name = self._request.set_name
        if existing is None or existing.set_name != set_name or existing.is_going:
            raise self._taken(existing or name)

    def _taken(self, by: Existing | str) -> ConflictError:
        kind = self._resource.kind.lower()
        if isinstance(by, str):
            return ConflictError(
                f"{kind} '{by}' was created and deleted meanwhile", hint="repeat the command"
            )
        if by.set_name == self._request.set_name:
            return ConflictError(
                f"{kind} '{by.name}' is still being deleted", hint="repeat the command later"
            )
        owner = f"of the set '{by.set_name}'" if by.set_name else "not made by 'scale'"
        return ConflictError(
            f"{kind} '{by.name}' exists already and is {owner}; nothing is ever overwritten",
            hint=f"choose another name for the set: kwokctl scale {self._request.kind} NAME",
        )


def ttl_for(nodes: int) -> str:
    """Return the value for the node that makes a growing cluster have this many `nodes`."""
    return _SECONDS[bisect_left(_UP_TO, nodes)]


def _annotate(node: dict[str, Json], nodes: int) -> None:
    """Annotate the node that makes the cluster have this many `nodes`, if it is annotated at all."""
    annotations = node["metadata"].get("annotations")
    if annotations and TTL in annotations:
        annotations[TTL] = ttl_for(nodes)


def _ttl(samples: Mapping[int, Json], number_of: Callable[[int], int]) -> Varying:
    """Give each copy the annotation for the number of nodes when it is created."""
    real = {
        serial: body["metadata"].get("annotations", {}).get(TTL) for serial, body in samples.items()
    }
    if not any(real.values()):
        return {}
    path = ("metadata", "annotations", TTL)
    return {path: lambda serial: real.get(serial) or ttl_for(number_of(serial))}

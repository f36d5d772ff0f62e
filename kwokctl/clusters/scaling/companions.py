"""Makes the companions of a set: further objects for each of its objects, for the set, or once in a cluster.

After every change of a set its companions are compared with its objects: those that are missing are made, so the
same `scale` repairs what was deleted by hand, and those of objects that are gone are deleted.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from kwokctl.clusters.etcd_quota import stored_size
from kwokctl.clusters.scaling.cluster_reader import ClusterReader, Existing, members_of
from kwokctl.clusters.scaling.companion_writes import CompanionWriter, NewCompanions, of_bodies
from kwokctl.clusters.scaling.context import ScaleContext
from kwokctl.clusters.scaling.objects.companion_objects import (
    COMPANION_OF,
    NAME,
    OF_KIND,
    OF_NAMESPACE,
    OWNER_UID,
    CompanionRenderer,
)
from kwokctl.clusters.scaling.objects.object_pattern import Pattern
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.clusters.state.companion_templates import EACH, ONCE, CompanionTemplate
from kwokctl.dataplane.copies.variable_fields import Varying
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ConflictError, NotFoundError
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource

_Place = tuple[Resource, str | None]
"""A kind, and the namespace of its objects."""


class _OfEach(msgspec.Struct, frozen=True, kw_only=True):
    """One companion of every object: what its template gives at one place of the list."""

    resource: Resource
    namespace: str | None
    body: Callable[[int], dict[str, Json]]
    """Renders the one of the object with a serial."""
    pattern: Pattern | None
    size: int
    """About the bytes that it takes in etcd."""

    def name_of(self, serial: int) -> str:
        """Return the name of the one of the object with a serial."""
        if self.pattern is None:
            return str(self.body(serial)["metadata"]["name"])
        slot = self.pattern.slots.get(NAME)
        return str(self.pattern.body["metadata"]["name"] if slot is None else slot(serial))

    def names(self, size: int) -> set[str]:
        """Return the names of those of the objects with serials below `size`."""
        return set(map(self.name_of, range(size)))


class SetCompanions:
    """The companions of one set."""

    def __init__(
        self, request: ScaleRequest, resource: Resource, context: ScaleContext, renderer: Renderer
    ) -> None:
        """Make those of the objects of a `resource` in `context`.

        Raises ConfigError, with the place, for a template that is not valid.
        """
        self._request = request
        self._resource = resource
        self._namespace = request.namespace if resource.namespaced else None
        self._context = context
        self._renderers = [CompanionRenderer(each, renderer) for each in renderer.companions]
        self._once: list[CompanionRenderer] = []
        self._known: dict[tuple[str, str], Resource | None] = {}
        """The kinds by API version and name: a set may have hundreds of objects of one."""
        self._of_set: list[CompanionRenderer] = []
        self._of_each: list[_OfEach] = []
        self._kinds: set[Resource] = set()
        """The kinds of those that are for the set."""
        self._writer = CompanionWriter(request.set_name, context)

    @property
    def made(self) -> int:
        """The number of companions that were made."""
        return self._writer.made

    @property
    def resources(self) -> frozenset[Resource]:
        """The kinds that are written for each object."""
        return frozenset(each.resource for each in self._of_each)

    @property
    def size_each(self) -> int:
        """About the bytes of etcd that the companions of one object take."""
        return sum(each.size for each in self._of_each)

    async def look_up(self) -> None:
        """Find the kinds of all companions before anything is made.

        Companions of a kind that the cluster does not serve are left out with a warning. Raises ConfigError
        for a template that gives something else than objects, and ConflictError for a name that is taken.
        """
        for renderer in self._renderers:
            is_each = renderer.companion.made_for == EACH
            bodies = self._samples(renderer)
            resources = [await self._served(renderer, body) for body in bodies]
            found = [each for each in resources if each is not None]
            if not bodies or len(found) < len(resources):
                continue
            if is_each:
                self._of_each += self._each_of(renderer, bodies, found)
            elif renderer.companion.made_for == ONCE:
                self._once.append(renderer)
            else:
                self._of_set.append(renderer)
                self._kinds |= set(found)
        await self._refuse_taken()

    async def _refuse_taken(self) -> None:
        size = self._request.replicas
        for group in self._of_each if size else ():
            place = group.resource, group.namespace
            await self._writer.refuse_taken(place, partial(group.names, size))
        wanted = await self._bodies(self._of_set, size)
        for place, bodies in wanted.items():
            await self._writer.refuse_taken(place, partial(_names, bodies))

    async def delete_of(self, surplus: Sequence[Existing]) -> None:
        """Delete the companions of objects that are about to be deleted.

        Otherwise the garbage collector would, one by one.
        """
        going = {each.uid for each in surplus}
        for resource in sorted(self.resources, key=lambda each: each.plural):
            found = await self._existing(resource)
            surplus = [each for each in found if each.owner and each.owner.uid in going]
            await self._writer.delete(resource, surplus)

    async def complete(self) -> None:
        """Make the companions that are missing, and delete those that nothing has any more."""
        if not (self._of_each or self._of_set or self._once):
            return
        listed = self._context.reader.select(
            self._resource, self._namespace, members_of(self._request.set_name)
        )
        members = {
            serial: each.uid
            async for each in listed
            if not each.is_going and (serial := self._request.serial_of(each.name)) is not None
        }
        await self._complete_set(max(members, default=-1) + 1)
        for resource in dict.fromkeys(each.resource for each in self._of_each):
            await self._complete_each(resource, members)

    def _samples(self, renderer: CompanionRenderer) -> list[dict[str, Json]]:
        """Return the first companions of a template, and make sure that the next ones are others."""
        if renderer.companion.made_for != EACH:
            return renderer.of_set(max(self._request.replicas, 1))
        first = renderer.of_object(0, self._reference(""))
        second = renderer.of_object(1, self._reference(""))
        for one, other in zip(first, second, strict=False):
            if one["metadata"]["name"] == other["metadata"]["name"] and self._request.replicas > 1:
                raise renderer.fault(
                    f"names the companions of all objects '{one['metadata']['name']}'",
                    hint="use {{ Name }} in the name, or 'for: set'",
                )
        return first

    async def _served(
        self, renderer: CompanionRenderer, body: Mapping[str, Json]
    ) -> Resource | None:
        """Find the kind of a companion; None if the cluster does not serve it."""
        key = (str(body["apiVersion"]), str(body["kind"]))
        if key not in self._known:
            self._known[key] = await self._found(renderer.companion, *key)
        found = self._known[key]
        if found and renderer.companion.made_for == EACH and self._resource.namespaced:
            own = body["metadata"].get("namespace") or self._namespace
            if not found.namespaced or own != self._namespace:
                raise renderer.fault(
                    f"gives a {found.kind} outside of the namespace of its {self._resource.kind}, "
                    "which cannot own it",
                    hint="leave 'metadata.namespace' out, or use 'for: set'",
                )
        return found

    async def _found(
        self, companion: CompanionTemplate, api_version: str, kind: str
    ) -> Resource | None:
        """Find a kind; None, and a remark, if the cluster does not serve it."""
        try:
            return await self._context.reader.resolve(api_version, kind)
        except NotFoundError as e:
            source = f"; it is served by {companion.served_by}" if companion.served_by else ""
            self._context.progress.warn(
                f"no {kind} is made for '{self._request.set_name}': {e}{source}"
            )
            return None

    def _each_of(
        self,
        renderer: CompanionRenderer,
        samples: Sequence[dict[str, Json]],
        resources: Sequence[Resource],
    ) -> Iterator[_OfEach]:
        found = renderer.patterns(self._reference(""))
        patterns = [None] * len(samples) if found is None else found

        def body(place: int, serial: int) -> dict[str, Json]:
            bodies = renderer.of_object(serial, self._reference(""))
            if len(bodies) != len(samples):
                raise renderer.fault(
                    f"gives {len(samples)} companions for one object and {len(bodies)} for another"
                )
            return bodies[place]

        for place, (sample, resource) in enumerate(zip(samples, resources, strict=True)):
            yield _OfEach(
                resource=resource,
                namespace=self._namespace_of(sample, resource),
                body=partial(body, place),
                pattern=patterns[place],
                size=stored_size(resource, sample),
            )

    def _namespace_of(self, body: Mapping[str, Json], resource: Resource) -> str | None:
        own = body["metadata"].get("namespace")
        return (own or self._request.namespace or "default") if resource.namespaced else None

    def _reference(self, uid: str) -> dict[str, Json]:
        """Return the reference to an owner, without its name."""
        resource = self._resource
        kind = {"apiVersion": resource.api_version, "kind": resource.kind}
        return {**kind, "uid": uid, "controller": True}

    async def _complete_set(self, size: int) -> None:
        """Make what is for the set, if it has objects."""
        for place, bodies in (await self._bodies(self._once, size)).items():
            for body in bodies:
                await self._make_once(place, body)
        wanted = await self._bodies(self._of_set, size)
        there = [each for kind in self._kinds for each in await self._without_owner(kind)]
        for kind in self._kinds:
            names = {
                (where, body["metadata"]["name"])
                for (resource, where), bodies in wanted.items()
                for body in bodies
                if resource == kind
            }
            known = [each for resource, each in there if resource == kind]
            surplus = [each for each in known if (each.namespace or None, each.name) not in names]
            await self._writer.delete(kind, surplus)
        known_names = {(kind, each.namespace or None, each.name) for kind, each in there}
        for place, bodies in wanted.items():
            missing = [
                each for each in bodies if (*place, each["metadata"]["name"]) not in known_names
            ]
            for body in missing:
                body["metadata"]["labels"] |= self._mark
            await self._writer.make(of_bodies(place, missing, self._mark))

    async def _bodies(
        self, renderers: Sequence[CompanionRenderer], size: int
    ) -> dict[_Place, list[dict[str, Json]]]:
        """Return the companions of a set of a size, by place; of an empty one there are none."""
        found: dict[_Place, list[dict[str, Json]]] = {}
        for renderer in renderers if size else ():
            for body in renderer.of_set(size):
                resource = await self._context.reader.resolve(body["apiVersion"], body["kind"])
                place = resource, self._namespace_of(body, resource)
                found.setdefault(place, []).append(body)
        return found

    @property
    def _mark(self) -> dict[str, str]:
        """Return the labels that tell sets of one name apart: by their objects' kind and namespace."""
        kind = {OF_KIND: self._resource.kind}
        return kind if self._namespace is None else {**kind, OF_NAMESPACE: self._namespace}

    async def _without_owner(self, kind: Resource) -> list[tuple[Resource, Existing]]:
        found = await self._writer.existing(kind, None, self._mark)
        return [(kind, each) for each in found if each.owner is None]

    async def _make_once(self, place: _Place, body: dict[str, Json]) -> None:
        """Make what all sets share, unless it is there; it is of no set."""
        del body["metadata"]["labels"][COMPANION_OF]
        resource, namespace = place
        key = ObjectKey(resource, namespace, body["metadata"]["name"])
        if await self._context.reader.get(key) is not None:
            return
        try:
            await self._writer.make(of_bodies(place, [body]))
        except ConflictError:  # a command for another set may have made it meanwhile
            if await self._context.reader.get(key) is None:
                raise

    async def _existing(self, resource: Resource) -> list[Existing]:
        """List the companions of a kind that objects of this set own."""
        namespace = self._namespace if resource.namespaced else None
        found = await self._writer.existing(resource, namespace)
        return [each for each in found if each.owner and each.owner.kind == self._resource.kind]

    async def _complete_each(self, resource: Resource, members: Mapping[int, str]) -> None:
        """Make what is for each object, whose uids are given by serial."""
        groups = [each for each in self._of_each if each.resource == resource]
        names = {serial: [each.name_of(serial) for each in groups] for serial in members}
        owners = {name: members[serial] for serial, own in names.items() for name in own}
        of_set = await self._existing(resource)
        right = {
            each.name for each in of_set if each.owner and owners.get(each.name) == each.owner.uid
        }
        await self._writer.delete(resource, [each for each in of_set if each.name not in right])
        for place, group in enumerate(groups):
            missing = [serial for serial in sorted(members) if names[serial][place] not in right]
            await self._make_each(group, missing, members)

    async def _make_each(
        self, group: _OfEach, serials: Sequence[int], uids: Mapping[int, str]
    ) -> None:
        def body(serial: int) -> dict[str, Json]:
            made = group.body(serial)
            made["metadata"]["ownerReferences"][0]["uid"] = uids[serial]
            return made

        def varying(_samples: Mapping[int, Json]) -> Varying:
            slots = {} if group.pattern is None else group.pattern.slots
            return {**slots, OWNER_UID: uids.__getitem__}

        await self._writer.make(
            NewCompanions(
                resource=group.resource,
                namespace=group.namespace,
                serials=serials,
                name_of=group.name_of,
                body=body,
                varying=varying,
                # What quotas and webhooks of another namespace allow is not watched.
                is_uniform=group.pattern is not None and not group.resource.namespaced,
            )
        )


def _names(bodies: Sequence[Mapping[str, Json]]) -> set[str]:
    return {each["metadata"]["name"] for each in bodies}


async def described(
    renderer: Renderer, resource: Resource, reader: ClusterReader, size: int
) -> AsyncIterator[str]:
    """Yield, in words, which companions a set of `size` objects of a `resource` gets."""
    for each in renderer.companions if size else ():
        companion, is_each = CompanionRenderer(each, renderer), each.made_for == EACH
        owner = {"kind": resource.kind}
        for body in companion.of_object(0, owner) if is_each else companion.of_set(size):
            name = f"{body['kind']} '{body['metadata']['name']}'"
            try:
                await reader.resolve(body["apiVersion"], body["kind"])
            except NotFoundError as e:
                yield f"Left out: {name}: {e}"
                continue
            yield f"With each of them: such as {name}" if is_each else f"With all of them: {name}"

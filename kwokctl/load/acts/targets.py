"""Chooses the object that an act changes: by its name, or drawn from those selected."""

import msgspec

from kwokctl.clusters.objects.metadata import KnownMetadata, known_objects
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.expr.gotemplate import template
from kwokctl.expr.gotemplate.template import Template
from kwokctl.kube.collections.paging import ListQuery
from kwokctl.kube.resource import Resource
from kwokctl.load.acts.act import ActContext, Data
from kwokctl.load.client.load_rights import Right
from kwokctl.load.client.load_selectors import problem_of
from kwokctl.load.client.sender import Flight
from kwokctl.load.description.acts_schema import SelectionShape, TargetShape
from kwokctl.load.description.bundles import LOAD_LABEL


class Found(msgspec.Struct, frozen=True):
    """One object to be changed."""

    namespace: str | None
    name: str


class Targets:
    """The objects that a load changes."""

    def __init__(self, context: ActContext, shape: SelectionShape, place: str) -> None:
        """Look where the shape says, which stands at `place`."""
        self._context, self._shape, self._place = context, shape, place
        name = shape.name if isinstance(shape, TargetShape) else ""
        self._name = template.compile(name, name=f"{place}.name") if name else None
        self._stream = context.stream.below("target")
        self.namespace = context.load.spec.namespace if shape.namespace is None else shape.namespace
        self._resource: Resource | None = None

    async def resource(self) -> Resource:
        """Return the resource of their kind; ConfigError with the place if the cluster serves none."""
        if self._resource is None:
            try:
                self._resource = await self._context.sender.finder.find(self._shape.kind)
            except NotFoundError as e:
                place = f"{self._place}.kind"
                raise self._context.fault(place, f"is not served: {e}", hint=e.hint) from e
        return self._resource

    async def rights(self, data: Data, *verbs: str, subresource: str = "") -> list[Right]:
        """Return the rights to do something with them, and to find them.

        Raises ConfigError, with the place, for what does not say which they are.
        """
        resource = await self.resource()
        needed = [Right(verb, resource, self.namespace, subresource) for verb in verbs]
        if self._name is not None:
            self._named(self._name, data)
            return needed
        await self._try_selector()
        return [Right("list", resource, self.namespace), *needed]

    def _named(self, name: Template, data: Data) -> str:
        return self._context.text(name, data, f"{self._place}.name")

    async def _try_selector(self) -> None:
        """Raise ConfigError for a selector that the API server does not understand."""
        problem = await problem_of(self._context.sender.client.pool, await self.query())
        if problem:
            raise self._context.fault(f"{self._place}.selector", f"is wrong: {problem}")

    async def one(self, flight: Flight, data: Data) -> Found:
        """Return the object for an arrival; ApiError if there is none."""
        if self._name is not None:
            return Found(self.namespace or None, self._named(self._name, data))
        found = await self.all(flight)
        if not found:
            kind = (await self.resource()).plural
            raise ApiError(f"there are no {kind} to change", status=404, reason="NoTarget")
        return found[int(self._stream.at(data["index"]) * len(found))]

    async def share(self, flight: Flight, data: Data, percent: float) -> list[Found]:
        """Return a share of the objects, at least one if there is any; others for each arrival."""
        found = await self.all(flight)
        wanted = min(len(found), max(1, round(len(found) * percent / 100)))
        stream = self._stream.below(str(data["index"]))
        ranks = sorted(range(len(found)), key=stream.at)
        return [found[rank] for rank in sorted(ranks[:wanted])]

    async def all(self, flight: Flight) -> list[Found]:
        """Return all of them that are not being deleted, in the order of their names."""
        await flight.turn()
        objects = known_objects(self._context.sender.client.pool, await self.query())
        found = [_found(each) async for each in objects if each.deleted is None]
        return sorted(found, key=lambda each: (each.namespace or "", each.name))

    async def query(self) -> ListQuery:
        """Return what selects them."""
        made = f"{LOAD_LABEL}={self._shape.load}" if self._shape.load else ""
        return ListQuery(
            resource=await self.resource(),
            namespace=self.namespace or None,
            label_selector=",".join(filter(None, (made, self._shape.selector))),
        )


def _found(metadata: KnownMetadata) -> Found:
    return Found(metadata.namespace or None, metadata.name)

"""Lists, creates and deletes the companions of a set, in bulk as the set itself."""

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial

import msgspec

from kwokctl.clusters.scaling.cluster_reader import Existing
from kwokctl.clusters.scaling.context import ScaleContext, amount
from kwokctl.clusters.scaling.objects.companion_objects import COMPANION_OF
from kwokctl.clusters.scaling.rate import held_back
from kwokctl.dataplane.copies.variable_fields import Varying
from kwokctl.dataplane.port import NewObjects, OldObjects
from kwokctl.errors import ApiError, ConflictError
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource

NO_MARK: Mapping[str, str] = {}


def _nothing(_samples: Mapping[int, Json]) -> Varying:
    return {}


class NewCompanions(msgspec.Struct, frozen=True, kw_only=True):
    """Companions of one kind and namespace that are made together, one for each serial."""

    resource: Resource
    namespace: str | None
    serials: Sequence[int]
    name_of: Callable[[int], str]
    body: Callable[[int], dict[str, Json]]
    varying: Callable[[Mapping[int, Json]], Varying] = _nothing
    is_uniform: bool = False
    """Whether they differ in nothing but values that are known."""
    mark: Mapping[str, str] = NO_MARK
    """The labels that they have beside the name of their set, which finds them by all of these."""


def of_bodies(
    place: tuple[Resource, str | None],
    bodies: Sequence[dict[str, Json]],
    mark: Mapping[str, str] = NO_MARK,
) -> NewCompanions:
    """Return companions of a kind and a namespace that have been rendered."""
    resource, namespace = place
    return NewCompanions(
        resource=resource,
        namespace=namespace,
        serials=range(len(bodies)),
        name_of=lambda number: str(bodies[number]["metadata"]["name"]),
        body=bodies.__getitem__,
        mark=mark,
    )


class CompanionWriter:
    """Writes the companions of one set."""

    def __init__(self, set_name: str, context: ScaleContext) -> None:
        self._set_name = set_name
        self._context = context
        self.made = 0
        """The number of companions created so far."""

    async def existing(
        self, resource: Resource, namespace: str | None, mark: Mapping[str, str] = NO_MARK
    ) -> list[Existing]:
        """List those of a kind that have these labels, too, without those that are being deleted."""
        labels = {COMPANION_OF: self._set_name, **mark}
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        listed = self._context.reader.select(resource, namespace, selector)
        return [each async for each in listed if not each.is_going]

    async def refuse_taken(
        self, place: tuple[Resource, str | None], names: Callable[[], Container[str]]
    ) -> None:
        """Raise ConflictError if one of the `names` is that of an object which is not of the set.

        Most often there is no such object of the kind, and then no names are asked for.
        """
        resource, namespace = place
        others = f"{COMPANION_OF}!={self._set_name}"
        listed = self._context.reader.select(resource, namespace, others)
        found = [each.name async for each in listed]
        wanted = names() if found else ()
        for name in found:
            if name in wanted:
                raise self._taken(resource, name)

    async def make(self, wanted: NewCompanions) -> None:
        """Create companions; ConflictError if another client's object has the name of one."""
        number, resource = len(wanted.serials), wanted.resource
        if not number:
            return
        context = self._context
        title = f"Creating {amount(number, resource)} for '{self._set_name}'"
        with context.progress.step(title, total=number, unit=resource.plural) as step:

            def on_created() -> None:
                self.made += 1
                step.advance()

            new = NewObjects(
                resource=resource,
                namespace=wanted.namespace,
                serials=wanted.serials,
                name_of=wanted.name_of,
                body=wanted.body,
                varying=wanted.varying,
                is_uniform=wanted.is_uniform,
                managed_fields=context.has_managed_fields(resource),
                on_created=on_created,
                on_refused=partial(self._explain, wanted),
                on_api=context.note_api,
            )
            async with held_back(context, resource, step):
                await context.plane.create_copies(new)

    async def delete(self, resource: Resource, surplus: Sequence[Existing]) -> None:
        """Delete exactly these."""
        if not surplus:
            return
        title = f"Deleting {amount(len(surplus), resource)} of '{self._set_name}'"
        by_namespace: dict[str | None, list[Existing]] = {}
        for each in surplus:
            by_namespace.setdefault(each.namespace or None, []).append(each)
        context = self._context
        with context.progress.step(title, total=len(surplus), unit=resource.plural) as step:
            async with held_back(context, resource, step):
                for namespace, objects in by_namespace.items():
                    old = OldObjects(
                        resource=resource,
                        namespace=namespace,
                        objects=objects,
                        look=context.reader.get,
                        on_deleted=step.advance,
                        on_api=context.note_api,
                    )
                    await context.plane.delete_many(old)

    async def _explain(self, wanted: NewCompanions, error: ApiError, name: str) -> None:
        """Raise the error for a refusal; return if another run has made the companion meanwhile."""
        if error.reason != "AlreadyExists":
            raise error
        there = await self.existing(wanted.resource, wanted.namespace, wanted.mark)
        if name not in {each.name for each in there}:
            raise self._taken(wanted.resource, name)

    def _taken(self, resource: Resource, name: str) -> ConflictError:
        return ConflictError(
            f"{resource.kind.lower()} '{name}' exists already and is not of the set "
            f"'{self._set_name}'; nothing is ever overwritten",
            hint="delete it, or choose another name for the set, and repeat the command",
        )

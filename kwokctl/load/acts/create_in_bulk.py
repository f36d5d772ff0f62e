"""Creates the objects of an arrival past the API server, as copies of those of the first two."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol

from kwokctl.errors import ApiError, CannotStampError, ConfigError
from kwokctl.kube.resource import PODS
from kwokctl.load.acts.act import ActContext, Data, Work
from kwokctl.load.acts.create import Bundles, CreateAct
from kwokctl.load.client.load_rights import Right
from kwokctl.load.client.sender import Flight
from kwokctl.load.past_api.copies import BundlePlace, Copies
from kwokctl.load.past_api.copy_likeness import Bundle
from kwokctl.load.past_api.way import BULK, DirectWay

_SEEN = 10_000
"""Arrivals among which examples of each template are looked for."""
_EXAMPLES = 24
"""Arrivals of a template that are compared before the first is sent; and the last one."""

_REMEDY = "leave 'bulk' out, or let templates give objects that are alike: one for each value, with a weight"


class Arrivals(Protocol):
    """The arrivals of a load, as they are planned."""

    @property
    def total(self) -> int | None:
        """Their number, if it is known."""
        ...

    def data(self, index: int) -> Data:
        """Return what templates see of one."""
        ...


class BulkCreateAct:
    """Creates objects in etcd where the result is certain, and others through the API server."""

    def __init__(self, context: ActContext, way: DirectWay) -> None:
        self._context, self._way = context, way
        self._through_api = CreateAct(context)
        self._bundles = Bundles(context.load, context.run, context.stream)
        self._copies: dict[tuple[int, int], Copies] = {}

    @property
    def why(self) -> str:
        """Why objects went through the API server; empty if none had to."""
        return "; ".join(dict.fromkeys(each.why for each in self._copies.values() if each.why))

    async def rights(self, data: Data) -> list[Right]:
        """Return the rights to create the first two through the API server."""
        return await self._through_api.rights(data)

    async def open(self, arrivals: Arrivals) -> None:
        """Begin to watch what writes would bypass; ConfigError for what cannot be written to etcd."""
        for number, examples in self._examples(arrivals).items():
            for place in range(len(examples[0].bodies)):
                self._copies[number, place] = await self._checked(number, place, examples)

    def prepared(self, data: Data) -> Work:
        """Render the objects, and return what creates them in their order."""
        number = self._bundles.chosen(data)
        bundle = self._bundle(number, data)

        async def create(flight: Flight) -> None:
            for place in range(len(flight.made), len(bundle.bodies)):
                copies = self._copies.get((number, place))
                if copies is None:
                    await flight.create(bundle.bodies[place])
                else:
                    await copies.create(flight, bundle)

        return create

    def _examples(self, arrivals: Arrivals) -> dict[int, list[Bundle]]:
        """Return bundles of each template that comes often enough to be copied."""
        found: dict[int, list[int]] = defaultdict(list)
        for index in range(min(_SEEN, arrivals.total or _SEEN)):
            found[self._bundles.chosen({"index": index})].append(index)
        return {
            number: [self._bundle(number, arrivals.data(each)) for each in _some(indexes)]
            for number, indexes in found.items()
        }

    def _bundle(self, number: int, data: Data) -> Bundle:
        return Bundle(data["index"], data["name"], self._bundles.of(number, data))

    async def _checked(self, number: int, place: int, examples: list[Bundle]) -> Copies:
        body, context = examples[0].bodies[place], self._context
        if "name" not in body["metadata"]:
            raise context.fault(BULK, f"needs the names of objects: a {body['kind']} has none")
        resource = await context.sender.client.resource_for(body["apiVersion"], body["kind"])
        within = body["metadata"].get("namespace") or context.sender.namespace
        namespace = within if resource.namespaced else None
        is_placed = resource == PODS and bool(body.get("spec", {}).get("nodeName"))
        kind = await self._way.kind(resource, namespace, is_placed=is_placed)
        copies = Copies(examples, BundlePlace(place, resource, namespace, is_placed), kind)
        try:
            await copies.check()
        except (CannotStampError, ApiError) as e:
            raise self._refusal(resource.plural, e) from e
        return copies

    def _refusal(self, plural: str, error: CannotStampError | ApiError) -> ConfigError:
        said, hint = str(error), error.hint
        if isinstance(error, CannotStampError):
            said, hint = error.problem, _REMEDY
        return self._context.fault(BULK, f"cannot write {plural} to etcd: {said}", hint=hint)


def _some(indexes: list[int]) -> Iterable[int]:
    """Return the first numbers, and the last: its name is the longest."""
    return dict.fromkeys((*indexes[:_EXAMPLES], indexes[-1]))

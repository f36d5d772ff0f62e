"""Creates the objects at one place of the bundles of a template: two through the API server, the rest as copies."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import msgspec

from kwokctl.dataplane.bulk.created_samples import SAMPLES
from kwokctl.dataplane.copies.first_difference import spelled, value_at
from kwokctl.dataplane.copies.variable_fields import Path, Varying
from kwokctl.dataplane.port import NewObjects, WriteCopy
from kwokctl.errors import ApiError, CannotStampError
from kwokctl.json_value import Json
from kwokctl.kube.resource import SERVICES, Resource
from kwokctl.load.arrival import Made
from kwokctl.load.client.sender import Flight
from kwokctl.load.past_api.copy_likeness import Bundle, Likeness
from kwokctl.load.past_api.way import DirectKind


class BundlePlace(msgspec.Struct, frozen=True):
    """The place of an object in the bundles of a template, and what stands there."""

    number: int
    resource: Resource
    namespace: str | None
    is_placed: bool
    """Whether it is a pod that is on a node from the start."""


class Copies:
    """The objects at one place."""

    def __init__(self, examples: Sequence[Bundle], place: BundlePlace, kind: DirectKind) -> None:
        """Learn from the examples of bundles how objects differ."""
        self._place, self._kind = place, kind
        self._likeness = Likeness(examples, place.number)
        self._bundles = {each.index: each for each in examples}
        self._samples: dict[int, bytes] = {}
        self._sampling = asyncio.Lock()
        self._write: WriteCopy | None = None
        self._cannot_copy = False
        self.why = ""
        """Why objects go through the API server after all."""

    async def check(self) -> None:
        """Raise CannotStampError if no copies can be made, ApiError if an object would be refused."""
        for bundle in self._bundles.values():
            self._demand_likeness(bundle)
        if self._kind.admission.why is not None:
            raise CannotStampError(self._kind.admission.why)
        if self._place.resource == SERVICES:  # not so in a dry run
            raise CannotStampError("the API server gives each an address of its own")
        await self._kind.session.check(self._new())
        self._bundles.clear()

    async def create(self, flight: Flight, bundle: Bundle) -> None:
        """Create the object of an arrival, as a copy if it is one."""
        try:
            self._demand_likeness(bundle)
            if await self._is_sample(flight, bundle):
                return
            uid = await self._copied(flight, bundle)
        except CannotStampError as e:
            self.why = self.why or e.problem
            uid = None
        if uid is None:
            self.why = self.why or self._kind.admission.why or ""
            await flight.create(self._at_place(bundle))
        else:
            flight.wrote(self._made(bundle, uid))

    async def _is_sample(self, flight: Flight, bundle: Bundle) -> bool:
        """Create the object through the API server if it is one of the first two, for which others wait."""
        if self._has_learned():
            return False
        async with self._sampling:
            if self._has_learned():
                return False
            await self._sample(flight, bundle)
        return True

    def _has_learned(self) -> bool:
        """Whether it is known how copies are made, or why they cannot be."""
        return self._write is not None or self._cannot_copy

    async def _copied(self, flight: Flight, bundle: Bundle) -> str | None:
        """Write a copy and return its uid; None if the API server has to create the object."""
        if self._write is None:
            return None
        await flight.turn()
        with self._known(bundle):
            try:
                return await self._write(bundle.index)
            except CannotStampError:
                self._write, self._cannot_copy = None, True
                raise

    async def _sample(self, flight: Flight, bundle: Bundle) -> None:
        """Create an object through the API server; with the second one it shows how copies are made."""
        answer = await flight.create(self._at_place(bundle))
        self._samples[bundle.index] = answer
        self._bundles[bundle.index] = bundle
        if len(self._samples) < SAMPLES:
            return
        try:
            self._write = await self._kind.session.copies_of(self._new(), self._samples)
        except CannotStampError as e:
            self.why, self._cannot_copy = e.problem, True

    def _demand_likeness(self, bundle: Bundle) -> None:
        """Raise CannotStampError, with the field, for what is no copy."""
        path = self._likeness.difference(bundle)
        if path is not None:
            kind = self._place.resource.kind
            raise CannotStampError(
                f"'{spelled(path)}' of a {kind} differs from arrival to arrival, and only names, labels and "
                "annotations may"
            )

    @contextmanager
    def _known(self, bundle: Bundle) -> Iterator[None]:
        """Keep the bundle of an arrival as long as its copy is made."""
        self._bundles[bundle.index] = bundle
        try:
            yield
        finally:
            del self._bundles[bundle.index]

    def _new(self) -> NewObjects:
        return NewObjects(
            resource=self._place.resource,
            namespace=self._place.namespace,
            serials=sorted(self._bundles),
            name_of=lambda serial: str(self._body(serial)["metadata"]["name"]),
            body=lambda serial: dict(self._body(serial)),
            varying=self._varying,
            node_of=self._node_of if self._place.is_placed else None,
            managed_fields=self._kind.managed_fields,
            namespace_version=lambda: self._kind.admission.namespace_version,
            on_created=lambda: None,
            on_refused=_refused,
            on_api=lambda _: None,
        )

    def _node_of(self, serial: int) -> str:
        return str(self._body(serial)["spec"]["nodeName"])

    def _varying(self, _samples: Mapping[int, Json]) -> Varying:
        return {path: partial(self._value, path) for path in self._likeness.varying}

    def _value(self, path: Path, serial: int) -> Json:
        return value_at(self._body(serial), path)

    def _body(self, serial: int) -> Mapping[str, Json]:
        return self._at_place(self._bundles[serial])

    def _made(self, bundle: Bundle, uid: str) -> Made:
        resource = self._place.resource
        name = str(self._at_place(bundle)["metadata"]["name"])
        return Made(resource.api_version, resource.kind, self._place.namespace or "", name, uid)

    def _at_place(self, bundle: Bundle) -> Mapping[str, Json]:
        return bundle.bodies[self._place.number]


async def _refused(error: ApiError, _name: str) -> None:
    """Raise the refusal, but for an object that exists: that is one of the arrivals' refusals."""
    if error.reason != "AlreadyExists":
        raise error

"""Makes the first two objects of a set through the API, and looks at them when they are complete."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from kwokctl.clusters.scaling.creation import Creation
from kwokctl.clusters.scaling.direct import Direct, Found
from kwokctl.clusters.scaling.readiness import judge_of
from kwokctl.clusters.scaling.retrying import retried
from kwokctl.dataplane.copies.json_stamp import CannotStampError
from kwokctl.errors import ApiError

Json = Any

SAMPLES = 2
"""Objects that a stamp is made from."""

_PATIENCE = 30.0
"""Seconds in which they must come to their status: a busy machine may take its time."""
_LOOK_AGAIN = 0.02
_PROTOBUF = "application/vnd.kubernetes.protobuf"


@dataclass(frozen=True, slots=True)
class Sample:
    """A real object as the API server shows it."""

    serial: int
    body: Json

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.body["metadata"]["name"])

    @property
    def version(self) -> int:
        """Its resourceVersion."""
        return int(self.body["metadata"]["resourceVersion"])


class Sampling:
    """The first objects of a set."""

    def __init__(self, creation: Creation, direct: Direct, *, is_followed: bool) -> None:
        """Make what `creation` does; `is_followed` tells whether fake kubelets give them a status."""
        self._creation = creation
        self._direct = direct
        self._is_followed = is_followed

    async def make(
        self, serials: Sequence[int], *, before: int, tell: Callable[[], None]
    ) -> Sequence[Sample]:
        """Make the first objects with these serials, one after the other, and `tell` of each.

        `before` is how many objects of the kind there are. The last one must be admitted before any
        is made, else ApiError is raised. Raises CannotStampError if the first ones do not come to
        their status.
        """
        await self._admit(serials[-1], before=before + len(serials) - 1)
        made = []
        for number, serial in enumerate(serials[:SAMPLES], start=before):
            made.append(await self._creation.first(serial, before=number))
            tell()
        return [
            await self._settled(serial, body)
            for serial, body in zip(serials[:SAMPLES], made, strict=True)
        ]

    async def _admit(self, serial: int, *, before: int) -> None:
        """Have the API server look at an object without making it.

        A label that grows with the number may be too long for the last ones: copied into etcd, they
        could never be updated.
        """
        creation = self._creation
        body = creation.body(serial, before=before)
        create = partial(
            self._direct.client.create,
            creation.resource,
            creation.namespace,
            orjson.dumps(body),
            dry_run=True,
        )
        try:
            await creation.patiently(partial(retried, create))
        except ApiError as e:
            if "does not support dry run" in str(e):
                return  # a webhook with side effects, which is passed by as asked for
            if e.status == 422:
                e.hint = "nothing was made: the last object is checked first; change the template"
            await creation.explain(e, body["metadata"]["name"])

    async def _settled(self, serial: int, made: bytes | None) -> Sample:
        """Return an object as it is when it has come to its status, if fake kubelets give it one.

        Others are taken as they were `made`: controllers and the scheduler go on from there.
        """
        creation = self._creation
        name, resource = creation.request.object_name(serial), creation.resource
        if made is None:
            raise CannotStampError(f"'{name}' was made meanwhile")
        if not self._is_followed:
            return Sample(serial, orjson.loads(made))
        judge = judge_of(resource.kind)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _PATIENCE
        while True:
            raw = await self._direct.client.get_raw(resource, creation.namespace, name)
            lacks = judge(raw).lacks
            if lacks is None:
                return Sample(serial, orjson.loads(raw))
            if loop.time() > deadline:
                raise CannotStampError(f"{resource.kind.lower()} '{name}' {lacks}")
            await asyncio.sleep(_LOOK_AGAIN)

    async def protobuf(self, sample: Sample, found: Found) -> bytes:
        """Return an object as protocol buffers, empty if it cannot be had so.

        What is stored may have changed, or be JSON.
        """
        creation, stored = self._creation, found.stored
        if stored.mod_revision == sample.version:
            if not stored.value.startswith(b"{"):
                return stored.value
        elif not self._is_followed:
            return b""
        path = creation.resource.path(creation.namespace, sample.name)
        response = await self._direct.client.pool.request("GET", path, accept=_PROTOBUF)
        return response.body if response.status == 200 else b""

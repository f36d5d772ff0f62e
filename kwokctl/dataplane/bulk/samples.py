"""Creates the first two objects through the API, and looks at them when they are complete."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import orjson

from kwokctl.dataplane.bulk.api import patiently
from kwokctl.dataplane.bulk.locate import BulkAccess, Located
from kwokctl.dataplane.port import NewObjects
from kwokctl.errors import ApiError, CannotStampError
from kwokctl.json_value import Json
from kwokctl.retry import retried

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


async def create_samples(new: NewObjects, access: BulkAccess) -> Sequence[Sample]:
    """Create the first objects, one after the other.

    The last one must be admitted before any is created, else ApiError is raised. Raises
    CannotStampError if the first ones do not come to their status.
    """
    await _admit(new, access)
    serials = new.serials[:SAMPLES]
    created = []
    for serial in serials:
        created.append(await patiently(partial(access.api.create_one, new, serial)))
        new.on_created()
    return [
        await _settled(new, access, serial, body)
        for serial, body in zip(serials, created, strict=True)
    ]


async def in_protobuf(
    new: NewObjects, access: BulkAccess, sample: Sample, located: Located
) -> bytes:
    """Return an object as protocol buffers, empty if there is none.

    What is stored may have changed, or be JSON.
    """
    stored = located.stored
    if stored.mod_revision == sample.version:
        if not stored.value.startswith(b"{"):
            return stored.value
    elif new.lacks is None:
        return b""
    path = new.resource.path(new.namespace, sample.name)
    response = await access.client.pool.request("GET", path, accept=_PROTOBUF)
    return response.body if response.status == 200 else b""


async def _admit(new: NewObjects, access: BulkAccess) -> None:
    """Have the API server look at the last object without creating it.

    A label that grows with the number may be too long for the last ones: copied into etcd, they
    could never be updated.
    """
    body = new.body(new.serials[-1])
    data = orjson.dumps(body)
    create = partial(access.client.create, new.resource, new.namespace, data, dry_run=True)
    try:
        await patiently(partial(retried, create))
    except ApiError as e:
        if "does not support dry run" in str(e):
            return  # a webhook with side effects, which is passed by as asked for
        if e.status == 422:
            e.hint = "nothing was made: the last object is checked first; change the template"
        await new.on_refused(e, body["metadata"]["name"])


async def _settled(
    new: NewObjects, access: BulkAccess, serial: int, created: bytes | None
) -> Sample:
    """Return an object as it is when it has come to its status, if fake kubelets give it one.

    Others are taken as they were `created`: controllers and the scheduler go on from there.
    """
    name = new.name_of(serial)
    if created is None:
        raise CannotStampError(f"'{name}' was made meanwhile")
    if new.lacks is None:
        return Sample(serial, orjson.loads(created))
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _PATIENCE
    while True:
        raw = await access.client.get_raw(new.resource, new.namespace, name)
        lacks = new.lacks(raw)
        if lacks is None:
            return Sample(serial, orjson.loads(raw))
        if loop.time() > deadline:
            raise CannotStampError(f"{new.resource.kind.lower()} '{name}' {lacks}")
        await asyncio.sleep(_LOOK_AGAIN)

"""Creates the two samples through the API, and reads them again after Stages were played on them."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import orjson

from kwokctl.dataplane.bulk.api_bulk import patiently
from kwokctl.dataplane.bulk.locate import BulkAccess, Located
from kwokctl.dataplane.port import NewObjects
from kwokctl.errors import ApiError, CannotStampError, RequestError
from kwokctl.json_value import Json
from kwokctl.retry import retried

SAMPLES = 2
"""Objects that a stamp is made from."""

_PATIENCE = 60.0
"""Seconds until they must have their status: a busy machine is slow."""
_LONGER = 60.0
"""Further seconds for the consequences, such as the removal of a taint from a node that is Ready."""
_LOOK_AGAIN, _SHARE = 0.02, 0.05
"""Seconds until an object is read again, and the part of the time that it has been waited for, if that is more."""
_PROTOBUF = "application/vnd.kubernetes.protobuf"


class Sample(msgspec.Struct, frozen=True):
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
    """Create the samples, one after the other, and return them as they were created.

    The last one must be admitted before any is created, else ApiError is raised. Raises
    CannotStampError if one of them existed.
    """
    # A label that grows with the serial may be too long for the last objects: copied into etcd, they
    # could never be updated.
    await admitted(new, access, new.serials[-1])
    created = []
    for serial in new.serials[:SAMPLES]:
        body = await patiently(partial(access.api.create_one, new, serial))
        new.on_created()
        if body is None:
            raise CannotStampError(f"'{new.name_of(serial)}' was made meanwhile")
        created.append(Sample(serial, orjson.loads(body)))
    return created


async def played(
    new: NewObjects, access: BulkAccess, sample: Sample, lacks: Callable[[Sample], str | None]
) -> Sample:
    """Wait until fake kubelets have played an object and the cluster has reacted, and return it.

    `lacks` returns the values that are still missing. Raises CannotStampError if they do not appear.
    """
    loop = asyncio.get_running_loop()
    began, longer = loop.time(), 0.0
    while True:
        raw = await access.client.get_raw(new.resource, new.namespace, sample.name)
        found = Sample(sample.serial, orjson.loads(raw))
        problem, left = lacks(found), new.lacks(raw)
        if problem is None:
            longer = longer or loop.time() + _LONGER
            if left is None or loop.time() > longer:
                return found
        elif loop.time() > began + _PATIENCE:
            raise CannotStampError(f"{new.resource.kind.lower()} '{sample.name}' {problem}")
        await asyncio.sleep(max(_LOOK_AGAIN, _SHARE * (loop.time() - began)))


async def as_created(access: BulkAccess, sample: Sample, located: Located) -> bytes:
    """Return the value that etcd stored when an object was created, empty if it was compacted."""
    stored = located.stored
    if stored.mod_revision == sample.version:
        return stored.value
    try:
        found = await access.store.as_of(stored.key, sample.version)
    except RequestError:
        return b""
    return b"" if found is None else found.value


async def in_protobuf(
    new: NewObjects, access: BulkAccess, sample: Sample, located: Located
) -> bytes:
    """Return an object as protocol buffers, empty if the API server does not serve these.

    The value in etcd does not suffice: it may have changed, or be JSON.
    """
    stored = located.stored
    if stored.mod_revision == sample.version and not stored.value.startswith(b"{"):
        return stored.value
    path = new.resource.path(new.namespace, sample.name)
    response = await access.client.pool.request("GET", path, accept=_PROTOBUF)
    return response.body if response.status == 200 else b""


async def admitted(new: NewObjects, access: BulkAccess, serial: int) -> Sample | None:
    """Let the API server admit an object in a dry run, and return it as it would be stored.

    Returns None if it cannot do that, or if the object exists.
    """
    data = orjson.dumps(new.body(serial))
    create = partial(access.client.create, new.resource, new.namespace, data, dry_run=True)
    try:
        return Sample(serial, orjson.loads(await patiently(partial(retried, create))))
    except ApiError as e:
        if "does not support dry run" in str(e):
            return None  # a webhook with side effects, which is bypassed as requested
        if e.status == 422:
            e.hint = "nothing was made: the last object is checked first; change the template"
        await new.on_refused(e, new.name_of(serial))
        return None

"""Finds objects by kind, name and namespace, and reads, follows or deletes them."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing

import msgspec

from kwokctl.clusters.direct_etcd.access import ObjectAccess
from kwokctl.dataplane.objects.resources import StoredResource
from kwokctl.errors import NotFoundError
from kwokctl.etcd.kv.kv import KeyChange, KeyValue, prefix_end
from kwokctl.etcd.marks.present import Range, current_revision, pages_of
from kwokctl.tasks import for_each

PARALLEL_WRITES = 16
"""The most writes under way. Each has its own revision, or the API server's watches could miss one."""
DEFAULT_NAMESPACE = "default"

Take = Callable[[KeyValue], None]


class WantedObjects(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of objects for a command."""

    resource: str = ""
    """A kind by any of its names; empty for all kinds."""
    name: str = ""
    namespace: str = ""
    is_everywhere: bool = False
    """Whether objects of all namespaces are selected."""


async def read_objects(
    access: ObjectAccess, wanted: WantedObjects, take: Take, *, chunk: int, keys_only: bool = False
) -> int:
    """Give each object to `take`, all at one revision, and return their number.

    Raises NotFoundError if no object has the wanted name.
    """
    number = 0
    revision = await current_revision(access.kv)
    pages = pages_at(access, wanted, revision, chunk=chunk, keys_only=keys_only)
    async for page in pages:
        for item in page:
            take(item)
        number += len(page)
    if wanted.name and not number:
        raise _missing(wanted)
    return number


async def delete_objects(
    access: ObjectAccess, wanted: WantedObjects, *, chunk: int, is_dry_run: bool = False
) -> list[KeyValue]:
    """Delete objects, and return their last values; NotFoundError if none has the wanted name."""
    found: list[KeyValue] = []
    await read_objects(access, wanted, found.append, chunk=chunk)

    if not is_dry_run:
        store = access.store
        await for_each(found, lambda item: store.discard(item.key), at_once=PARALLEL_WRITES)
    return found


async def pages_at(
    access: ObjectAccess,
    wanted: WantedObjects,
    revision: int,
    *,
    chunk: int,
    keys_only: bool = False,
) -> AsyncIterator[Sequence[KeyValue]]:
    """Yield the selected objects at a revision, in pages."""
    start, end = range_of(access, wanted)
    pages = pages_of(access.kv, start, end, revision=revision, keys_only=keys_only, limit=chunk)
    async for page in pages:
        yield [item for item in page.items if is_wanted(access, wanted, item.key)]


def range_of(access: ObjectAccess, wanted: WantedObjects) -> Range:
    """Return a range that contains the selected objects; a range without an end is one key."""
    folder = _folder(access, wanted).encode()
    return folder, prefix_end(folder) if folder.endswith(b"/") else b""


def _folder(access: ObjectAccess, wanted: WantedObjects) -> str:
    """Return the prefix of the keys, up to a slash, or the whole key of a single object."""
    if not wanted.resource:
        return access.prefix
    resource = access.resources.find(wanted.resource)
    below = f"{access.prefix}{resource.folder}/"
    namespace = namespace_for(resource, wanted)
    if resource.is_namespaced and not namespace:
        return below
    return f"{below}{namespace}{'/' if namespace else ''}{wanted.name}"


def namespace_for(resource: StoredResource, wanted: WantedObjects) -> str:
    """Return the selected namespace; empty for all, and for kinds without namespaces."""
    if not resource.is_namespaced or wanted.is_everywhere:
        return ""
    return wanted.namespace or DEFAULT_NAMESPACE


def is_wanted(access: ObjectAccess, wanted: WantedObjects, item_key: bytes) -> bool:
    """Return whether an object in the range is selected."""
    key = item_key.decode()
    if wanted.name and key.rpartition("/")[2] != wanted.name:
        return False
    if wanted.resource or not wanted.namespace or wanted.is_everywhere:
        return True
    return access.resources.namespace_of(key.removeprefix(access.prefix)) == wanted.namespace


def _missing(wanted: WantedObjects) -> NotFoundError:
    return NotFoundError(
        f"etcd has no {wanted.resource} called '{wanted.name}'",
        hint="see what there is with 'get', or name the namespace with -n",
    )


TakeChange = Callable[[KeyChange], None]


async def follow_objects(
    access: ObjectAccess,
    wanted: WantedObjects,
    take: Take,
    take_change: TakeChange,
    *,
    chunk: int,
    only_changes: bool = False,
) -> None:
    """Give each object to `take`, unless only changes are wanted, and each change to `take_change`.

    No change is missed in between. The object with a wanted name need not exist yet.
    """
    revision = await current_revision(access.kv)
    if not only_changes:
        async for page in pages_at(access, wanted, revision, chunk=chunk):
            for item in page:
                take(item)
    start, end = range_of(access, wanted)
    changes = access.kv.watch(start, end, since=revision + 1)
    async with aclosing(changes):
        async for batch in changes:
            for change in batch:
                if is_wanted(access, wanted, change.item.key):
                    take_change(change)

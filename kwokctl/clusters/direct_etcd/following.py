"""Follows objects in etcd: first their present values, then each change, until it is cancelled."""

from collections.abc import Callable
from contextlib import aclosing

from kwokctl.clusters.direct_etcd.access import ObjectAccess
from kwokctl.clusters.direct_etcd.reading import Take, WantedObjects, is_wanted, pages_at, range_of
from kwokctl.etcd.kv.kv import KeyChange
from kwokctl.etcd.marks.present import current_revision

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

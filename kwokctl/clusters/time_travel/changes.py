"""Names the objects that differ from a mark. Pure."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.dataplane.objects.stored_kind import stored_kind
from kwokctl.etcd.marks.mark_difference import Write


class ChangedObject(msgspec.Struct, frozen=True, kw_only=True):
    """An object that differs from a mark."""

    kind: str
    """The kind; empty if the stored value is encrypted."""
    key: str
    """The resource, namespace and name: `pods/default/web`, `nodes/node-000000`."""
    change: Literal["created", "changed", "deleted"]


def changed_objects(scope: RewindScope, writes: Iterable[Write]) -> Iterator[ChangedObject]:
    """Yield the objects that these writes would change, by key."""
    for write in sorted(writes, key=lambda each: each.key):
        kind = stored_kind(write.former if write.value is None else write.value)
        yield ChangedObject(
            kind=kind.kind if kind else "",
            key=scope.name(write.key),
            change=_change(write),
        )


def _change(write: Write) -> Literal["created", "changed", "deleted"]:
    if write.value is None:
        return "created"
    return "changed" if write.seen else "deleted"

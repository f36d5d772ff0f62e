"""Finds what the data of another release of Kubernetes hold that an API server does not know."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence

import msgspec

from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.dataplane.objects.stored_kind import StoredKind, stored_kind
from kwokctl.etcd.kv.kv import Kv, prefix_end
from kwokctl.kube.served_kinds import ServedKinds

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STABILITY = ("alpha", "beta", None)
_NEVER_SERVED = frozenset({"RangeAllocation"})


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """Kinds of Kubernetes' own that are stored; each as `Kind (group/version)`."""

    unreadable: Sequence[str]
    """Those in a version later than any that is served: lists of them fail."""
    unserved: Sequence[str]
    """Those that are not served at all: they are not seen."""


async def stored_kinds(kv: Kv, prefix: str) -> set[StoredKind]:
    """Return the kinds of Kubernetes' own objects, by the first of each folder of etcd.

    Custom resources, which are kept as JSON, are left out: they come with their definitions.
    """
    return {
        kind
        async for value in _samples(kv, f"/{prefix.strip('/')}/".encode())
        if value.startswith(PREFIX) and (kind := stored_kind(value))
    }


def unknown(stored: Iterable[StoredKind], served: ServedKinds) -> Unknown:
    """Return what of the stored kinds an API server does not know."""
    versions: dict[tuple[str, str], list[str]] = {}
    for each in served.all:
        resource = each.resource
        versions.setdefault((resource.group, resource.kind), []).append(resource.version)
    unreadable, unserved = [], []
    for kind in sorted(set(stored)):
        group, _, version = kind.api_version.rpartition("/")
        known = versions.get((group, kind.kind), [])
        if not known and kind.kind not in _NEVER_SERVED:
            unserved.append(f"{kind.kind} ({kind.api_version})")
        elif known and _age(version) > max(map(_age, known)):
            unreadable.append(f"{kind.kind} ({kind.api_version})")
    return Unknown(unreadable=unreadable, unserved=unserved)


def _age(version: str) -> tuple[int, int, int]:
    """Return what versions are ordered by, the latest last; what is no version of Kubernetes is first."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return (-1, 0, 0)
    stability = _STABILITY.index(found[2])
    # v1 comes after v2beta1, as Kubernetes orders them.
    return (stability, int(found[1]), int(found[3] or 0))


async def _samples(kv: Kv, prefix: bytes) -> AsyncIterator[bytes]:
    """Yield the first value of each folder; folders of a group, which has a dot, are one level lower."""
    start, end = prefix, prefix_end(prefix)
    while items := (await kv.page(start, end, limit=1)).items:
        (item,) = items
        yield item.value
        words = item.key.removeprefix(prefix).split(b"/")
        depth = 2 if b"." in words[0] or words[0] == b"services" else 1
        start = prefix_end(prefix + b"/".join(words[:depth]) + b"/")


def said(names: Sequence[str], most: int = 5) -> Iterator[str]:
    """Yield some names, and how many more there are."""
    yield from names[:most]
    if len(names) > most:
        yield f"{len(names) - most} more"

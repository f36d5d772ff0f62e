"""Orders objects so that each comes after the objects on which it depends. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from kwokctl.clusters.object_files.restoring.checking import DEFINITION, RestoreItem

_FIRST = (
    DEFINITION,
    ("", "Namespace"),
)
_RANKS = {
    kind: rank
    for rank, kind in enumerate(
        (
            ("scheduling.k8s.io", "PriorityClass"),
            ("node.k8s.io", "RuntimeClass"),
            ("storage.k8s.io", "StorageClass"),
            ("rbac.authorization.k8s.io", "ClusterRole"),
            ("rbac.authorization.k8s.io", "Role"),
            ("", "Node"),
            ("", "ServiceAccount"),
            ("", "Secret"),
            ("", "ConfigMap"),
            ("", "LimitRange"),
            ("", "PersistentVolumeClaim"),
            ("", "PersistentVolume"),
            ("", "Service"),
        )
    )
}
"""Kinds that others refer to, in the order of writing."""
_OTHERS = len(_RANKS)
_LAST = (("", "Pod"), ("", "ResourceQuota"))
"""Kinds that are written last: pods depend on most others; a quota would count objects written after it."""
_WEBHOOKS = "admissionregistration.k8s.io"


def in_order(items: Sequence[RestoreItem]) -> Iterator[list[RestoreItem]]:
    """Yield groups of objects, each to be written completely before the next.

    Owners come before their dependents. Admission webhooks and policies come last, because they would
    apply to the others.
    """
    depths = _depths(items)

    def rank(item: RestoreItem) -> tuple[int, int, int]:
        above = (depths[owner.uid] for owner in item.object.owners if owner.uid in depths)
        depth = depths.get(item.object.uid, 1 + max(above, default=-1))
        return _rank(item, depth)

    ranked = sorted(items, key=rank)
    return (list(group) for _, group in groupby(ranked, key=rank))


def _rank(item: RestoreItem, depth: int) -> tuple[int, int, int]:
    kind = item.resource.group, item.resource.kind
    if kind in _FIRST:
        return _FIRST.index(kind), depth, 0
    if item.resource.group == _WEBHOOKS:
        return len(_FIRST) + 1, depth, 0
    rank = _OTHERS + 1 + _LAST.index(kind) if kind in _LAST else _RANKS.get(kind, _OTHERS)
    return len(_FIRST), depth, rank


def _depths(items: Iterable[RestoreItem]) -> Mapping[str, int]:
    """Return the number of generations of owners above each object in the file, by uid."""
    objects = (item.object for item in items if item.object.uid)
    owners = {each.uid: [owner.uid for owner in each.owners] for each in objects}
    depths: dict[str, int] = {}
    for uid in owners:
        _measure(uid, owners, depths)
    return depths


def _measure(uid: str, owners: Mapping[str, Sequence[str]], depths: dict[str, int]) -> None:
    """Set the depth of an object and of its owners, without recursion: an object can be its own ancestor."""
    waiting, seen = [uid], {uid}
    while waiting:
        this = waiting[-1]
        above = [each for each in owners[this] if each in owners]
        unknown = [each for each in above if each not in depths and each not in seen]
        if unknown:
            seen.update(unknown)
            waiting += unknown
            continue
        waiting.pop()
        if this not in depths:
            depths[this] = 1 + max((depths.get(each, 0) for each in above), default=-1)

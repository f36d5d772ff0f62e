"""Deletes the objects of a set that are too many, many at once."""

from collections.abc import Callable, Sequence

from kwokctl.clusters.scaling.in_flight import for_each
from kwokctl.clusters.scaling.reading import Known
from kwokctl.dataplane.port import DataPlane, Target
from kwokctl.errors import ApiError
from kwokctl.kube.resource import Resource

AT_ONCE = 32
"""Requests under way at a time."""

_GONE = frozenset({"NotFound", "Conflict"})
"""It has been deleted already, or it has and another has its name now."""


async def delete_all(
    plane: DataPlane,
    resource: Resource,
    namespace: str | None,
    surplus: Sequence[Known],
    tell: Callable[[], None],
) -> None:
    """Delete exactly these objects, without a grace period, and `tell` of each.

    What has been deleted by somebody else, or replaced by an object of the same name, is passed
    over. Finalizers are honoured: an object that has some lives on until they are gone.
    """

    async def delete(known: Known) -> None:
        try:
            target = Target(resource, namespace, known.name)
            await plane.delete(target, grace_seconds=0, uid=known.uid)
        except ApiError as e:
            if e.reason not in _GONE:
                raise
        tell()

    await for_each(surplus, delete, at_once=AT_ONCE)

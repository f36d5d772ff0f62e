"""Deletes the objects of a set that are too many, many at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from kwokctl.clusters.scaling.direct import Direct
from kwokctl.clusters.scaling.in_flight import for_each
from kwokctl.clusters.scaling.obstacles import Way
from kwokctl.clusters.scaling.reading import Known, Reader
from kwokctl.clusters.scaling.retrying import retried
from kwokctl.dataplane.pacing import Window
from kwokctl.dataplane.port import DataPlane, Target
from kwokctl.errors import ApiError
from kwokctl.kube.resource import LEASES, NODE_LEASES, NODES, Resource

AT_ONCE = 32
"""Requests under way at a time."""
TRANSACTIONS_AT_ONCE = 64
"""The same for etcd."""

_GONE = frozenset({"NotFound", "Conflict"})
"""It has been deleted already, or it has and another has its name now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What is deleted, and where."""

    plane: DataPlane
    reader: Reader
    resource: Resource
    namespace: str | None
    grace_seconds: int = 0

    async def through_api(self, surplus: Sequence[Known], tell: Callable[[], None]) -> None:
        """Delete exactly these objects, and `tell` of each.

        What has been deleted by somebody else, or replaced by an object of the same name, is passed
        over. Finalizers are honoured: an object that has some lives on until they are gone.
        """

        async def delete(known: Known) -> None:
            await self._delete(known)
            tell()

        await for_each(surplus, delete, at_once=AT_ONCE)

    async def through_etcd(
        self,
        surplus: Sequence[Known],
        way: Way,
        window: Window,
        tell: Callable[[], None],
    ) -> None:
        """Do the same in etcd, a node's lease with it; what finalizers hold goes through the API.

        So does everything from the moment when something is in the way. Raises CannotStampError if
        the first object is not in etcd where it is thought to be.
        """
        first, direct = surplus[0], way.direct
        version = int(first.version or 0)
        found = await direct.find(self.resource, self.namespace, first.name, version)

        async def remove(known: Known) -> int:
            words = self._leases(known, direct), found.key_of(known.name), int(known.version)
            return await retried(partial(direct.store.remove, *words))

        async def go(known: Known) -> None:
            latest: Known | None = known
            while latest is not None and not latest.is_held and way.obstacles.why is None:
                try:
                    await window.write(partial(remove, latest))
                except ApiError as e:
                    latest = await self._looked_at_again(known, e)
                else:
                    latest = None
            if latest is not None:
                await self._delete(latest)

        async def delete(known: Known) -> None:
            try:
                await go(known)
            except Exception:
                window.stop()
                raise
            tell()

        await for_each(surplus, delete, at_once=TRANSACTIONS_AT_ONCE)

    async def _looked_at_again(self, known: Known, error: ApiError) -> Known | None:
        """Return an object that has changed meanwhile as it is; None if it is gone."""
        if error.reason == "NotFound":
            return None
        if error.reason != "Conflict":
            raise error
        target = Target(self.resource, self.namespace, known.name)
        latest = await retried(partial(self.reader.get, target))
        return latest if latest is not None and latest.uid == known.uid else None

    async def _delete(self, known: Known) -> None:
        target = Target(self.resource, self.namespace, known.name)
        delete = partial(self.plane.delete, target, grace_seconds=self.grace_seconds, uid=known.uid)
        try:
            await retried(delete)
        except ApiError as e:
            if e.reason not in _GONE:
                raise

    def _leases(self, known: Known, direct: Direct) -> tuple[bytes, ...]:
        if self.resource != NODES:
            return ()
        return (direct.keys.key(LEASES, NODE_LEASES, known.name),)

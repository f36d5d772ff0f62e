"""Makes sure that etcd has room for what is written, before and while it is.

An etcd that has reached its quota refuses every write, heartbeats and deletions by the API server
included, until it is compacted, defragmented and disarmed by hand: that must not happen.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import orjson

from kwokctl.clusters.capacity import FULL, LEASE_BYTES, POD_REVISIONS, REVISION_BYTES
from kwokctl.config.quantity import to_text
from kwokctl.errors import CapacityError, EtcdGoneError, EtcdRefusedError, make_room
from kwokctl.etcd.kv.kv import Kv
from kwokctl.etcd.kv.maintenance import NOSPACE, MemberStatus, alarms, defragment, status
from kwokctl.json_value import Json
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.model import ClusterName
from kwokctl.progress import Progress
from kwokctl.tasks import beside

_LOOK_EVERY = 0.5
_WORTH_DEFRAGMENTING = 0.5
"""Share of etcd's file that must be free before it is defragmented."""
_WORTH_CLEARING = 0.1
"""Share of the quota from which etcd's file is large enough for old revisions to matter."""
_ADDED = {NODES: 1_000, PODS: 2_000}
"""The bytes that the API server and the controller add to a rendered object: defaults, status, managed fields."""
_HINT = (
    "delete objects, or create the cluster again with a larger --etcd-quota-backend-size; "
    "--force continues anyway"
)


def stored_size(resource: Resource, body: Mapping[str, object]) -> int:
    """Return about how many bytes of etcd's file one object takes, its lease or revisions included."""
    size = len(orjson.dumps(body)) + _ADDED.get(resource, 0) + REVISION_BYTES
    if resource == NODES:
        return size + LEASE_BYTES
    return size * POD_REVISIONS if resource == PODS and not _is_placed(body) else size


async def demand_writable(kv: Kv, cluster: ClusterName) -> None:
    """Raise CapacityError if etcd refuses every write: nothing is to be stopped for them then."""
    if any(alarm.kind == NOSPACE for alarm in await alarms(kv)):
        raise CapacityError(
            "etcd has reached its quota and refuses every write (alarm NOSPACE); nothing was changed",
            hint=make_room(str(cluster)),
        )


class EtcdQuota:
    """The space of one etcd."""

    def __init__(self, kv: Kv, quota: int, progress: Progress) -> None:
        """Ask `kv`; `quota` in bytes is what counts if etcd itself does not report its own."""
        self._kv = kv
        self._quota = quota
        self._progress = progress

    async def demand(self, size: int) -> None:
        """Raise CapacityError unless this number of bytes more fits; make room first if possible."""
        found = await status(self._kv)
        quota = found.quota or self._quota
        if found.db_size + size > FULL * quota and found.db_size > _WORTH_CLEARING * quota:
            found = await self._cleared(found)
        if found.db_size_in_use + size > FULL * quota:
            raise CapacityError(
                f"etcd would grow from {to_text(found.db_size_in_use)} to about "
                f"{to_text(found.db_size_in_use + size)}, more than {FULL:.0%} of its quota of "
                + to_text(quota),
                hint=_HINT,
            )

    @asynccontextmanager
    async def guarded(self) -> AsyncIterator[None]:
        """Interrupt the body of the `async with` by CapacityError when etcd is nearly full."""
        async with beside(self._watch()):
            yield

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            try:
                found = await status(self._kv)
            except (EtcdGoneError, EtcdRefusedError):
                continue  # the next write fails with the reason
            quota = found.quota or self._quota
            if found.db_size <= FULL * quota:
                continue
            found = await self._cleared(found)
            if found.db_size > FULL * quota:
                raise CapacityError(
                    f"stopped: etcd holds {to_text(found.db_size)}, {FULL:.0%} of its quota of "
                    f"{to_text(quota)}; the objects created so far are complete",
                    hint=_HINT,
                )

    async def _cleared(self, found: MemberStatus) -> MemberStatus:
        """Forget old revisions, and give back the space if that is worth it."""
        with self._progress.step("Compacting etcd"):
            await self._kv.compact(found.revision)
            found = await status(self._kv)
            if found.db_size - found.db_size_in_use > _WORTH_DEFRAGMENTING * found.db_size:
                await defragment(self._kv)
                found = await status(self._kv)
        return found


def _is_placed(pod: Mapping[str, Json]) -> bool:
    return bool((pod.get("spec") or {}).get("nodeName"))

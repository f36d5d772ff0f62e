"""Waits until a cluster is idle: the state in a mark of a busy cluster would not last."""

import asyncio
from collections.abc import Sequence
from itertools import chain

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import using
from kwokctl.clusters.time_travel.node_heartbeats import only_heartbeats_differ
from kwokctl.clusters.time_travel.reach import Reach, reached
from kwokctl.dataplane.objects.stored_values import UndecodableError
from kwokctl.errors import EtcdRefusedError, TimedOutError
from kwokctl.etcd.kv.kv import KeyValue
from kwokctl.etcd.marks.present import Range, current_revision
from kwokctl.model import ClusterName

WITHIN = 300.0
"""Seconds, beyond those of idleness, until a cluster must be idle: new clusters take long on slow machines."""
_LOOKS = 4
"""The number of checks during the time without writes."""
_NAMED = 5


async def wait_at_rest(home: Home, cluster: ClusterName, *, seconds: float, within: float) -> None:
    """Wait until for some seconds nothing was written that a rewind would put back.

    Raises TimedOutError, which names the latest write, if that does not happen `within` a number of seconds.
    """
    with using(home.workdir, cluster):
        async with reached(home, cluster) as reach:
            await until_at_rest(reach, seconds=seconds, within=within)


async def until_at_rest(
    reach: Reach, *, seconds: float, within: float, also: Sequence[Range] = ()
) -> None:
    """Wait until a connected cluster is idle, as `wait_at_rest` does; nothing may be written in `also`, either."""
    rest = _Rest(reach, (*reach.scope.ranges, *also))
    try:
        async with asyncio.timeout(within):
            await rest.wait(seconds)
    except TimeoutError as e:
        raise TimedOutError(
            f"after {within:g} s the cluster is not idle: {rest.latest} is written",
            hint="stop what writes there, or mark the cluster without waiting",
        ) from e


class _Rest:
    def __init__(self, reach: Reach, ranges: Sequence[Range]) -> None:
        self._reach = reach
        self._ranges = ranges
        self._counts: list[int] = []
        self._revision = 0
        self.latest = "something"

    async def wait(self, seconds: float) -> None:
        self._revision = await current_revision(self._reach.kv)
        quiet = -1  # the first check has no counts to compare with
        while quiet < _LOOKS:
            quiet = 0 if await self._is_written() else quiet + 1
            await asyncio.sleep(seconds / _LOOKS)

    async def _is_written(self) -> bool:
        """Return whether something was written since the last check."""
        kv, ranges, since = self._reach.kv, self._ranges, self._revision
        revision = await current_revision(kv)
        written = await asyncio.gather(
            *(kv.written(*each, since=since + 1, revision=revision) for each in ranges)
        )
        counts = [await kv.count(*each, revision=revision) for each in ranges]
        before, self._counts, self._revision = self._counts, counts, revision
        items = chain.from_iterable(written)
        if keys := [each.key for each in items if not await self._is_heartbeat(each, since)]:
            names = [self._reach.scope.name(key) for key in keys[:_NAMED]]
            self.latest = ", ".join(names)
        return bool(keys) or counts != before

    async def _is_heartbeat(self, item: KeyValue, since: int) -> bool:
        """Return whether only the heartbeats of a node differ since a revision, or the clock of faults: those never end."""
        if self._reach.scope.is_clock(item.key):
            return True
        if not self._reach.scope.is_node(item.key):
            return False
        try:
            page = await self._reach.kv.page(item.key, b"", revision=since)
            return any(only_heartbeats_differ(each.value, item.value) for each in page.items)
        except (EtcdRefusedError, UndecodableError):
            return False  # the revision is compacted, or the value encrypted

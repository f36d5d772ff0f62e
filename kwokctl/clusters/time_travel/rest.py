"""Waits until a cluster has come to rest: a mark of one that has not would not stay as it is."""

import asyncio
from itertools import chain

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import using
from kwokctl.clusters.time_travel.reach import Reach, reached
from kwokctl.errors import TimedOutError
from kwokctl.etcd.marks.present import current_revision
from kwokctl.model import ClusterName

WITHIN = 300.0
"""Seconds beside those of rest: how long a new cluster takes depends on the machine."""
_LOOKS = 4
"""Looks in the time in which nothing is to be written."""
_NAMED = 5


async def wait_at_rest(home: Home, cluster: ClusterName, *, seconds: float, within: float) -> None:
    """Return when for some seconds nothing was written that a rewind would put back.

    Raises TimedOutError, which names what is written, if that does not come to pass `within` a time.
    """
    with using(home.workdir, cluster):
        async with reached(home, cluster) as reach:
            await until_at_rest(reach, seconds=seconds, within=within)


async def until_at_rest(reach: Reach, *, seconds: float, within: float) -> None:
    """Wait for the same in a cluster that is connected."""
    rest = _Rest(reach)
    try:
        async with asyncio.timeout(within):
            await rest.wait(seconds)
    except TimeoutError as e:
        raise TimedOutError(
            f"after {within:g} s the cluster is not idle: {rest.latest} is written",
            hint="stop what writes there, or mark the cluster without waiting",
        ) from e


class _Rest:
    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._counts: list[int] = []
        self._revision = 0
        self.latest = "something"

    async def wait(self, seconds: float) -> None:
        self._revision = await current_revision(self._reach.kv)
        quiet = -1  # the first look has no counts to compare with
        while quiet < _LOOKS:
            quiet = 0 if await self._is_written() else quiet + 1
            await asyncio.sleep(seconds / _LOOKS)

    async def _is_written(self) -> bool:
        """Tell whether something was written since the last look."""
        kv, ranges = self._reach.kv, self._reach.scope.ranges
        revision = await current_revision(kv)
        written = await asyncio.gather(
            *(kv.written(*each, since=self._revision + 1, revision=revision) for each in ranges)
        )
        counts = [await kv.count(*each, revision=revision) for each in ranges]
        before, self._counts, self._revision = self._counts, counts, revision
        if keys := [item.key for item in chain.from_iterable(written)]:
            names = [self._reach.scope.name(key) for key in keys[:_NAMED]]
            self.latest = ", ".join(names)
        return bool(keys) or counts != before

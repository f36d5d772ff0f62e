"""Waits after a rewind until the control plane has done what the rewind causes: else that falls into the next run."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kwokctl.clusters.overview.gather import count_nodes
from kwokctl.clusters.time_travel.reach import Reach
from kwokctl.clusters.time_travel.rest import WITHIN, until_at_rest
from kwokctl.errors import ApiError, TimedOutError
from kwokctl.etcd.marks.present import current_revision
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.repeating.registered_nodes import until_registered
from kwokctl.model import KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER
from kwokctl.replacing import replace

T = TypeVar("T")
STILL = 2.0
"""Seconds in which nothing is written, Events included."""
_EVERY = 0.2
_CACHED = re.compile(
    rb'^scheduler_(?:scheduler_)?cache_size\{type="nodes"\} ([0-9.e+]+)$', re.MULTILINE
)
"""A gauge of kube-scheduler; earlier releases have the longer name."""


class ControlPlane:
    """The control plane of one cluster, before and after rewinds."""

    def __init__(self, reach: Reach) -> None:
        """Look at nothing yet."""
        self._reach = reach
        self._nodes: dict[str, int] = {}
        self.unseen: dict[str, None] = {}
        """The conditions that could not be seen, in words."""

    async def remember(self) -> None:
        """Remember how many nodes are Ready now."""
        self._nodes = await self._node_counts()

    async def revision(self) -> int:
        """Return the revision after which Events are those of a new kube-controller-manager."""
        return await current_revision(self._reach.kv)

    async def until_still(self, since: int) -> None:
        """Wait until nodes are Ready as they were, caches are filled, and nothing is written any more.

        Raises TimedOutError, with what is missing, if that does not come.
        """
        await self._until("the nodes are as they were at the mark", self._has_nodes)
        if (
            KUBE_CONTROLLER_MANAGER in self._reach.saved.names
            and self._nodes
            and not await until_registered(self._reach, since)
        ):
            self.unseen["the first look of kube-controller-manager at all nodes"] = None
        if KUBE_SCHEDULER in self._reach.saved.names:
            await self._until_cached()
        await self.until_at_rest()

    async def until_at_rest(self) -> None:
        """Wait until nothing is written any more but Leases and heartbeats."""
        scope = self._reach.scope
        await until_at_rest(self._reach, seconds=STILL, within=WITHIN, also=(scope.events,))

    async def _has_nodes(self) -> bool:
        return await self._node_counts() == self._nodes

    async def _node_counts(self) -> dict[str, int]:
        return dict((await count_nodes(self._reach.client.pool)).by_status)

    async def _until_cached(self) -> None:
        """Wait until the scheduler's cache has all nodes, where its metrics can be read."""
        nodes = sum(self._nodes.values())
        if await self._cached_nodes() is None:
            self.unseen["the cache of kube-scheduler"] = None
            return

        async def is_cached() -> bool:
            return await self._cached_nodes() in (nodes, None)

        await self._until("the scheduler's cache has all nodes", is_cached)

    async def _cached_nodes(self) -> int | None:
        """Return the number of nodes in the scheduler's cache; None if it does not say."""
        reach = self._reach
        paths = reach.home.paths(reach.saved.name)
        address = reach.saved.setting(reach.runtime, paths).address(KUBE_SCHEDULER)
        access = replace(
            load_access(paths.own_kubeconfig),
            server=f"https://{address}",
            tls_server_name="localhost",
        )
        try:
            async with Pool(access, connections=1) as pool:
                answer = await pool.request("GET", "/metrics", accept="text/plain")
        except ApiError:
            return None
        found = _CACHED.search(answer.body) if answer.status == 200 else None
        return int(float(found[1])) if found else None

    async def _until(self, what: str, holds: Callable[[], Awaitable[bool]]) -> None:
        try:
            async with asyncio.timeout(WITHIN):
                while not await holds():  # noqa: ASYNC110 - what is asked is another program
                    await asyncio.sleep(_EVERY)
        except TimeoutError as e:
            raise TimedOutError(
                f"after {WITHIN:g} s it does not hold that {what}",
                hint="see what runs with: kwokctl status",
            ) from e

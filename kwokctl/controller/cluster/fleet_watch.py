"""Follows the Leases that controllers which share nodes have written."""

from contextlib import aclosing
from random import Random

from kwokctl.controller.leases.holder import LABEL
from kwokctl.controller.leases.keeper import LeaseKeeper
from kwokctl.controller.membership.membership import Membership
from kwokctl.dataplane.leases.decode import read_lease
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import LEASES, NODE_LEASES
from kwokctl.retry import until_answered


class FleetWatch:
    """Tells a member of a fleet, and its keeper of leases, what others have written."""

    def __init__(
        self, client: Client, membership: Membership, keeper: LeaseKeeper, random: Random
    ) -> None:
        """Watch with `client`."""
        self._client = client
        self._membership = membership
        self._keeper = keeper
        self._random = random

    async def join(self) -> None:
        """Become a member, before anything is taken."""
        await self._membership.join()

    async def run(self) -> None:
        """Follow until cancelled."""
        await until_answered(self._follow, self._random)

    async def _follow(self) -> None:
        events = watch(
            self._client.pool,
            LEASES,
            decoder=read_lease,
            namespace=NODE_LEASES,
            label_selector=LABEL,
        )
        async with aclosing(events) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is None:
                        continue
                    is_deleted = event.type is EventType.DELETED
                    is_about_members = self._membership.heard(event.object, is_deleted=is_deleted)
                    if not is_about_members and not is_deleted:
                        self._keeper.heard(event.object)

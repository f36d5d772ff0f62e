"""The leases of etcd with which Events expire, shared by many Events as kube-apiserver shares its own."""

import asyncio
from collections.abc import Awaitable, Callable

_MOST_EVENTS = 1000
_LONGEST_REUSE = 60
"""The most Events that share a lease, and the seconds for which new ones do.

Source: lease_manager.go in k8s.io/apiserver, pkg/storage/etcd3; it adds a twentieth of the time that
an Event lives, at most a minute, to that of the lease.
"""
_FRACTION = 21
"""A lease lasts 21 parts of time: 20 are the Event's lifetime, one is for sharing it with later Events."""


class EventExpiry:
    """Returns the lease for each Event."""

    def __init__(
        self, grant: Callable[[int], Awaitable[int]], seconds: int, clock: Callable[[], float]
    ) -> None:
        """Get leases from `grant`, each of `seconds`; 0 if Events do not expire."""
        self._grant = grant
        self._seconds = seconds
        self._reused_for = min(_LONGEST_REUSE, seconds // _FRACTION)
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()
        self._lease = 0
        self._until = 0.0
        self._left = 0

    async def lease(self) -> int:
        """Return the lease for one more Event; 0 if Events do not expire."""
        if not self._seconds:
            return 0
        if not self._is_usable():
            async with self._one_at_a_time:
                if not self._is_usable():
                    await self._renew()
        self._left -= 1
        return self._lease

    def forget(self, lease: int) -> None:
        """Stop using a lease that etcd does not know any more, as after a restore."""
        if lease == self._lease:
            self._left = 0

    def _is_usable(self) -> bool:
        return self._left > 0 and self._clock() < self._until

    async def _renew(self) -> None:
        # The time is taken before the request, so that no Event expires too early.
        until = self._clock() + self._reused_for
        self._lease = await self._grant(self._seconds)
        self._until, self._left = until, _MOST_EVENTS

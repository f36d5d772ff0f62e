"""Elects the leader: the one member that plays kinds other than nodes and pods."""

import logging
from collections.abc import Callable, Collection

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.leases.holder import OTHER_KINDS
from kwokctl.controller.membership.own_lease import OwnLease
from kwokctl.dataplane.leases.decode import StoredLease
from kwokctl.errors import RequestError

log = logging.getLogger(__name__)


class Post:
    """The lease that the leader holds; when it is free the first member by name takes it."""

    def __init__(self, context: ControllerContext, name: str, me: str, *, seconds: int) -> None:
        """Hold the lease called `name` as `me`, for `seconds` without a renewal."""
        self._lease = OwnLease(context, name, OTHER_KINDS, seconds)
        self._wall = context.wall
        self._me = me
        self._until = 0.0
        self._changed: Callable[[], None] = lambda: None
        self.is_mine = False
        """Whether this controller plays the other kinds."""

    @property
    def name(self) -> str:
        """The name of the lease."""
        return self._lease.stored.name

    def listen(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever this controller becomes the leader, or ceases to be it, from now on."""
        self._changed = changed

    def note(self, stored: StoredLease) -> None:
        """Note the lease as it is now."""
        self._lease.note(stored)
        if self.is_mine and self._lease.stored.holder != self._me:
            self._set(is_mine=False)

    async def keep(self, alive: Collection[str]) -> None:
        """Renew the lease, or take it if no member that lives holds it."""
        if not self.is_mine and not self._may_take(alive):
            return
        try:
            await self._lease.write(self._me)
        except RequestError as e:
            log.debug("lease '%s': %s", self.name, e)
            if self._lease.stored.holder != self._me or self._wall() > self._until:
                self._set(is_mine=False)
        else:
            stored = self._lease.stored
            self._until = stored.expires()
            self._set(is_mine=True)

    async def leave(self) -> None:
        """Release it, so that another member can take it at once."""
        if self.is_mine:
            self._set(is_mine=False)
            await self._lease.write("")

    def _may_take(self, alive: Collection[str]) -> bool:
        stored, now = self._lease.stored, self._wall()
        # The clock of a holder that is gone may have been ahead.
        is_abandoned = stored.renewed > now and stored.holder not in alive
        is_free = not stored.holder or stored.expires() <= now or is_abandoned
        return is_free and self._me == min(alive, default="")

    def _set(self, *, is_mine: bool) -> None:
        if is_mine is not self.is_mine:
            self.is_mine = is_mine
            log.info("%s kinds other than nodes and pods", "playing" if is_mine else "not playing")
            self._changed()

"""The life of one member: it joins, tells how many nodes it holds, hears of the others, and leaves."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.leases.holder import LABEL, MEMBER
from kwokctl.controller.membership.division import Division
from kwokctl.controller.membership.members import (
    FLEET,
    LEAVING,
    NODES,
    SHARE,
    Member,
    Members,
    lease_name,
    read_member,
)
from kwokctl.controller.membership.own_lease import OwnLease
from kwokctl.controller.membership.planning import free_share
from kwokctl.controller.membership.post import Post
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.dataplane.leases.decode import StoredLease, read_lease
from kwokctl.dataplane.port import ObjectKey
from kwokctl.embedded.process_metrics import Labels
from kwokctl.errors import RequestError
from kwokctl.kube.resource import LEASES, NODE_LEASES
from kwokctl.retry import backoff

log = logging.getLogger(__name__)

SHARES = 64
"""Into how many shares the pod addresses are divided: there are not more members than these."""
_LONGEST = 15
_PART = 8 / 3
"""The ratio of the duration of nodes' Leases to that of a member's Lease, which is at most `_LONGEST`."""
_TICKS = 15
"""The number of times that a member looks at the others in the duration of its Lease."""
_TRIES = 2
"""A renewal that was under way at the end may have been written."""
_KEPT = 600.0
"""Seconds for which the lease of a member that is gone is kept."""


def fleet_name(selecting: Mapping[str, str | bool]) -> str:
    """Return the name of the fleet of all controllers that select the same nodes."""
    words = json.dumps(dict(selecting), sort_keys=True).encode()
    return hashlib.blake2b(words, digest_size=5).hexdigest()


class Membership:
    """A controller as a member of its fleet."""

    def __init__(
        self,
        context: ControllerContext,
        nodes: NodeRegistry,
        *,
        me: str,
        name: str,
        lease_seconds: int,
    ) -> None:
        """Share `nodes`, whose leases last `lease_seconds`, with the other members as `me`."""
        self._context = context
        self._me = me
        self._name = name
        self._seconds = max(2, min(_LONGEST, int(lease_seconds / _PART)))
        self._members = Members()
        self._own = OwnLease(context, lease_name(me), MEMBER, self._seconds)
        self.division = Division(
            context, nodes, self._members, me=me, fleet=name, period=lease_seconds / 4
        )
        post = f"kwokctl-other-kinds-{name}"
        self.post = Post(context, post, me, seconds=self._seconds)
        self._share = -1
        self._published = 0
        self._due = 0.0
        self._alive: frozenset[str] = frozenset()
        self._on_gone: Callable[[], None] | None = None
        self._on_share: Callable[[int, int], None] | None = None
        context.metrics.ask(self._gauges)

    def listen(self, gone: Callable[[], None], share: Callable[[int, int], None]) -> None:
        """Call `gone` when a member goes, `share` with the share of the pod addresses, of how many."""
        self._on_gone, self._on_share = gone, share

    async def join(self) -> None:
        """Become a member, with a share of the pod addresses that no other one has."""
        tries = 0
        while not await self._tried(first=tries == 0):
            tries += 1
            await asyncio.sleep(backoff(tries, self._context.random, first=0.2, most=5.0))
        if self._on_share is not None:
            self._on_share(self._share, SHARES)
        self._look()
        await self.post.keep(self._alive)

    async def run(self) -> None:
        """Renew, and look at the other members, until cancelled."""
        while True:
            await asyncio.sleep(self._seconds / _TICKS)
            await self._beat()

    async def leave(self) -> None:
        """Tell the others that this controller does not write to its nodes any more."""
        if self._share < 0:
            return
        leaving = {**self._annotations(), LEAVING: "true"}
        for _ in range(_TRIES):
            with suppress(RequestError):
                await self._own.write(self._me, leaving)
                break
        with suppress(RequestError):
            await self.post.leave()

    def heard(self, lease: StoredLease, *, is_deleted: bool) -> bool:
        """Note a lease with the label; False if it is not about members."""
        if lease.name == self.post.name:
            self.post.note(StoredLease(name=lease.name) if is_deleted else lease)
        elif is_deleted:
            self._members.drop(lease.name)
        elif (member := read_member(lease, self._context.wall())) is not None:
            self._members.note(member)
        else:
            return False
        self._look()
        return True

    async def _tried(self, *, first: bool) -> bool:
        """Try to become a member; a share counts if no other member was seen with it afterwards."""
        try:
            await self._read()
            taken = self._taken()
            if self._share < 0 or self._share in taken:
                share = free_share(taken, SHARES, self._context.random.random())
                if share is None:
                    return self._failed(f"there are {SHARES} controllers already", first=first)
                self._share = share
            await self._tell()
            await self._read()
            return self._share not in self._taken()
        except RequestError as e:
            return self._failed(str(e), first=first)

    def _failed(self, reason: str, *, first: bool) -> bool:
        level = logging.WARNING if first else logging.DEBUG
        log.log(level, "cannot share nodes with other controllers: %s; trying again", reason)
        return False

    def _taken(self) -> set[int]:
        return self._members.shares(self._context.wall(), but=self._me)

    async def _read(self) -> None:
        for raw in await self._context.reader.list(
            LEASES, namespace=NODE_LEASES, label_selector=f"{LABEL}={MEMBER}"
        ):
            if (member := read_member(read_lease(raw), self._context.wall())) is not None:
                self._members.note(member)

    async def _beat(self) -> None:
        now = self._context.wall()
        is_due = self._context.delay_queue.now() >= self._due
        if now > self._own.stored.expires():
            await self.join()
        elif is_due or self.division.held != self._published:
            with suppress(RequestError):
                await self._tell()
        self._look()
        if is_due or not self.post.is_mine:
            await self.post.keep(self._alive)
        if is_due and self._me == min(self._alive, default=""):
            await self._tidy()

    async def _tell(self) -> None:
        now, annotations = self._context.delay_queue.now(), self._annotations()
        await self._own.write(self._me, annotations)
        self._due, self._published = now + self._seconds / 3, int(annotations[NODES])
        stored = self._own.stored
        self._members.note(
            Member(
                identity=self._me,
                lease=stored.name,
                uid=stored.uid,
                fleet=self._name,
                held=self._published,
                share=self._share,
                expires=stored.expires(),
                left=0.0,
            )
        )

    def _annotations(self) -> dict[str, str]:
        return {FLEET: self._name, NODES: str(self.division.held), SHARE: str(self._share)}

    def _look(self) -> None:
        """Find out who lives."""
        before, self._alive = self._alive, frozenset(self.division.alive())
        if before - self._alive and self._on_gone is not None:
            self._on_gone()
        if before != self._alive:
            log.info("controllers that share the nodes: %d", len(self._alive))

    async def _tidy(self) -> None:
        """Delete the leases of members that are long gone."""
        before = self._context.wall() - _KEPT
        for member in [each for each in self._members if each.expires < before]:
            self._members.drop(member.lease)
            key = ObjectKey(LEASES, NODE_LEASES, member.lease)
            with suppress(RequestError):
                await self._context.plane.delete(key, uid=member.uid)

    def _gauges(self) -> dict[tuple[str, Labels], float]:
        return {("kwok_controller_members", ()): len(self._alive)}

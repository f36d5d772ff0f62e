"""Decides which leases of the managed nodes this controller holds; takes and renews them."""

import logging
from collections.abc import Callable, Iterable, Sequence

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.leases.beats import Beats
from kwokctl.controller.leases.holder import is_own, own_name
from kwokctl.controller.leases.node_lease import LeaseClaim, NodeLease
from kwokctl.controller.leases.sharing import Alone, Sharing
from kwokctl.controller.leases.sightings import Sightings, newest, nodes_by_holder
from kwokctl.controller.nodes.node_registry import Hold
from kwokctl.controller.scheduling.worker_queue import BatchQueue
from kwokctl.controller.write_errors import ErrorKind, error_kind
from kwokctl.dataplane.leases.decode import StoredLease
from kwokctl.dataplane.leases.encode import Lease
from kwokctl.dataplane.port import Renewal, Renewed
from kwokctl.embedded.process_metrics import Labels
from kwokctl.errors import RequestError
from kwokctl.retry import backoff
from kwokctl.tasks import beside

log = logging.getLogger(__name__)

_PATIENCE = 2.0
"""Seconds in which a node that can wait has no lease. The garbage collector hears of nodes
and leases separately, and asks the API server for each owner that it has not heard of yet.
A controller alone spreads the first leases over a further period, as their renewals are."""
_GRACE = 1.0
"""Seconds in which a lease that is free is left to the controller that may claim it first."""


class LeaseKeeper:
    """Holds the leases of nodes and calls `changed` whenever that changes.

    A renewal builds on the version of the last, so that it fails when another program has written:
    leases are not watched. A lease of another holder is looked at again when it ends, and taken
    over if it was not renewed; one of a holder that says nothing when it gives the lease back, such
    as a user who silences a node, is looked at whenever one's own would be renewed.
    """

    def __init__(
        self,
        context: ControllerContext,
        changed: Callable[[str, Hold], None],
        *,
        holder: str,
        duration: int,
        workers: int = 8,
        sharing: Sharing | None = None,
    ) -> None:
        """Call `changed` with the name of each node whose lease was won or lost.

        `holder` is the name of this process, which no other controller has, or NODE_NAME. A lease
        lasts `duration` seconds, and is renewed after a quarter of them.
        """
        self._context = context
        self._holder = holder
        self._duration = duration
        self._changed = changed
        self._sharing: Sharing = sharing or Alone()
        self._beats = Beats(context.delay_queue, context.random, period=duration / 4)
        together = context.plane.leases_at_once
        self._queue: BatchQueue[NodeLease] = BatchQueue(self._work, workers, most=together)
        self._node_leases: dict[str, NodeLease] = {}
        self._stored: dict[str, StoredLease] = {}
        self._sightings = Sightings(context.reader, self, self._shares)
        context.metrics.ask(self._gauges)

    async def run(self) -> None:
        """Write leases until cancelled."""
        async with beside(self._sightings.run()):
            await self._queue.run()

    def seed(self, leases: Iterable[StoredLease]) -> None:
        """Note the existing leases, so that they need not be read one by one."""
        self._stored = newest([*leases, *self._stored.values()])

    def want(self, node: str, uid: str, *, can_wait: bool, at_once: bool = False) -> None:
        """Begin to hold a node's lease; a missing one is created at once unless it can wait.

        One's own that has not ended is renewed in its turn, or `at_once`.
        """
        self.forget(node)
        claim = LeaseClaim(node, uid, announced=self._sharing.is_shared)
        node_lease = NodeLease(claim, self._queue, at_once=at_once)
        self._node_leases[node] = node_lease
        stored = self._stored.pop(node, None)
        if stored is not None:
            self._consider(node_lease, stored)
        elif not self._sharing.is_first(node, ""):
            self._context.delay_queue.put(node_lease, _PATIENCE + _GRACE + self._beats.jitter())
            self._set(node_lease, Hold.FOREIGN)
        elif not can_wait:
            node_lease.on_due()
        elif self._sharing.is_shared:  # another controller would claim it after its grace
            self._beats.put_at(node_lease, self._context.delay_queue.now() + _PATIENCE)
        else:
            self._beats.begin(node_lease, after=_PATIENCE)

    def hurry(self, node: str) -> None:
        """Create a node's lease now, if that is waiting: there is something to do on the node."""
        node_lease = self._node_leases.get(node)
        if node_lease is None or node_lease.claim.version or node_lease.tries:
            return
        if self._context.delay_queue.forget(node_lease):
            node_lease.on_due()

    def forget(self, node: str) -> None:
        """Release a node's lease; the lease itself is deleted with its owner, the node."""
        node_lease = self._node_leases.pop(node, None)
        if node_lease is not None:
            self._context.delay_queue.forget(node_lease)

    def look_again(self) -> None:
        """Look at the leases of others: one of them was deleted, and the others share its nodes out."""
        self._sightings.ask_all()

    def heard(self, stored: StoredLease) -> None:
        """Note a lease that has changed hands."""
        node_lease, is_mine = self._node_leases.get(stored.name), is_own(stored, self._holder)
        if node_lease is None:
            if is_mine:
                self._stored[stored.name] = stored
        elif node_lease.is_news(stored) and not (is_mine and node_lease.hold is not Hold.FOREIGN):
            self._consider(node_lease, stored)

    def listed(self, leases: Iterable[StoredLease]) -> None:
        """Note the leases of others, all as they were at one time."""
        foreign = [
            (node_lease, lease)
            for lease in leases
            if (node_lease := self._node_leases.get(lease.name)) is not None
            and node_lease.hold is Hold.FOREIGN
        ]
        holders = nodes_by_holder(lease for _, lease in foreign)
        for holder in filter(self._sharing.is_gone, holders):
            self._sharing.deal(holder, holders[holder])
        for node_lease, lease in foreign:
            self._sighted(node_lease, lease)

    def found(self, node: str, lease: StoredLease) -> None:
        """Note a lease as it is."""
        node_lease = self._node_leases.get(node)
        if node_lease is not None:
            self._sighted(node_lease, lease)

    def missed(self, node: str, error: RequestError) -> None:
        """Look again later, or create the lease if there is none."""
        node_lease = self._node_leases.get(node)
        if node_lease is not None:
            self._put_off(node_lease, error)

    def _sighted(self, node_lease: NodeLease, stored: StoredLease) -> None:
        if stored.number < node_lease.version:  # read before it was written
            self._context.delay_queue.put(node_lease, _GRACE)
        else:
            self._consider(node_lease, stored)

    async def _work(self, batch: Sequence[NodeLease]) -> None:
        writes: list[NodeLease] = []
        for node_lease in batch:
            node_lease.queued = False
            if not self._is_current(node_lease):
                continue
            if node_lease.hold is not Hold.FOREIGN:
                writes.append(node_lease)
            elif node_lease.seen is not None:
                self._consider(node_lease, node_lease.seen)
            else:
                self._sightings.ask(node_lease.claim.node)
        if writes:
            await self._write(writes)

    async def _write(self, node_leases: Sequence[NodeLease]) -> None:
        context = self._context
        now, wall = context.delay_queue.now(), context.wall()
        renewals = [
            Renewal(node_lease.claim.node, node_lease.claim.version, self._lease(node_lease, wall))
            for node_lease in node_leases
        ]
        answers = await context.plane.renew(renewals)
        for node_lease, answer in zip(node_leases, answers, strict=True):
            if answer.error is None:
                self._written(node_lease, answer, now)
            elif self._is_current(node_lease):
                self._count(error_kind(answer.error).value)
                await self._recover(node_lease, answer.error, answer.found)

    def _lease(self, node_lease: NodeLease, now: float) -> Lease:
        """Return what to write: that this controller holds the lease, or that another does."""
        claim = node_lease.claim
        to = self._sharing.recipient() if node_lease.hold is Hold.HELD else ""
        if not to:
            holder = own_name(self._holder, claim.node)
            return claim.lease(holder=holder, duration=self._duration, now=now)
        # Before it is written: two controllers must not play a node at the same time.
        self._set(node_lease, Hold.FOREIGN)
        node_lease.holder = to
        return claim.gift(to, duration=self._duration, now=now)

    def _written(self, node_lease: NodeLease, answer: Renewed, now: float) -> None:
        claim = node_lease.claim
        if not claim.version and answer.found is not None:
            claim.recognise(answer.found)
        claim.version = answer.version
        node_lease.version = int(answer.version)
        if node_lease.hold is Hold.FOREIGN:
            self._count("given")
            self._context.delay_queue.put(node_lease, self._duration + self._beats.jitter())
            return
        self._count("ok")
        claim.settle()
        node_lease.tries = 0
        node_lease.until = now + self._duration
        if not self._is_current(node_lease):
            return
        self._beats.next(node_lease)
        self._set(node_lease, Hold.HELD)

    def _consider(self, node_lease: NodeLease, stored: StoredLease) -> None:
        """Continue one's own lease, take over one that is free, or wait until it is."""
        now, is_mine = self._context.wall(), is_own(stored, self._holder)
        free = stored.expires()
        if not is_mine:
            longest = node_lease.lasts(stored, self._context.delay_queue.now())
            free = self._sharing.free_since(stored.holder, min(free, now + longest))
        node_lease.note(stored, is_gone=self._sharing.is_gone(stored.holder))
        if is_mine and free > now:
            node_lease.claim.adopt(stored, mine=True, now=now)
            node_lease.claim.announced = False
            node_lease.until = self._context.delay_queue.now() + free - now
            self._beats.begin(node_lease, at_most=0.0 if node_lease.at_once else (free - now) / 2)
            self._set(node_lease, Hold.HELD)
        elif is_mine or self._may_claim(node_lease, now - free):
            node_lease.claim.adopt(stored, mine=is_mine, now=now)
            node_lease.claim.announced = self._sharing.is_shared
            if node_lease.hold is Hold.FOREIGN:
                node_lease.hold = Hold.PENDING
            node_lease.on_due()
        else:
            wait = free - now if free > now else free + _GRACE - now
            if not self._sharing.announces(stored.holder):
                wait = min(wait, self._beats.period)
            self._context.delay_queue.put(node_lease, wait + self._beats.jitter())
            self._set(node_lease, Hold.FOREIGN)

    def _may_claim(self, node_lease: NodeLease, free: float) -> bool:
        """Return whether a Lease that has been free for a number of seconds may be claimed now."""
        is_first = self._sharing.is_first(node_lease.claim.node, node_lease.holder)
        return free >= (0.0 if is_first else _GRACE)

    async def _recover(
        self, node_lease: NodeLease, error: RequestError, found: StoredLease | None
    ) -> None:
        """Handle an error; `found` is the current lease, if that came with the error."""
        if found is not None:
            self._consider(node_lease, found)
        elif error_kind(error) is ErrorKind.CONFLICT or error.reason == "AlreadyExists":
            await self._sightings.read(node_lease.claim.node)
        else:
            self._put_off(node_lease, error)

    def _put_off(self, node_lease: NodeLease, error: RequestError) -> None:
        """Try again later, or at once to create a lease that is gone."""
        kind = error_kind(error)
        if kind is ErrorKind.GONE:
            node_lease.claim.forget_lease()
            if node_lease.hold is Hold.FOREIGN:
                node_lease.hold = Hold.PENDING
        elif kind.is_lasting and node_lease.tries == 0:
            self._log(node_lease.claim.node, error)
        node_lease.tries += 1
        delay = 0.0
        if kind is not ErrorKind.GONE or node_lease.tries > 1:
            most = max(self._beats.period, 1.0)
            delay = backoff(node_lease.tries, self._context.random, first=1.0, most=most)
        self._context.delay_queue.put(node_lease, delay)
        if node_lease.hold is Hold.HELD and self._context.delay_queue.now() > node_lease.until:
            self._set(node_lease, Hold.PENDING)

    def _log(self, node: str, error: RequestError) -> None:
        if not self._context.rights.is_known(error):
            hint = f"; {error.hint}" if error.hint else ""
            log.warning("lease of node %r: %s; trying again%s", node, error, hint)

    def _count(self, outcome: str) -> None:
        self._context.metrics.count("kwok_controller_lease_writes_total", outcome=outcome)

    def _set(self, node_lease: NodeLease, hold: Hold) -> None:
        if node_lease.hold is not hold:
            node_lease.hold = hold
            self._changed(node_lease.claim.node, hold)

    def _is_current(self, node_lease: NodeLease) -> bool:
        return self._node_leases.get(node_lease.claim.node) is node_lease

    def _counts(self) -> dict[Hold, int]:
        counts = dict.fromkeys(Hold, 0)
        for node_lease in self._node_leases.values():
            counts[node_lease.hold] += 1
        return counts

    def _shares(self) -> tuple[int, int]:
        return self._counts()[Hold.FOREIGN], len(self._node_leases)

    def _gauges(self) -> dict[tuple[str, Labels], float]:
        return {
            ("kwok_controller_leases", (("state", hold.value),)): count
            for hold, count in self._counts().items()
        }

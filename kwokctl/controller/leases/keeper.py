"""Takes, renews and watches over the leases of the managed nodes."""

import asyncio
import logging
import socket
import uuid
from collections.abc import Callable, Iterable, Sequence
from math import ceil

from kwokctl.controller.context import ControllerContext
from kwokctl.controller.leases.claim import LeaseClaim
from kwokctl.controller.nodes.registry import Hold
from kwokctl.controller.scheduling.worker_queue import BatchQueue
from kwokctl.controller.write_errors import ErrorKind, error_kind
from kwokctl.dataplane.leases.decode import StoredLease, read_lease
from kwokctl.dataplane.port import ObjectKey, Renewal, Renewed
from kwokctl.embedded.metrics import Labels
from kwokctl.errors import RequestError
from kwokctl.kube.resource import LEASES, NODE_LEASES
from kwokctl.retry import backoff

log = logging.getLogger(__name__)

_JITTER = 0.04
_TICK = 0.5
"""Renewals are gathered into moments this far apart: those that write, store and watch them wake less."""
_MOMENTS = 20
"""The same as a number in the time between two renewals: those of short leases come no later."""
_PATIENCE = 2.0
"""Seconds in which a node that can wait has no lease. The garbage collector hears of nodes
and leases separately, and asks the API server for each owner that it has not heard of yet."""
_GOLDEN = 0.618033988749895
"""Its multiples, modulo 1, fill an interval evenly however many there are."""


def own_identity() -> str:
    """Make the name of a holder, like "hostname_uuid", that no other controller uses."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


class _NodeLease:
    """One node's lease, from being wanted to the node's end."""

    __slots__ = ("beat", "claim", "hold", "queue", "queued", "tries", "until")

    def __init__(self, claim: LeaseClaim, queue: "BatchQueue[_NodeLease]") -> None:
        self.claim = claim
        self.queue = queue
        self.hold = Hold.PENDING
        self.queued = False
        self.tries = 0
        self.beat = 0.0
        """When it was last due to be renewed: the next times are counted from there."""
        self.until = 0.0
        """When a held lease ends unless it is renewed."""

    def on_due(self) -> None:
        """Write or read the lease as soon as a worker is free."""
        if not self.queued:
            self.queued = True
            self.queue.put(self)


class LeaseKeeper:
    """Holds the leases of nodes and calls `changed` whenever that changes.

    A renewal builds on the version of the last, so that it fails when another program has written:
    leases are not watched. A lease of another holder is looked at again when it ends, and taken
    over if it was not renewed.
    """

    def __init__(
        self,
        context: ControllerContext,
        changed: Callable[[str, Hold], None],
        *,
        holder: str,
        duration: int,
        workers: int = 8,
    ) -> None:
        """Call `changed` with the name of each node whose lease was won or lost.

        `holder` is the name of this process, which no other controller has. A lease lasts `duration`
        seconds, and is renewed after a quarter of them.
        """
        self._context = context
        self._holder = holder
        self._duration = duration
        self._changed = changed
        together = context.plane.leases_at_once
        self._queue: BatchQueue[_NodeLease] = BatchQueue(self._work, workers, most=together)
        self._node_leases: dict[str, _NodeLease] = {}
        self._stored: dict[str, StoredLease] = {}
        self._phase = 0.0
        context.metrics.ask(self._gauges)

    async def run(self) -> None:
        """Write leases until cancelled."""
        await self._queue.run()

    def seed(self, leases: Iterable[StoredLease]) -> None:
        """Take note of the existing leases, so that they need not be read one by one."""
        self._stored = {lease.name: lease for lease in leases}

    def want(self, node: str, uid: str, *, can_wait: bool) -> None:
        """Begin to hold a node's lease; a missing one is created at once unless it can wait."""
        self.forget(node)
        node_lease = _NodeLease(LeaseClaim(node, uid), self._queue)
        self._node_leases[node] = node_lease
        stored = self._stored.pop(node, None)
        if stored is not None:
            self._consider(node_lease, stored)
        elif can_wait:
            self._put_at(node_lease, self._context.delay_queue.now() + _PATIENCE)
        else:
            node_lease.on_due()

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

    async def _work(self, batch: Sequence[_NodeLease]) -> None:
        writes: list[_NodeLease] = []
        looks: list[_NodeLease] = []
        for node_lease in batch:
            node_lease.queued = False
            if self._is_current(node_lease):
                (looks if node_lease.hold is Hold.FOREIGN else writes).append(node_lease)
        if writes:
            await self._write(writes)
        await asyncio.gather(*map(self._look, looks))

    async def _write(self, node_leases: Sequence[_NodeLease]) -> None:
        context = self._context
        now, wall = context.delay_queue.now(), context.wall()
        renewals = [
            Renewal(
                node_lease.claim.node,
                node_lease.claim.version,
                node_lease.claim.lease(holder=self._holder, duration=self._duration, now=wall),
            )
            for node_lease in node_leases
        ]
        answers = await context.plane.renew(renewals)
        for node_lease, answer in zip(node_leases, answers, strict=True):
            if answer.error is None:
                self._count("ok")
                self._written(node_lease, answer, now)
            elif self._is_current(node_lease):
                self._count(error_kind(answer.error).value)
                await self._recover(node_lease, answer.error, answer.found)

    def _written(self, node_lease: _NodeLease, answer: Renewed, now: float) -> None:
        claim = node_lease.claim
        if not claim.version and answer.found is not None:
            claim.recognise(answer.found)
        claim.version = answer.version
        node_lease.tries = 0
        node_lease.until = now + self._duration
        if not self._is_current(node_lease):
            return
        if node_lease.hold is not Hold.HELD:
            self._begin_beat(node_lease)
        else:
            self._next_beat(node_lease)
        self._set(node_lease, Hold.HELD)

    async def _look(self, node_lease: _NodeLease) -> None:
        """Read a lease that is not as expected."""
        try:
            raw = await self._context.reader.get(
                ObjectKey(LEASES, NODE_LEASES, node_lease.claim.node)
            )
        except RequestError as e:
            if self._is_current(node_lease):
                self._put_off(node_lease, e)
        else:
            if self._is_current(node_lease):
                self._consider(node_lease, read_lease(raw))

    def _consider(self, node_lease: _NodeLease, stored: StoredLease) -> None:
        """Continue one's own lease, take over one that has ended, or wait for its end."""
        now, holder = self._context.wall(), stored.holder
        is_mine = holder == self._holder
        left = stored.expires() - now
        if is_mine or not holder or left <= 0:
            node_lease.claim.adopt(stored, mine=is_mine, now=now)
            if is_mine and left > 0:
                node_lease.until = self._context.delay_queue.now() + left
                self._begin_beat(node_lease, at_most=left / 2)
                self._set(node_lease, Hold.HELD)
                return
            if node_lease.hold is Hold.FOREIGN:
                node_lease.hold = Hold.PENDING
            node_lease.on_due()
            return
        self._context.delay_queue.put(node_lease, left + self._jitter())
        self._set(node_lease, Hold.FOREIGN)

    async def _recover(
        self, node_lease: _NodeLease, error: RequestError, found: StoredLease | None
    ) -> None:
        """Handle an error; `found` is the current lease, if that came with the error."""
        if found is not None:
            self._consider(node_lease, found)
        elif error_kind(error) is ErrorKind.CONFLICT or error.reason == "AlreadyExists":
            await self._look(node_lease)
        else:
            self._put_off(node_lease, error)

    def _put_off(self, node_lease: _NodeLease, error: RequestError) -> None:
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
            most = max(self._period, 1.0)
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

    def _set(self, node_lease: _NodeLease, hold: Hold) -> None:
        if node_lease.hold is not hold:
            node_lease.hold = hold
            self._changed(node_lease.claim.node, hold)

    @property
    def _period(self) -> float:
        return self._duration / 4

    def _jitter(self) -> float:
        return self._period * _JITTER * self._context.random.random()

    def _begin_beat(self, node_lease: _NodeLease, *, at_most: float = float("inf")) -> None:
        """Begin to renew a lease, such that the renewals of all leases spread evenly."""
        self._phase = (self._phase + _GOLDEN) % 1.0
        delay = min(self._period * self._phase, at_most)
        node_lease.beat = self._context.delay_queue.now() + delay
        self._put_at(node_lease, node_lease.beat)

    def _next_beat(self, node_lease: _NodeLease) -> None:
        """Renew a lease a quarter of its duration after it was due, however late that was done."""
        now = self._context.delay_queue.now()
        node_lease.beat += self._period * max(1, ceil((now - node_lease.beat) / self._period))
        self._put_at(node_lease, node_lease.beat + self._jitter())

    def _put_at(self, node_lease: _NodeLease, due: float) -> None:
        """Write a lease at the next moment that it shares with others."""
        tick = min(_TICK, self._period / _MOMENTS)
        self._context.delay_queue.put_at(node_lease, ceil(due / tick) * tick)

    def _is_current(self, node_lease: _NodeLease) -> bool:
        return self._node_leases.get(node_lease.claim.node) is node_lease

    def _gauges(self) -> dict[tuple[str, Labels], float]:
        counts = dict.fromkeys(Hold, 0)
        for node_lease in self._node_leases.values():
            counts[node_lease.hold] += 1
        return {
            ("kwok_controller_leases", (("state", hold.value),)): count
            for hold, count in counts.items()
        }

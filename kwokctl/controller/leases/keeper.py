"""Takes, renews and watches over the leases of the managed nodes."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from random import Random

from kwokctl.controller.leases.claim import Claim
from kwokctl.controller.metrics import Labels, Metrics
from kwokctl.controller.nodes.registry import Hold
from kwokctl.controller.reading import Reader
from kwokctl.controller.scheduling.delay_queue import Agenda
from kwokctl.controller.scheduling.worker_queue import BatchQueue
from kwokctl.controller.write_errors import Trouble, backoff, trouble
from kwokctl.dataplane.leases.decode import StoredLease, read_lease
from kwokctl.dataplane.port import KubeletWriter, Renewal, Renewed, Target
from kwokctl.errors import ApiError
from kwokctl.kube.resource import LEASES, NODE_LEASES

log = logging.getLogger(__name__)

_JITTER = 0.04
_TICK = 0.5
"""Renewals are gathered into moments this far apart: all who write, store and watch them wake less."""
_MOMENTS = 20
"""The same as a number in the time between two renewals: those of short leases come no later."""
_PATIENCE = 2.0
"""Seconds in which a node that can wait has no lease. The garbage collector hears of nodes
and leases separately, and asks the API server for each owner that it has not heard of yet."""
_GOLDEN = 0.618033988749895
"""Its multiples, modulo 1, fill an interval evenly however many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms leases are held."""

    holder: str
    """Who holds them: this process, told apart from every other controller."""
    duration: int
    """Seconds; a lease is renewed after a quarter of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What the keeper works with."""

    plane: KubeletWriter
    reader: Reader
    agenda: Agenda
    metrics: Metrics
    random: Random
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp: what is written into leases."""


class _Tenancy:
    """One node's lease, from being wanted to the node's end."""

    __slots__ = ("beat", "claim", "hold", "queue", "queued", "tries", "until")

    def __init__(self, claim: Claim, queue: "BatchQueue[_Tenancy]") -> None:
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
        """Write or look at the lease as soon as a worker is free."""
        if not self.queued:
            self.queued = True
            self.queue.put(self)


class LeaseKeeper:
    """Holds the leases of nodes and says whenever that changes.

    A renewal builds on the version of the last, so that it fails when somebody else has written:
    leases are not watched. A lease of another holder is looked at again when it ends, and taken
    over if nobody has renewed it.
    """

    def __init__(
        self,
        terms: Terms,
        outside: Outside,
        changed: Callable[[str, Hold], None],
        *,
        workers: int = 8,
    ) -> None:
        """Tell `changed` the name of each node whose lease was won or lost."""
        self._terms = terms
        self._out = outside
        self._changed = changed
        together = outside.plane.leases_at_once
        self._queue: BatchQueue[_Tenancy] = BatchQueue(self._work, workers, most=together)
        self._tenancies: dict[str, _Tenancy] = {}
        self._stored: dict[str, StoredLease] = {}
        self._phase = 0.0
        outside.metrics.ask(self._gauges)

    async def run(self) -> None:
        """Write leases until cancelled."""
        await self._queue.run()

    def seed(self, leases: Iterable[StoredLease]) -> None:
        """Take note of the leases that there are, so that they need not be asked for one by one."""
        self._stored = {lease.name: lease for lease in leases}

    def want(self, node: str, uid: str, *, can_wait: bool) -> None:
        """Begin to hold a node's lease; one that is to be made is made at once unless it can wait."""
        self.forget(node)
        tenancy = _Tenancy(Claim(node, uid), self._queue)
        self._tenancies[node] = tenancy
        stored = self._stored.pop(node, None)
        if stored is not None:
            self._consider(tenancy, stored)
        elif can_wait:
            self._put_at(tenancy, self._out.agenda.now() + _PATIENCE)
        else:
            tenancy.on_due()

    def hurry(self, node: str) -> None:
        """Make a node's lease now, if that waits its turn: there is something to do on the node."""
        tenancy = self._tenancies.get(node)
        if tenancy is None or tenancy.claim.version or tenancy.tries:
            return
        if self._out.agenda.forget(tenancy):
            tenancy.on_due()

    def forget(self, node: str) -> None:
        """Hold a node's lease no longer; the lease itself goes with its owner, the node."""
        tenancy = self._tenancies.pop(node, None)
        if tenancy is not None:
            self._out.agenda.forget(tenancy)

    async def _work(self, batch: Sequence[_Tenancy]) -> None:
        writes: list[_Tenancy] = []
        looks: list[_Tenancy] = []
        for tenancy in batch:
            tenancy.queued = False
            if self._is_current(tenancy):
                (looks if tenancy.hold is Hold.FOREIGN else writes).append(tenancy)
        if writes:
            await self._write(writes)
        await asyncio.gather(*map(self._look, looks))

    async def _write(self, tenancies: Sequence[_Tenancy]) -> None:
        out, terms = self._out, self._terms
        now, wall = out.agenda.now(), out.wall()
        renewals = [
            Renewal(
                tenancy.claim.node,
                tenancy.claim.version,
                tenancy.claim.lease(holder=terms.holder, duration=terms.duration, now=wall),
            )
            for tenancy in tenancies
        ]
        answers = await out.plane.renew(renewals)
        for tenancy, answer in zip(tenancies, answers, strict=True):
            if answer.error is None:
                self._count("ok")
                self._written(tenancy, answer, now)
            elif self._is_current(tenancy):
                self._count(trouble(answer.error).value)
                await self._recover(tenancy, answer.error, answer.found)

    def _written(self, tenancy: _Tenancy, answer: Renewed, now: float) -> None:
        claim = tenancy.claim
        if not claim.version and answer.found is not None:
            claim.recognise(answer.found)
        claim.version = answer.version
        tenancy.tries = 0
        tenancy.until = now + self._terms.duration
        if not self._is_current(tenancy):
            return
        if tenancy.hold is not Hold.HELD:
            self._begin_beat(tenancy)
        else:
            self._next_beat(tenancy)
        self._set(tenancy, Hold.HELD)

    async def _look(self, tenancy: _Tenancy) -> None:
        """Look at a lease that is not as it was thought to be."""
        try:
            raw = await self._out.reader.get(Target(LEASES, NODE_LEASES, tenancy.claim.node))
        except ApiError as e:
            if self._is_current(tenancy):
                self._put_off(tenancy, e)
        else:
            if self._is_current(tenancy):
                self._consider(tenancy, read_lease(raw))

    def _consider(self, tenancy: _Tenancy, stored: StoredLease) -> None:
        """Go on with a lease of one's own, take over one that has ended, or wait for its end."""
        now, holder = self._out.wall(), stored.holder
        is_mine = holder == self._terms.holder
        left = stored.expires() - now
        if is_mine or not holder or left <= 0:
            tenancy.claim.adopt(stored, mine=is_mine, now=now)
            if is_mine and left > 0:
                tenancy.until = self._out.agenda.now() + left
                self._begin_beat(tenancy, at_most=left / 2)
                self._set(tenancy, Hold.HELD)
                return
            if tenancy.hold is Hold.FOREIGN:
                tenancy.hold = Hold.PENDING
            tenancy.on_due()
            return
        self._out.agenda.put(tenancy, left + self._jitter())
        self._set(tenancy, Hold.FOREIGN)

    async def _recover(self, tenancy: _Tenancy, error: ApiError, found: StoredLease | None) -> None:
        """Do what an error asks for; `found` is the lease as it is, if that was told with it."""
        if found is not None:
            self._consider(tenancy, found)
        elif trouble(error) is Trouble.CONFLICT or error.reason == "AlreadyExists":
            await self._look(tenancy)
        else:
            self._put_off(tenancy, error)

    def _put_off(self, tenancy: _Tenancy, error: ApiError) -> None:
        """Try again later, or at once to make a lease that is gone."""
        kind = trouble(error)
        if kind is Trouble.GONE:
            tenancy.claim.forget_lease()
            if tenancy.hold is Hold.FOREIGN:
                tenancy.hold = Hold.PENDING
        elif kind is Trouble.LASTING and tenancy.tries == 0:
            log.warning("lease of node %r: %s", tenancy.claim.node, error)
        tenancy.tries += 1
        delay = 0.0
        if kind is not Trouble.GONE or tenancy.tries > 1:
            most = max(self._period, 1.0)
            delay = backoff(tenancy.tries, self._out.random, first=1.0, most=most)
        self._out.agenda.put(tenancy, delay)
        if tenancy.hold is Hold.HELD and self._out.agenda.now() > tenancy.until:
            self._set(tenancy, Hold.PENDING)

    def _count(self, outcome: str) -> None:
        self._out.metrics.count("kwok_controller_lease_writes_total", outcome=outcome)

    def _set(self, tenancy: _Tenancy, hold: Hold) -> None:
        if tenancy.hold is not hold:
            tenancy.hold = hold
            self._changed(tenancy.claim.node, hold)

    @property
    def _period(self) -> float:
        return self._terms.duration / 4

    def _jitter(self) -> float:
        return self._period * _JITTER * self._out.random.random()

    def _begin_beat(self, tenancy: _Tenancy, *, at_most: float = float("inf")) -> None:
        """Begin to renew a lease, such that the renewals of all leases spread evenly."""
        self._phase = (self._phase + _GOLDEN) % 1.0
        delay = min(self._period * self._phase, at_most)
        tenancy.beat = self._out.agenda.now() + delay
        self._put_at(tenancy, tenancy.beat)

    def _next_beat(self, tenancy: _Tenancy) -> None:
        """Renew a lease a quarter of its duration after it was due, however late that was done."""
        now = self._out.agenda.now()
        tenancy.beat += self._period * max(1, ceil((now - tenancy.beat) / self._period))
        self._put_at(tenancy, tenancy.beat + self._jitter())

    def _put_at(self, tenancy: _Tenancy, due: float) -> None:
        """Write a lease at the next moment that it shares with others."""
        tick = min(_TICK, self._period / _MOMENTS)
        self._out.agenda.put_at(tenancy, ceil(due / tick) * tick)

    def _is_current(self, tenancy: _Tenancy) -> bool:
        return self._tenancies.get(tenancy.claim.node) is tenancy

    def _gauges(self) -> dict[tuple[str, Labels], float]:
        counts = dict.fromkeys(Hold, 0)
        for tenancy in self._tenancies.values():
            counts[tenancy.hold] += 1
        return {
            ("kwok_controller_leases", (("state", hold.value),)): count
            for hold, count in counts.items()
        }

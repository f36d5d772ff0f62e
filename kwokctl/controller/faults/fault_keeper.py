"""Keeps the Faults of the cluster: injects those that are due, reports their state, and ends them.

One of several controllers does it, the one that also plays other kinds than nodes and pods. What is reported are figures: a
report that is lost is made again from the nodes.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.faults.clock_keeper import EVERY, ClockKeeper
from kwokctl.controller.faults.fault_look import FaultLook
from kwokctl.controller.faults.fault_objects import FaultObjects, page_name
from kwokctl.controller.faults.injecting import Injecting
from kwokctl.controller.faults.landing import Landing
from kwokctl.controller.faults.newcomer_rows import Following
from kwokctl.controller.faults.report_pace import ReportPace
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.controller.scheduling.worker_queue import BatchQueue, work_queue
from kwokctl.controller.write_errors import ErrorKind, error_kind, wait_after
from kwokctl.errors import RequestError
from kwokctl.expr.duration import format_time, parse_duration, parse_time
from kwokctl.faults.classes.class_parameters import is_duration
from kwokctl.faults.objects.fault_schema import FaultStatus, StoredFault
from kwokctl.faults.objects.fault_status import cleared, is_repaired, reported
from kwokctl.faults.objects.row_pages import IN_STATUS, placed
from kwokctl.faults.objects.unit_rows import UnitRow, row_text

log = logging.getLogger(__name__)

_WORKERS = 8
_AFTER_GONE = 1.0
"""Seconds after which all Faults are looked at when nodes have gone: they often go together."""
_AFTER_CONFLICT = 1.0
_REFRESH = 15.0
"""Seconds between reports of the time that is left."""
_OVER = frozenset({"Cleared", "Refused"})
_MOST_REMOVED = 50
"""Pages that are removed in one beat."""


class _Call:
    """Something that is done later."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring

    def on_due(self) -> None:
        self._ring()


class RowReport(NamedTuple):
    """The rows of a fault, and those pages of them that are not stored like that."""

    rows: Mapping[int, Sequence[UnitRow]]
    changed: Sequence[int]


class FaultKeeper:
    """The Faults that this controller injects and reports, while it is the leader."""

    def __init__(
        self,
        context: ControllerContext,
        nodes: NodeRegistry,
        objects: FaultObjects,
        clock: ClockKeeper,
        is_mine: Callable[[], bool],
        are_to_come: Callable[[], bool],
    ) -> None:
        """Follow the faults of the context, and `nodes`.

        `is_mine` says whether this controller is the leader, `are_to_come` whether the clock is needed though there is no Fault.
        """
        self._context = context
        self._objects = objects
        self._clock = clock
        self._is_mine = is_mine
        self._are_to_come = are_to_come
        self._was_mine = False
        self._faults = context.faults
        self._injecting = Injecting(
            objects, context.reader, nodes, context.faults, context.wall, context.fault_dialects
        )
        self._following = Following(context.faults, nodes, self._injecting)
        self._landing = Landing(context.faults, nodes, context.faults.clock.now)
        self._queue: BatchQueue[FaultLook] = work_queue(self._work, _WORKERS)
        self._looks: dict[str, FaultLook] = {}
        self._pace: ReportPace[FaultLook] = ReportPace(context.delay_queue, self.put)
        self._after_gone = _Call(self._look_at_all)
        self._is_idle = False
        """Whether there was no Fault at the last beat."""
        self._beats: BatchQueue[None] = work_queue(self._renew, 1)
        self._beat = _Call(self._ring)
        self._is_renewing = False
        nodes.listen(self)
        self._faults.attend(self.noted)

    async def run(self) -> None:
        """Work until cancelled."""
        self._ring()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._queue.run())
            tasks.create_task(self._beats.run())

    def noted(self, uid: str) -> None:
        """Look at a Fault that has changed, or is gone."""
        look = self._looks.get(uid)
        if look is None:
            look = self._looks[uid] = FaultLook(uid, self.put)
        self.put(look)

    def put(self, look: FaultLook) -> None:
        """Look at a Fault as soon as a worker is free."""
        if not look.is_queued:
            look.is_queued = True
            self._queue.put(look)

    def changed(self, node: ManagedNode) -> None:
        """Note a node that is new, or held by another controller than before."""
        if not self._looks:
            return
        for fault in self._following.faults_for(node):
            if (look := self._looks.get(fault.metadata.uid)) is not None:
                look.came({node.name})
                self.put(look)
        self.described(node)

    def turned(self, node: ManagedNode) -> None:
        """Ignore whether a kubelet is down."""

    def rebooted(self, node: ManagedNode) -> None:
        """Ignore a reboot."""

    def described(self, node: ManagedNode) -> None:
        """Note that a node may show a fault by now."""
        if not self._looks:
            return
        for uid in self._faults.of_node(node.uid):
            if (look := self._looks.get(uid)) is not None:
                look.changed(node.name)
                self.put(look)

    def gone(self, name: str) -> None:
        """Note that a node is gone."""
        if self._looks and self._after_gone not in self._context.delay_queue:
            self._context.delay_queue.put(self._after_gone, _AFTER_GONE)

    def _look_at_all(self) -> None:
        for look in self._looks.values():
            look.is_all = True
            self.put(look)

    async def _work(self, look: FaultLook) -> None:
        look.is_queued = False
        fault = self._faults.faults.get(look.uid)
        if fault is None:
            self._looks.pop(look.uid, None)
            self._landing.forget(look.uid)
            self._pace.forget(look)
            self._context.delay_queue.forget(look)
            return
        if not self._is_mine():
            self._was_mine = False  # also where it is again at the next beat: what was due is not looked at otherwise
            return
        if fault.status.phase in _OVER:
            return
        if look.is_busy:  # two at a time would overwrite what the other has stored
            look.is_wanted = True
            return
        look.is_busy, look.is_wanted = True, False
        try:
            wait = await self._keep(look, fault)
        except RequestError as e:
            wait = self._put_off(look, fault, e)
        except Exception:  # one fault must not end the others, and all fake nodes with them
            log.exception("fault %r has failed", fault.metadata.name)
            wait = None
        else:
            look.tries = 0
        finally:
            look.is_busy = False
        if look.is_wanted:
            self.put(look)
        elif wait is not None and not look.is_queued:
            self._context.delay_queue.put(look, max(wait, 0.0))

    def _put_off(self, look: FaultLook, fault: StoredFault, error: RequestError) -> float | None:
        kind = error_kind(error)
        if kind is ErrorKind.GONE:
            return _REFRESH  # if the Fault is gone, that is known by then; else its kind was not served for a moment
        if kind is ErrorKind.CONFLICT:
            return _AFTER_CONFLICT
        look.tries += 1
        if kind.is_lasting and look.tries == 1 and not self._context.rights.is_known(error):
            hint = f"; {error.hint}" if error.hint else ""
            log.warning("fault %r: %s; trying again%s", fault.metadata.name, error, hint)
        return wait_after(kind, look.tries, self._context.random)

    async def _keep(self, look: FaultLook, fault: StoredFault) -> float | None:
        """Do what is due for a fault; return the seconds until more is."""
        status = fault.status
        if status.clock is None:
            if (wait := until_due(fault, self._context.wall())) > 0:
                return wait
            await self._injecting.inject(fault)
            return None
        end, now = self._faults.ends(fault), self._faults.clock.now()
        if end is not None and now >= end:
            at = format_time(self._context.wall())
            await self._objects.put_status(fault, cleared(status, at))
            return None
        return await self._report(look, fault, None if end is None else end - now)

    async def _report(
        self, look: FaultLook, fault: StoredFault, left: float | None
    ) -> float | None:
        """Report the state of a fault if that has changed, and if it is time for a report."""
        newcomers = self._newcomers(look, fault)
        report = await self._looked(look, fault, newcomers)
        at = self._context.wall()
        status = reported(fault.status, report.rows, at=format_time(at), left=left)
        rows = [row for some in report.rows.values() for row in some]
        if is_repaired(rows) and not fault.spec.target.follow:
            status = cleared(status, format_time(at), by_repair=True)
        is_old = left is not None and self._pace.since(look) >= _REFRESH
        is_news = report.changed or status.phase != fault.status.phase or is_old
        if is_news and self._pace.may(look):
            await self._store(fault, status, report)
            is_news = False
        if not is_news:
            look.followed(newcomers)
        return None if left is None else min(left, _REFRESH)

    async def _store(self, fault: StoredFault, status: FaultStatus, report: RowReport) -> None:
        """Store the state of a fault: the pages first, because the figures in its status are counted from them."""
        for number in report.changed:
            if number != IN_STATUS:
                texts = [row_text(row) for row in report.rows[number]]
                known = self._faults.page_version(page_name(fault.metadata, number))
                await self._objects.put_page(fault, number, texts, known)
        await self._objects.put_status(fault, status)

    def _newcomers(self, look: FaultLook, fault: StoredFault) -> frozenset[str]:
        """Return the nodes that came after the selection, as soon as it can be said whether they are hit."""
        if not look.has_followed:
            look.has_followed = True
            look.came(self._following.nodes_for(fault))
        is_defined = self._faults.definition(fault) is not None
        return frozenset(look.newcomers) if is_defined else frozenset()

    async def _looked(
        self, look: FaultLook, fault: StoredFault, newcomers: frozenset[str]
    ) -> RowReport:
        """Look at the nodes that have changed."""
        uid = fault.metadata.uid
        added = await self._following.rows(fault, newcomers)
        added += self._faults.endings.added(uid, [*self._faults.units(uid)])
        nodes = look.take_nodes()  # only now: another try after a refusal looks at them, too
        is_all, look.is_all = look.is_all, False
        self._landing.look(fault, None if is_all else nodes)
        rows = {number: [*found] for number, found in self._landing.rows(uid).items()}
        if added:
            rows = placed(rows, added)
        stored = self._faults.rows(uid)
        changed = [number for number, found in rows.items() if found != [*stored.get(number, ())]]
        return RowReport(rows, changed)

    def _ring(self) -> None:
        # At once: what else is due after this process was stopped must find the right time. And regularly, however long the
        # API server takes to answer.
        self._faults.clock.run()
        self._context.delay_queue.put(self._beat, EVERY)
        if not self._is_renewing:
            self._is_renewing = True
            self._beats.put(None)

    async def _renew(self, _: None) -> None:
        """Keep the clock, and remove pages that no Fault needs; look at all Faults when this controller has become the leader."""
        try:
            await self._tend()
        except RequestError as e:
            if not self._context.rights.is_known(e):
                log.debug("clock of faults: %s", e)
        finally:
            self._is_renewing = False

    async def _tend(self) -> None:
        is_mine = self._is_mine()
        if is_mine and not self._was_mine:
            for uid in self._faults.faults:
                self.noted(uid)
        self._was_mine = is_mine
        self._injecting.tidy()
        if self._faults.faults or self._are_to_come():
            self._is_idle = False
            await (self._clock.renew() if is_mine else self._clock.read())
            return
        if is_mine and self._is_idle:
            unneeded = [*self._faults.orphans, *self._faults.definitions]
            for name in unneeded[:_MOST_REMOVED]:
                await self._injecting.remove_unneeded(name)
        self._is_idle = True


def until_due(fault: StoredFault, now: float) -> float:
    """Return the seconds until a fault is to be injected; 0 for one that does not say when: injecting it says what is wrong."""
    after = parse_duration(fault.spec.at) if is_duration(fault.spec.at) else 0.0
    if after <= 0:
        return 0.0  # at once, even if the clock of the API server is ahead
    return parse_time(fault.metadata.creation_timestamp) + after - now

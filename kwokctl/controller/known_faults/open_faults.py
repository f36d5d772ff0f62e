"""The Faults that this controller knows in its cluster: which are open, and which units they hit."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from sys import intern
from typing import NamedTuple, cast

from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.stored_units import StoredUnits
from kwokctl.controller.known_faults.unit_endings import UnitEnding, UnitEndings
from kwokctl.errors import ExpressionError, KwokctlError
from kwokctl.expr.duration import parse_duration, parse_time
from kwokctl.faults.journal import JOURNAL
from kwokctl.faults.objects.fault_schema import StoredFault, StoredPage
from kwokctl.faults.objects.row_pages import IN_STATUS
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow
from kwokctl.faults.overlays.definitions import read_definition
from kwokctl.faults.overlays.effects import OpenFault
from kwokctl.faults.overlays.fault_course import (
    ClassDefinition,
    Course,
    class_length,
    course_of,
    injected_fault,
)
from kwokctl.faults.overlays.node_fields import gpus_of
from kwokctl.faults.overlays.open_entries import OpenEntry
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.replacing import replace

Changed = Callable[[Mapping[str, str]], None]
"""Gets the nodes on which other faults are open than before: their names by uid."""
Noted = Callable[[str], None]
"""Gets the uid of a Fault that has changed, or is gone."""
_OVER = frozenset({"Cleared", "Refused"})


class ShownFaults(NamedTuple):
    """The faults of a node."""

    open: tuple[OpenFault, ...]
    """The open ones, each with the signals that are shown by now."""
    wait: float | None
    """Seconds until more, or less, is shown; None if nothing is to come."""


class ForeignNode(NamedTuple):
    """A node that no controller of kwokctl plays, and that shows faults."""

    entries: Sequence[OpenEntry]
    gpus: int
    """The number of its GPUs, without what faults show."""


class _Page(NamedTuple):
    """A stored page of rows."""

    fault: str
    """The uid of its fault."""
    number: int
    version: str


class OpenFaults:
    """The Faults of a cluster, and the units that they hit."""

    def __init__(self, clock: FaultClock) -> None:
        """Begin without any; `clock` is that of faults."""
        self.clock = clock
        self.faults: dict[str, StoredFault] = {}
        """By uid."""
        self._definitions: dict[str, ClassDefinition] = {}
        self._units = StoredUnits()
        self._pages: dict[str, _Page] = {}
        """By name."""
        self.endings = UnitEndings()
        """The ends that repairs bring to units, until they are stored."""
        self._following: set[str] = set()
        """The uids of faults that also hit nodes which come later."""
        self._listeners: list[Changed] = []
        self._noted: list[Noted] = []
        self.foreign: dict[str, ForeignNode] = {}
        """The nodes that show faults and that no controller of kwokctl plays, by uid."""
        self.problems: dict[str, str] = {}
        """Why nodes cannot show their faults, as a word, by uid."""
        clock.listen(self._clock_set)

    def listen(self, changed: Changed) -> None:
        """Call `changed` whenever faults of nodes change."""
        self._listeners.append(changed)

    def attend(self, noted: Noted) -> None:
        """Call `noted` whenever a Fault itself changes."""
        self._noted.append(noted)

    def note(self, fault: StoredFault) -> None:
        """Note a Fault as it is now."""
        uid = fault.metadata.uid
        before = self.faults.get(uid)
        self.faults[uid] = _without_rows(fault)
        if fault.spec.target.follow:
            self._following.add(uid)
        for noted in self._noted:
            noted(uid)
        nodes = self._units.put(uid, IN_STATUS, fault.status.rows)
        if before is not None and _shows_the_same(before, fault):
            self._tell(nodes)
            return
        self._tell(nodes | self._units.nodes_of(uid))

    def drop(self, uid: str) -> None:
        """Note that a Fault does not exist any more."""
        self._following.discard(uid)
        if self.faults.pop(uid, None) is not None:
            self._tell(self._units.drop(uid))
            for noted in self._noted:
                noted(uid)

    def note_page(self, page: StoredPage) -> None:
        """Note a page as it is now."""
        name, spec = page.metadata.name, page.spec
        if spec.definition is not None:
            self._define(name, page)
            return
        self._pages[name] = _Page(spec.fault, spec.number, page.metadata.resource_version)
        self._tell(self._units.put(spec.fault, spec.number, spec.rows))

    def drop_page(self, name: str) -> None:
        """Note that a page does not exist any more."""
        self._definitions.pop(name, None)
        if (page := self._pages.pop(name, None)) is not None:
            self._tell(self._units.put(page.fault, page.number, ()))

    def forget(self) -> None:
        """Note that the cluster has no Faults: their kind was removed."""
        nodes = self._units.nodes()
        for each in (self.faults, self._units, self._pages, self._definitions, self._following):
            each.clear()
        self._tell(nodes)

    def beneath(self, value: ObjectInJson) -> ObjectInJson:
        """Return an object without what faults show of it; itself if they show nothing."""
        if JOURNAL not in (value["metadata"].get("annotations") or ()):
            return value
        return cast("ObjectInJson", overlay(value, (), self.clock.now()))

    def page_version(self, name: str) -> str:
        """Return the `resourceVersion` of a page of rows as it is known; nothing for one that is not known."""
        page = self._pages.get(name)
        return "" if page is None else page.version

    def definition(self, fault: StoredFault) -> ClassDefinition | None:
        """Return what a fault shows; None if it is not known yet."""
        return self._definitions.get(fault.status.definition)

    def has_definition(self, name: str) -> bool:
        """Return whether the page of a definition is known."""
        return name in self._definitions

    @property
    def definitions(self) -> Collection[str]:
        """The names of the known definitions."""
        return self._definitions.keys()

    def trouble(self, node_uid: str, problem: str) -> None:
        """Note that a node cannot show its faults, and why: a word, such as `Forbidden`."""
        if self.problems.get(node_uid) != problem:
            self.problems[node_uid] = problem
            for uid in tuple(self.of_node(node_uid)):
                for noted in self._noted:
                    noted(uid)

    def end(self, fault: str, node: str, ending: UnitEnding) -> None:
        """Have the units of a fault on a node, both by uid, become like this; it is stored soon."""
        self.endings.want(fault, node, ending)
        for noted in self._noted:
            noted(fault)

    def asleep(self) -> Iterator[tuple[str, UnitRow]]:
        """Yield the rows of units that look good until they are used, each with the uid of its fault."""
        return self._units.asleep()

    @property
    def orphans(self) -> Mapping[str, str]:
        """The uids of faults that do not exist, by the names of pages about them."""
        return {
            name: page.fault for name, page in self._pages.items() if page.fault not in self.faults
        }

    def has_come_back(self, fault: StoredFault) -> bool:
        """Return whether a fault has begun that was not known, or known to be over: as after a rewind."""
        if fault.status.clock is None or fault.status.phase in _OVER:
            return False
        known = self.faults.get(fault.metadata.uid)
        return known is None or known.status.phase in _OVER

    def is_open(self, uid: str) -> bool:
        """Return whether a fault is open now."""
        fault = self.faults.get(uid)
        return fault is not None and self._is_open(fault)

    def ends(self, fault: StoredFault) -> float | None:
        """Return the time of its end on the clock of faults; None if it has none.

        What the API server should have refused as an end is none.
        """
        start, spec, definition = fault.status.clock, fault.spec, self.definition(fault)
        lasts, until = _read(parse_duration, spec.lasts), _read(parse_time, spec.until)
        if lasts is None and until is None and definition is not None:
            lasts = class_length(definition, spec)
        ends = []
        if start is not None and lasts is not None:
            ends.append(start + lasts)
        if until is not None:
            ends.append(self.clock.of_day(until))
        return min(ends, default=None)

    def rows(self, uid: str) -> Mapping[int, Sequence[UnitRow]]:
        """Return the rows of a fault by the number of their page; -1 stands for those in its status."""
        return self._units.pages(uid)

    def units(self, uid: str) -> Iterator[UnitRow]:
        """Return the rows of a fault in the order of its selection."""
        return self._units.rows(uid)

    def count(self, uid: str) -> int:
        """Return the number of units of a fault."""
        return sum(map(len, self._units.pages(uid).values()))

    def hits_foreign(self, node_uid: str) -> bool:
        """Return whether a fault hits a node that may be hit though no controller of kwokctl plays it."""
        found = (self.faults.get(uid) for uid in self._units.faults_of(node_uid))
        return any(each is not None and each.spec.target.foreign for each in found)

    def note_foreign(self, node_uid: str, node: ForeignNode | None) -> None:
        """Note what such a node shows; None where it shows nothing, or is gone."""
        if node is None:
            self.foreign.pop(node_uid, None)
        else:
            self.foreign[node_uid] = node
        for uid in tuple(self.of_node(node_uid)):
            for noted in self._noted:
                noted(uid)

    def has(self, node_uid: str) -> bool:
        """Return whether a fault that exists hits a node, open or not."""
        return node_uid in self._units

    def concerns(self, node: Mapping[str, Json]) -> bool:
        """Return whether a node shows faults, or is to show some."""
        meta = node["metadata"]
        return meta.get("uid") in self._units or JOURNAL in (meta.get("annotations") or ())

    def units_on(self, node_uid: str) -> Mapping[str, Sequence[FaultUnit]]:
        """Return the units of a node that faults hit, open or not, by the uid of the fault."""
        return self._units.hit(node_uid)

    def of_node(self, node_uid: str) -> Collection[str]:
        """Return the uids of the faults that hit a node, open or not."""
        return self._units.faults_of(node_uid)

    def followers(self) -> list[StoredFault]:
        """Return the open faults that also hit nodes which come later."""
        if not self._following:
            return []
        found = (self.faults[uid] for uid in self._following)
        return [fault for fault in found if self._is_open(fault)]

    def shown(self, node: Mapping[str, Json]) -> ShownFaults:
        """Return what the faults of a node show now, in the order of their starts."""
        by_fault = self._units.hit(node["metadata"].get("uid") or "")
        if not by_fault:
            return ShownFaults((), None)
        now = self.clock.now()
        gpus = gpus_of(overlay(node, (), now))
        opened: list[OpenFault] = []
        waits: list[float] = []
        found = (self.faults[uid] for uid in by_fault if uid in self.faults)
        for fault in sorted(found, key=_in_order):
            start, end = fault.status.clock, self.ends(fault)
            if start is None or not self._is_open(fault):
                continue
            if end is not None:
                waits.append(end - now)
            for course in self._courses(fault, by_fault[fault.metadata.uid], gpus):
                opened += course.at(now - start)
                if (coming := course.next(now - start)) is not None:
                    waits.append(start + coming - now)
        return ShownFaults(tuple(opened), min(waits, default=None))

    def until_reported(self, node: Mapping[str, Json]) -> float:
        """Return the seconds until the kubelet of a node reports what hits each new node, without what follows from that.

        It is 0, or less, if it does by now.
        """
        by_fault = self._units.hit(node["metadata"].get("uid") or "")
        now = self.clock.now()
        waits = [0.0]
        for fault in self.followers():
            units, start = by_fault.get(fault.metadata.uid), fault.status.clock
            if units and start is not None:
                for course in self._courses(fault, units, gpus_of(overlay(node, (), now))):
                    times = (
                        time for time, due in course.parts[0].signals if due.dialect.spec.always
                    )
                    waits += [start + time - now for time in times]
        return max(waits)

    def course(self, fault: StoredFault, unit: FaultUnit, gpus: int) -> Course | None:
        """Return the course of a fault on a unit of a node with this number of GPUs; None if its start or class is unknown."""
        return next(iter(self._courses(fault, [unit], gpus)), None)

    def _courses(
        self, fault: StoredFault, units: Sequence[FaultUnit], gpus: int
    ) -> Iterator[Course]:
        definition, start = self.definition(fault), fault.status.clock
        if definition is None or start is None:
            return
        meta = fault.metadata
        injected = injected_fault(fault.spec, name=meta.name, uid=meta.uid, since=start)
        pods = tuple(each.pod_uid for each in units if each.pod_uid)
        for unit in _of_nodes(units[:1]) if pods else units:  # all pods of a node are hit together
            yield course_of(definition, injected, unit, gpus=gpus, pods=pods)

    def _is_open(self, fault: StoredFault) -> bool:
        status = fault.status
        if status.clock is None or status.phase in _OVER or fault.metadata.deletion_timestamp:
            return False
        end = self.ends(fault)
        return end is None or self.clock.now() < end

    def _define(self, name: str, page: StoredPage) -> None:
        if name in self._definitions or page.spec.definition is None:
            return
        try:
            self._definitions[name] = read_definition(page.spec.definition)
        except KwokctlError:  # not as a controller writes it: its faults show nothing
            return
        for uid, fault in self.faults.items():
            if fault.status.definition == name:
                self._tell(self._units.nodes_of(uid))
                # Its end, and whether it hits new nodes, are known only now.
                for noted in self._noted:
                    noted(uid)

    def _clock_set(self) -> None:
        """Look at all faults again: other ones are open at another time."""
        self._tell(self._units.nodes())
        for noted in self._noted:
            for uid in self.faults:
                noted(uid)

    def _tell(self, nodes: Mapping[str, str]) -> None:
        for changed in self._listeners if nodes else ():
            changed(nodes)


def _read(parse: Callable[[str], float], text: str) -> float | None:
    """Return a time that a Fault names; None if it names none, or none that can be read."""
    with suppress(ExpressionError):
        return parse(text) if text else None
    return None


def _without_rows(fault: StoredFault) -> StoredFault:
    """Return a Fault as it is kept: its rows are kept as units, and the texts that many have are one object."""
    status = fault.status
    kept = replace(status, rows=(), definition=intern(status.definition))
    return replace(fault, status=kept)


def _shows_the_same(before: StoredFault, after: StoredFault) -> bool:
    old, new = before.status, after.status
    return (
        (old.clock, old.definition, old.phase in _OVER)
        == (new.clock, new.definition, new.phase in _OVER)
        and before.metadata.deletion_timestamp == after.metadata.deletion_timestamp
        and (before.spec.lasts, before.spec.until) == (after.spec.lasts, after.spec.until)
    )


def _of_nodes(units: Sequence[FaultUnit]) -> list[FaultUnit]:
    return [FaultUnit(node=each.node, node_uid=each.node_uid) for each in units]


def _in_order(fault: StoredFault) -> tuple[float, str, str]:
    start = fault.status.clock
    return 0.0 if start is None else start, fault.metadata.name, fault.metadata.uid

"""Keeps Stages from new nodes that a fault with `follow` is about to hit: such a node is never healthy before.

The unit of a new node is stored by the leader of the controllers; every holder decides for itself, by the same pure function,
whether one is to come.
"""

from collections.abc import Callable, Mapping

from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.faults.targets.candidates import CandidateNode, candidate
from kwokctl.faults.targets.newcomers import came_later, is_complete, units_of_newcomer
from kwokctl.json_value import Json

LONGEST = 60.0
"""Seconds after which a node is played nevertheless: the controller that stores units may not hit it, such as that of another
fleet."""


class _Newborn:
    """A node that waits."""

    __slots__ = ("deadline", "name", "wake")

    def __init__(self, name: str, deadline: float, wake: Callable[[str], object]) -> None:
        self.name = name
        self.deadline = deadline
        """The time on the loop's clock at which it is played in any case."""
        self.wake = wake

    def on_due(self) -> None:
        self.wake(self.name)


class Newborns:
    """The new nodes that wait until the faults that hit them are known."""

    def __init__(self, faults: OpenFaults, delay_queue: DelayQueue) -> None:
        """Follow `faults`."""
        self._faults = faults
        self._delay_queue = delay_queue
        self._waiting: dict[str, _Newborn] = {}
        """By uid."""
        self._grown: set[str] = set()
        """The uids of nodes that came while faults followed, and that wait no longer."""
        self._wake: Callable[[str], object] = str
        faults.listen(self._changed)
        faults.attend(self._noted)

    def listen(self, wake: Callable[[str], object]) -> None:
        """Call `wake` with the name of each node that may wait no longer."""
        self._wake = wake

    def waits(
        self, name: str, uid: str, created: str, read: Callable[[], Mapping[str, Json]]
    ) -> bool:
        """Return whether a node may not be played yet; `read` returns it as JSON."""
        followers = self._faults.followers()
        if not followers or uid in self._grown:
            return False
        coming = [fault for fault in followers if came_later(created, fault.status)]
        if not coming:
            return False
        delay = self._delay(coming, uid, read())
        now = self._delay_queue.now()
        waiting = self._waiting.get(uid)
        if delay <= 0 or (waiting is not None and now >= waiting.deadline):
            self.forget(uid)
            self._grown.add(uid)
            return False
        if waiting is None:
            waiting = self._waiting[uid] = _Newborn(name, now + LONGEST, self._wake)
        self._delay_queue.put(waiting, min(delay, waiting.deadline - now))
        return True

    def forget(self, uid: str) -> None:
        """Note that a node is gone, or waits no longer."""
        self._grown.discard(uid)
        if (waiting := self._waiting.pop(uid, None)) is not None:
            self._delay_queue.forget(waiting)

    def _delay(self, coming: list[StoredFault], uid: str, node: Mapping[str, Json]) -> float:
        """Return the seconds after which it is to be asked again; 0 if what hits the node is known and shown."""
        on = self._faults.of_node(uid)
        left = [fault for fault in coming if fault.metadata.uid not in on]
        if left:
            one = candidate(node)
            if any(self._hits(fault, one) for fault in left):
                return LONGEST
        return self._faults.until_reported(node)

    def _hits(self, fault: StoredFault, node: CandidateNode) -> bool:
        if is_complete(fault.spec, self._faults.count(fault.metadata.uid)):
            return False
        definition = self._faults.definition(fault)
        # Its page comes by another watch, and comes at once.
        return definition is None or bool(units_of_newcomer(definition.found, fault.spec, node))

    def _changed(self, nodes: Mapping[str, str]) -> None:
        for uid in nodes:
            if (waiting := self._waiting.get(uid)) is not None:
                self._wake(waiting.name)

    def _noted(self, _: str) -> None:
        for waiting in tuple(self._waiting.values()):
            self._wake(waiting.name)

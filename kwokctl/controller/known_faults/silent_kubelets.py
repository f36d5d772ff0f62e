"""Says of which nodes the kubelet is silent because of a fault: all the time, or for most of it when it is late."""

from collections.abc import Callable, Sequence

from kwokctl.controller.known_faults.open_faults import Changed, OpenFaults
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.faults.overlays.late_kubelets import lateness
from kwokctl.faults.overlays.open_entries import SILENT, OpenEntry


class _LateNode:
    """A node whose kubelet is late."""

    __slots__ = ("name", "wake")

    def __init__(self, name: str, wake: Callable[[str], object]) -> None:
        self.name = name
        self.wake = wake

    def on_due(self) -> None:
        self.wake(self.name)


class SilentKubelets:
    """The kubelets that are silent because of faults, as every controller computes it from what nodes show."""

    def __init__(self, faults: OpenFaults, delay_queue: DelayQueue) -> None:
        """Follow `faults`: what a node shows of one that is not open any more counts no longer."""
        self._faults = faults
        self._delay_queue = delay_queue
        self._late: dict[str, _LateNode] = {}
        """By name."""
        self._wake: Callable[[str], object] = str

    def listen(self, wake: Callable[[str], object], changed: Changed) -> None:
        """Call `wake` with the name of each node whose late kubelet is heard now, or silent again.

        `changed` gets the nodes on which other faults are open than before.
        """
        self._wake = wake
        self._faults.listen(changed)

    def is_silent(self, name: str, uid: str, entries: Sequence[OpenEntry]) -> bool:
        """Return whether the kubelet of a node that shows these faults is silent now."""
        if not entries and not self._late:
            return False
        hitting = self._faults.of_node(uid)
        open_now = [
            each
            for each in entries
            if each.kubelet and each.uid in hitting and self._faults.is_open(each.uid)
        ]
        if not open_now:
            self.forget(name)
            return False
        found = lateness(open_now, self._faults.clock.now())
        if found is None:
            self.forget(name)
        else:
            node = self._late.setdefault(name, _LateNode(name, self._wake))
            self._delay_queue.put(node, found.wait)
        is_dead = any(each.kubelet in SILENT for each in open_now)
        return is_dead or (found is not None and found.is_silent)

    def forget(self, name: str) -> None:
        """Note that a node is gone, or that its kubelet is not late."""
        if (node := self._late.pop(name, None)) is not None:
            self._delay_queue.forget(node)

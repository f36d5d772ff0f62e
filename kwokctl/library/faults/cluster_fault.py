"""A fault that a Python program has injected."""

from contextlib import suppress
from time import monotonic

from kwokctl.clusters.faults.clear import FaultsToClear, clear
from kwokctl.clusters.faults.hit_units import hit_units
from kwokctl.clusters.faults.inject import Injected
from kwokctl.clusters.faults.node_wait import wait_for_nodes
from kwokctl.clusters.state.home import Home
from kwokctl.errors import NotFoundError, UsageError
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.library.calls import call
from kwokctl.library.faults.expectations import Expected, expectation
from kwokctl.model import ClusterName
from kwokctl.waits import USUAL

__tracebackhide__ = True
"""pytest shows the line of the test that has called, and none of these."""


class ClusterFault:
    """One Fault of a cluster, and what it has hit."""

    def __init__(self, home: Home, cluster: ClusterName, made: Injected) -> None:
        """Reach a Fault that was made."""
        self._home, self._cluster, self._made = home, cluster, made
        self._units: tuple[FaultUnit, ...] = ()

    @property
    def name(self) -> str:
        """The name of the Fault."""
        return self._made.name

    @property
    def class_name(self) -> str:
        """The class of faults that it is of."""
        return self._made.class_name

    @property
    def seed(self) -> int:
        """The seed of all that was drawn: with the same one, it is the same fault."""
        return self._made.seed

    @property
    def units(self) -> tuple[FaultUnit, ...]:
        """The nodes, GPUs or pods that it has hit, in the order of their selection.

        After the fault was cleared, those that were known before. Raises NotFoundError before it has happened.
        """
        return self._hit()

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes that it has hit, each once; otherwise as `units`."""
        return tuple(dict.fromkeys(unit.node for unit in self.units))

    def note_units(self) -> None:
        """Keep what it has hit, if that is known: the cluster forgets it when the fault is cleared."""
        with suppress(NotFoundError):
            self._units = self.units

    def expect(self, expected: Expected, *, within: float) -> "ClusterFault":
        """Wait until every node that it has hit is as expected, all at the same time, and return the fault.

        `expected` is one of `kwokctl.library.faults`, as `cordoned` or `condition("GPUMissing")`, or a function of a node's JSON.
        Raises TimedOutError after `within` seconds, which says which nodes are not, and what they show, and NotFoundError if the
        fault has not happened by then.
        """
        began, is_known = monotonic(), bool(self._units)
        uids = {unit.node_uid: unit.node for unit in self._hit(within)}
        if not uids:
            raise UsageError(
                f"the fault '{self.name}' has hit nothing, so there is nothing to expect",
                hint=f"see why: kwokctl --name {self._cluster} fault status {self.name} -o wide",
            )
        wanted = expectation(expected)
        left = within if is_known else within - (monotonic() - began)
        call(wait_for_nodes(self._home, self._cluster, uids, wanted, left))
        return self

    def clear(self, *, wait: float | None = USUAL) -> None:
        """Undo it if it is there, and wait until no node shows it; `wait` are the seconds for that, None does not wait."""
        self.note_units()
        request = FaultsToClear(names=[self.name], if_there=True, wait=wait)
        call(clear(self._home, self._cluster, request))

    def _hit(self, within: float = 0.0) -> tuple[FaultUnit, ...]:
        """Return the units, or those that were known before the fault was cleared; wait some seconds until it has happened."""
        try:
            self._units = call(hit_units(self._home, self._cluster, self.name, within=within))
        except NotFoundError:
            if not self._units:
                raise
        return self._units

    def __repr__(self) -> str:
        return f"ClusterFault({self.name!r})"

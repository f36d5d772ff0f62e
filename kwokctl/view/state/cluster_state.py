"""All that a view knows of its cluster."""

from collections.abc import Sequence

from kwokctl.clusters.time_travel.stored_marks import Mark
from kwokctl.measure.record.run_clock import RunClock
from kwokctl.view.state.seen_faults import SeenFaults
from kwokctl.view.state.seen_fleet import SeenFleet
from kwokctl.view.state.seen_plane import SeenPlane
from kwokctl.view.state.seen_pods import SeenPods


class ClusterState:
    """The present state of a cluster."""

    def __init__(self, clock: RunClock) -> None:
        """Count times by `clock`, from the beginning of the view."""
        self.now = clock
        self.began = clock.wall.timestamp()
        """The beginning, in seconds since 1970."""
        self.fleet = SeenFleet()
        self.pods = SeenPods(self.fleet.occupy)
        self.plane = SeenPlane()
        self.faults = SeenFaults(self.began)
        self.marks: Sequence[Mark] = ()
        """The latest last."""
        self.is_watched = False
        """Whether all nodes and pods are known: until then they are read."""

    @property
    def seconds(self) -> float:
        """The time since the view began."""
        return self.now() / 1e9

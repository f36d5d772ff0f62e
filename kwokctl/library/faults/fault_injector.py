"""The faults of a cluster, for Python programs: what the commands of `kwokctl fault` do."""

import time
from secrets import token_hex
from typing import Unpack

from kwokctl.clusters.faults.clear import FaultsToClear, clear
from kwokctl.clusters.faults.fault_states import FaultReport, fault_reports
from kwokctl.clusters.faults.inject import inject
from kwokctl.clusters.faults.log import fault_log
from kwokctl.clusters.faults.run_storm import RunRequest, run_storm
from kwokctl.clusters.faults.schedule_reports import ScheduleReport, schedule_reports
from kwokctl.clusters.faults.stop_storm import StoppedStorm, stop_storm
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ConflictError
from kwokctl.faults.storms.schedule_reader import schedule_of
from kwokctl.faults.truth.fault_truth import TruthEntry
from kwokctl.library.calls import call
from kwokctl.library.documents import GivenDocument, documents_of
from kwokctl.library.faults.cluster_fault import ClusterFault
from kwokctl.library.faults.fault_words import FaultWords, request_of
from kwokctl.model import ClusterName
from kwokctl.waits import USUAL

__tracebackhide__ = True
"""pytest shows the line of the test that has called, and none of these."""


class FaultInjector:
    """Injects faults into one cluster, and clears them; errors are those of the commands."""

    def __init__(self, home: Home, cluster: ClusterName) -> None:
        """Reach a cluster that exists."""
        self._home, self._cluster = home, cluster
        self._names: list[str] = []
        """Of the Faults that were asked for here: also of those whose injection has failed."""
        self._injected: list[ClusterFault] = []

    def inject(self, class_name: str, **words: Unpack[FaultWords]) -> ClusterFault:
        """Break something, and wait until all units show it.

        The words are the options of `kwokctl fault inject`. Raises UsageError and ConfigError for what makes no sense, NotFoundError if it
        hits nothing, and TimedOutError if it does not show in time.
        """
        name = words.get("name") or f"{class_name}-{token_hex(3)}"
        request = request_of(class_name, words, name)
        self._names.append(name)
        try:
            made = call(inject(self._home, self._cluster, request, ()))
        except ConflictError:  # a Fault of this name was injected elsewhere
            self._names.remove(name)
            raise
        fault = ClusterFault(self._home, self._cluster, made)
        fault.note_units()
        self._injected.append(fault)
        return fault

    @property
    def injected(self) -> tuple[ClusterFault, ...]:
        """The faults that were injected here, the first one first, until `clear_injected`."""
        return tuple(self._injected)

    def status(self, *names: str) -> list[FaultReport]:
        """Return how far the named Faults of the cluster are, or all of them."""
        return call(fault_reports(self._home, self._cluster, names))

    def log(self, *names: str) -> list[TruthEntry]:
        """Return what has happened to the units of the named Faults, or of all, by now: the truth to judge detectors with."""
        wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
        return call(fault_log(self._home, self._cluster, names, wall))

    def run(
        self, schedule: GivenDocument, *, name: str = "", wait: float | None = None
    ) -> ScheduleReport:
        """Play a FaultSchedule, a file or a mapping; return its state by now.

        A file may have the classes and dialects of the schedule, too. `name` replaces that of the document. `wait` are the seconds until the
        schedule must be over; None returns once its plan is stored. Raises ConfigError, with the field, for a schedule that makes no sense,
        NotFoundError if it hits no node, ConflictError if there is one of its name, and TimedOutError if it is not over in time.
        """
        documents, source = documents_of(schedule)
        request = RunRequest(
            document=schedule_of(documents, source),
            documents=tuple(documents),
            name=name,
            wait=wait,
        )
        wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
        return call(run_storm(self._home, self._cluster, request, wall))

    def schedules(self, *names: str) -> list[ScheduleReport]:
        """Return how far the named FaultSchedules are, or all of them; NotFoundError for an unknown name."""
        wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
        return call(schedule_reports(self._home, self._cluster, names, wall))

    def stop(self, schedule: str) -> StoppedStorm:
        """Let no further faults of a FaultSchedule come; those that are open stay. Raises NotFoundError if there is none of this name."""
        return call(stop_storm(self._home, self._cluster, schedule))

    def clear(self, *names: str, schedule: str = "", wait: float | None = USUAL) -> tuple[str, ...]:
        """Undo the named Faults of the cluster, or all of a schedule, with itself; without both, all; return the names of the Faults.

        `wait` are the seconds until no node may show them any more; None does not wait.
        """
        request = FaultsToClear(names=names, schedule=schedule, wait=wait)
        return call(clear(self._home, self._cluster, request)).names

    def clear_injected(self, *, wait: float | None = USUAL) -> None:
        """Undo what was injected here and is still there, and wait as `clear` does."""
        if not self._names:
            return
        # One that has ended meanwhile, as by a repair, may be gone at any moment.
        request = FaultsToClear(names=tuple(self._names), if_there=True, wait=wait)
        call(clear(self._home, self._cluster, request))
        self._names.clear()
        self._injected.clear()

    def __repr__(self) -> str:
        return f"FaultInjector({self._cluster!r})"

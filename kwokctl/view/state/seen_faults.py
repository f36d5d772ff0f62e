"""The Faults of a cluster now, and the times at which they were open."""

from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from kwokctl.clusters.faults.fault_states import FaultReport
from kwokctl.expr.duration import parse_time

_OVER = ("Cleared", "Deleted")
_MOST_PERIODS = 100


class FaultPeriod(msgspec.Struct, kw_only=True):
    """A time at which a Fault was open, in seconds since the view began."""

    name: str
    class_name: str
    start: float
    end: float | None = None


class SeenFaults:
    """The Faults of a cluster, open ones and those of before."""

    def __init__(self, began: float) -> None:
        """Count times from `began`, in seconds since 1970."""
        self.open: dict[str, FaultReport] = {}
        """By name, those that exist and have not ended."""
        self.problem = ""
        """Why they are not known; empty if they are."""
        self._began = began
        self._periods: deque[FaultPeriod] = deque(maxlen=_MOST_PERIODS)
        """In the order of their starts."""
        self._present: dict[str, FaultPeriod] = {}
        """Those of open Faults, by uid."""
        self._ended: deque[str] = deque(maxlen=_MOST_PERIODS)
        """The uids of the last Faults that have ended: a rewind brings them back."""

    def take(self, reports: Iterable[FaultReport], time: float) -> None:
        """Note what Faults are like at a time in seconds since the view began."""
        for each in reports:
            if each.phase in _OVER:
                self._end(each, time)
            else:
                self._open(each, time)

    def periods(self) -> Iterator[FaultPeriod]:
        """Yield when Faults were open: the last hundred of them."""
        yield from self._periods

    def _open(self, report: FaultReport, time: float) -> None:
        self.open[report.name] = report
        if report.uid in self._present:
            return
        is_back = report.uid in self._ended
        start = time if is_back else parse_time(report.created) - self._began
        period = FaultPeriod(name=report.name, class_name=report.class_name, start=round(start, 1))
        self._periods.append(period)
        self._present[report.uid] = period

    def _end(self, report: FaultReport, time: float) -> None:
        self.open.pop(report.name, None)
        period = self._present.pop(report.uid, None)
        if period is not None:
            period.end = round(time, 1)
            self._ended.append(report.uid)

"""The items about pods: how many there are, what happens to them, and why some wait."""

from collections import deque
from collections.abc import Mapping
from heapq import nlargest

from kwokctl.measure.pages.page_data import LinesItem, TableItem
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.view.content.items import lines_item, table_item
from kwokctl.view.content.words import lasting
from kwokctl.view.state.seen_pods import STEPS, PodStep, SeenPods
from kwokctl.view.state.timeline import Timeline

_REASONS = 20
_COLUMNS = ("Why", ">Pods", ">Longest", "For example")
_LATELY = 10
"""Records, one a second, of which the present rates are means."""


class PodCharts:
    """The recorded values of the charts about pods."""

    def __init__(self, pods: SeenPods, span: float) -> None:
        """Keep those of the last `span` seconds."""
        self._pods = pods
        self._levels = Timeline(("waiting", "running"), span)
        self._rates = Timeline(STEPS, span)
        self._before = pods.steps.copy()
        self._time: float | None = None
        self._lately: deque[Mapping[PodStep, float]] = deque(maxlen=_LATELY)

    def record(self, time: float) -> None:
        """Record the present; `time` is in seconds since the view began."""
        pods = self._pods
        self._levels.record(time, (pods.waiting_number, pods.phases["Running"]))
        if self._time is not None and time > self._time:
            took = time - self._time
            rates = {each: (pods.steps[each] - self._before[each]) / took for each in STEPS}
            self._lately.append(rates)
            self._rates.record(time, [*rates.values()])
        self._before, self._time = pods.steps.copy(), time

    def rate(self, step: PodStep) -> float:
        """Return how often something happened to a pod a second, in the last ten of them."""
        return sum(each[step] for each in self._lately) / (len(self._lately) or 1)

    def items(self) -> list[LinesItem]:
        """Return the charts."""
        return [
            lines_item(self._levels, "pods-now", "Pods that wait and that run", "pods"),
            lines_item(self._rates, "pod-rates", "What happens to pods", "pods/s"),
        ]


def waiting_item(pods: SeenPods, time: int) -> TableItem:
    """Return the reasons for which pods wait; `time` is in ns since the view began."""
    found = nlargest(_REASONS, pods.waiting.items(), key=lambda each: len(each[1]))
    rows = []
    for why, some in found:
        oldest = min(some.values(), key=lambda pod: pod.waits_since)
        waited = lasting((time - oldest.waits_since) / SECOND)
        rows.append((why, f"{len(some):,}", waited, f"{oldest.namespace}/{oldest.name}"))
    more = len(pods.waiting) - len(rows)
    note = "Times count from when the view saw a pod first, or saw it get its node."
    if more > 0:
        note += f" {more:,} more reasons are not listed."
    if not rows:
        note = "No pod waits."
    return table_item("waiting", "Pods that wait, and why", _COLUMNS, rows, note=note)

"""The items about the control plane: components, what they use, and how fast the API server answers."""

from kwokctl.clusters.status import RunStatus
from kwokctl.config.quantity import to_text
from kwokctl.measure.pages.page_data import LinesItem, PageLevel, TableCell, TableItem
from kwokctl.measure.record.record_lines import ApiProbe
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.model import ComponentName
from kwokctl.view.content.items import Cells, lines_item, table_item
from kwokctl.view.state.seen_plane import SeenPlane
from kwokctl.view.state.timeline import Timeline

_STALE = 2.5
"""Seconds for which an answer is the present: the API server is asked once a second."""
_COLUMNS = ("Component", "State", ">CPU", ">Memory", ">Restarts", "Version", "Message")
_LEVELS: dict[RunStatus, PageLevel] = {RunStatus.READY: "good", RunStatus.NOT_READY: "warning"}


class PlaneCharts:
    """The recorded values of the charts about the control plane."""

    def __init__(self, plane: SeenPlane, span: float) -> None:
        """Keep the last `span` seconds."""
        self._plane = plane
        self._span = span
        self._answers = Timeline(("/readyz",), span)
        self._cpu = Timeline((), span)

    def record(self, time: float) -> None:
        """Record the present; `time` is in seconds since the view began."""
        plane = self._plane
        self._answers.record(time, (_answered_in(plane.answer, time),))
        names = tuple(sorted(plane.uses))
        if self._cpu.names != names:
            self._cpu = Timeline(names, self._span)
        used = (plane.uses[each].cpu for each in names)
        self._cpu.record(time, [None if each is None else each * 100 for each in used])

    def items(self) -> list[LinesItem]:
        """Return the charts."""
        late = "No value: it did not answer with 200."
        cpu = "100 % is one processor."
        return [
            lines_item(self._answers, "api-answers", "The API server answers in", "ms", note=late),
            lines_item(self._cpu, "cpu", "CPU of components", "%", note=cpu, stacked=True),
        ]


def _answered_in(answer: ApiProbe | None, time: float) -> float | None:
    """Return the ms that the API server took to answer; None if it does not answer now."""
    if answer is None or answer.status != 200:
        return None
    is_old = time - (answer.time + answer.took) / SECOND > _STALE
    return None if is_old else answer.took / 1e6


def components_item(plane: SeenPlane) -> TableItem:
    """Return the components, each with its state and what it uses."""
    names = list(dict.fromkeys((*plane.statuses, *plane.uses)))
    rows = [_row(plane, name) for name in names]
    note = "" if rows else "They are not known yet."
    return table_item("components", "Components", _COLUMNS, rows, note=note)


def _row(plane: SeenPlane, name: str) -> Cells:
    status, use = plane.statuses.get(ComponentName(name)), plane.uses.get(name)
    state = str(status.status) if status else ""
    level: PageLevel = _LEVELS.get(status.status, "bad") if status else "neutral"
    if use is not None and not use.process:
        state, level = "ended", "bad"
    message = status.message.strip().splitlines() if status else []
    return (
        name,
        TableCell(text=state, level=level),
        "" if use is None or use.cpu is None else f"{100 * use.cpu:.0f} %",
        to_text(use.memory) if use and use.memory else "",
        "" if use is None else f"{use.restarts}",
        status.version if status else "",
        message[-1] if message else "",
    )

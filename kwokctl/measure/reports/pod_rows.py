"""Every pod of a run as CSV: beside a page, or inside it. Pure."""

import zlib
from base64 import b64encode
from collections.abc import Iterator

from kwokctl.measure.figures.figure import RunView, Since
from kwokctl.measure.figures.figure_catalogue import whole_run
from kwokctl.measure.histories.history import History, PodHistory
from kwokctl.measure.pages.page_data import PageDownload
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.reports.csv_rows import csv_lines

MOST_INSIDE = 5_000_000
"""Bytes of the pods inside a page, as they stand there."""
NAME = "pods.csv"
_HEADINGS = (
    "namespace", "name", "owner", "gang", "node", "phase", "priority", "requests", "submitted", "created", "bound",
    "running", "ready", "ended", "gone",
)  # fmt: skip
_DIGITS = 6
"""Of seconds: microseconds."""


def pods_csv(history: History, since: Since = "due") -> str:
    """Write a line for each pod of a run; times are seconds since it began, empty if not known."""
    view = whole_run(history, since)
    return csv_lines(_HEADINGS, _rows(view))


def pods_inside(text: str) -> PageDownload | None:
    """Return the CSV of pods as a file inside a page; None if it is larger than `MOST_INSIDE`."""
    content = text.encode()
    data = b64encode(zlib.compress(content, 9)).decode()
    if len(data) > MOST_INSIDE:
        return None
    return PageDownload(name=NAME, title="Every pod", size=len(content), data=data)


def _rows(view: RunView) -> Iterator[tuple[object, ...]]:
    begin = view.history.begin
    for pod in view.pods:
        shape = pod.shape
        times = (
            view.submitted(pod.uid, shape.owner_uid),
            pod.created, pod.bound, pod.running, pod.ready, pod.ended, pod.gone,
        )  # fmt: skip
        yield (
            pod.namespace, pod.name, _owner(pod), shape.gang, pod.node, pod.phase,
            shape.priority, shape.requests, *(_seconds(time, begin) for time in times),
        )  # fmt: skip


def _owner(pod: PodHistory) -> str:
    return f"{pod.shape.owner_kind}/{pod.shape.owner_name}" if pod.shape.owner_name else ""


def _seconds(time: int | None, begin: int) -> str:
    return "" if time is None else f"{(time - begin) / SECOND:.{_DIGITS}f}"

"""The items about marks: when each was made, and the commands that lead back to it."""

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime

from kwokctl.clusters.time_travel.stored_marks import Mark
from kwokctl.config.quantity import to_text
from kwokctl.measure.pages.page_data import PageBand, TableItem, TextItem
from kwokctl.model import ClusterName
from kwokctl.view.content.items import table_item

_MARKS = 20
"""The latest ones, for which commands are shown."""
_COLUMNS = ("Mark", "Made", ">Objects", ">Size")


def marks_items(cluster: ClusterName, marks: Sequence[Mark]) -> list[TableItem | TextItem]:
    """Return the marks, the latest first, with their commands, and the command for a new one."""
    own = f"kwokctl --name {shlex.quote(cluster)}"
    latest = marks[: -_MARKS - 1 : -1]
    rows = [
        (each.name, _made(each), f"{each.objects:,}", to_text(each.size))
        for each in reversed(marks)
    ]
    note = "" if rows else "There is none yet."
    items: list[TableItem | TextItem] = [
        table_item("marks", "Marks", _COLUMNS, rows, note=note),
        _command("mark", "Mark the present", f"{own} snapshot mark NAME"),
        _command("fork", "Fork the present", _fork(cluster), _FORK),
    ]
    for each in latest:
        # Names of marks may have dots, which ids may not.
        number, rewind = marks.index(each), f"{own} snapshot rewind {each.name}"
        title = f"'{each.name}' of {_made(each)}"
        items += [
            _command(f"rewind-{number}", f"Rewind to {title}", rewind),
            _command(
                f"fork-{number}", f"Fork from {title}", f"{rewind} && {_fork(cluster)}", _BOTH
            ),
        ]
    return items


_FORK = "A copy of the cluster as it is, with another name."
_BOTH = "A fork is a copy of the present, so the cluster itself is rewound before."


def mark_bands(marks: Sequence[Mark], began: float) -> list[PageBand]:
    """Return the marks that were made since `began`, in seconds since 1970, as moments in the charts."""
    return [
        PageBand(
            name=f"mark {each.name}",
            start=round(each.made - began, 1),
            end=round(each.made - began, 1),
            level="neutral",
        )
        for each in marks[-_MARKS:]
        if each.made >= began
    ]


def _fork(cluster: ClusterName) -> str:
    return f"kwokctl --name {shlex.quote(f'{cluster}-fork')} create cluster --from {shlex.quote(cluster)}"


def _command(name: str, title: str, line: str, note: str = "") -> TextItem:
    return TextItem(id=name, title=title, note=note, lines=[line], copyable=True)


def _made(mark: Mark) -> str:
    return datetime.fromtimestamp(mark.made, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")

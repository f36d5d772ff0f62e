"""The kernel log of a node: the lines of the faults that are open on it. Pure.

In the two forms that a machine has of it: as the file `kern.log`, in the form of rsyslog, and as the journal, in the form
`short-precise` of journalctl.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from kwokctl.faults.overlays.open_entries import OpenEntry
from kwokctl.kubelet.fleet.views import NodeView

_LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


class KernelLine(NamedTuple):
    """A line of the kernel."""

    time: float
    """A POSIX time stamp."""
    text: str


def kernel_lines(entries: Sequence[OpenEntry]) -> Sequence[KernelLine]:
    """Return the lines of faults by their time; those of one fault stay in their order."""
    found = [line for entry in entries for line in _of(entry)]
    return sorted(found, key=lambda line: line.time)


def _of(entry: OpenEntry) -> Iterator[KernelLine]:
    # A client may have written anything: what is no time of a calendar has no place in a log.
    if 0 <= entry.since < _LATEST:
        for text in entry.kernel_log:
            yield KernelLine(entry.since, " ".join(text.splitlines()))


def as_file(node: NodeView, lines: Sequence[KernelLine]) -> str:
    """Return them as `kern.log` has them: with the seconds since the node was made in brackets."""
    return "".join(
        f"{_moment(line.time):%b %e %H:%M:%S} {node.name} kernel: "
        f"[{max(line.time - node.created, 0.0):12.6f}] {line.text}\n"
        for line in lines
    )


def as_journal(node: NodeView, lines: Sequence[KernelLine]) -> str:
    """Return them as the journal shows them: with microseconds."""
    return "".join(
        f"{_moment(line.time):%b %d %H:%M:%S.%f} {node.name} kernel: {line.text}\n"
        for line in lines
    )


def _moment(time: float) -> datetime:
    return datetime.fromtimestamp(time, UTC)

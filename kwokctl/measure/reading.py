"""Reads the history of a run from a file."""

from pathlib import Path

from kwokctl.measure.history import History
from kwokctl.measure.record.file import RecordReader


def history_of(path: Path) -> History:
    """Return what a record says; ConfigError, with the place, for what cannot be understood."""
    record = RecordReader(path)
    history = History.of(record.header, record.lines())
    history.is_cut = record.is_cut
    return history

"""Reads the history of a run from a file: a record, or a recording of `snapshot record`."""

import gzip
import zlib
from pathlib import Path

from kwokctl.measure.history import History
from kwokctl.measure.record.file import RecordReader
from kwokctl.measure.recordings import history_of_recording

_RECORDING = b"apiVersion: "
"""The first bytes of each document of a recording."""


def history_of(path: Path, labels: tuple[str, ...] = ()) -> History:
    """Return what a file says of a run; ConfigError or SnapshotError, with the place, if it cannot be read.

    A record has the labels that were asked for then; of a recording these `labels` are read.
    """
    if _begins_as_document(path):
        return history_of_recording(path, labels)
    record = RecordReader(path)
    history = History.of(record.header, record.lines())
    history.is_cut = record.is_cut
    return history


def _begins_as_document(path: Path) -> bool:
    try:
        with path.open("rb") as plain:
            is_compressed = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            file = gzip.GzipFile(fileobj=plain) if is_compressed else plain
            return file.read(len(_RECORDING)) == _RECORDING
    except (OSError, EOFError, zlib.error):
        return False  # the reader of records says what is wrong

"""Reads the history of a run from a file: a record, or a recording of `snapshot record`."""

import gzip
import zlib
from pathlib import Path

from kwokctl.measure.histories.history import History
from kwokctl.measure.histories.recordings import history_of_recording
from kwokctl.measure.record.record_file import RecordReader

_RECORDING = b"apiVersion: "
"""The first bytes of each document of a recording."""


def history_of(path: Path, labels: tuple[str, ...] = ()) -> History:
    """Return what a file says of a run; ConfigError or SnapshotError, with the place, if it cannot be read.

    A record has the labels that were asked for then; of a recording these `labels` are read.
    """
    if _begins_as_document(path):
        return history_of_recording(path, labels)
    record = RecordReader(path)
    try:
        history = History.of(record.header, record.lines())
    except (LookupError, ValueError, TypeError, ArithmeticError) as e:
        raise record.fault("it does not go with the lines before it") from e
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

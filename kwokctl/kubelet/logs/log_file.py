"""Reads a log file piece by piece, and finds where its last lines begin. Blocks: for threads."""

import os
from pathlib import Path
from typing import BinaryIO

from kwokctl.kubelet.logs.file_changes import FileState

_PIECE = 256 * 1024


class LogFile:
    """An open log file; it stays the same one when another takes its name."""

    def __init__(self, path: str) -> None:
        """Open it; OSError if that is not possible."""
        self._file: BinaryIO = Path(path).open("rb")  # noqa: SIM115 - closed by close
        self._rest = b""

    def state(self) -> FileState:
        """Return which file it is, and how far it was read."""
        return FileState(os.fstat(self._file.fileno()).st_ino, self._file.tell())

    def beginning(self) -> list[bytes]:
        """Return the first whole lines, without having read them."""
        first = self._file.read(_PIECE)
        self._file.seek(0)
        return first.split(b"\n")[:-1]

    def skip_to_last(self, lines: int) -> None:
        """Go to where the last `lines` lines begin."""
        end = self._file.seek(0, os.SEEK_END)
        self._file.seek(_start_of_last(self._file, lines, end))

    def read_lines(self) -> list[bytes]:
        """Return the next whole lines; empty at the end."""
        while piece := self._file.read(_PIECE):
            *lines, self._rest = (self._rest + piece).split(b"\n")
            if lines:
                return lines
        return []

    def take_rest(self) -> bytes:
        """Return what is after the last whole line: a line that no newline ends."""
        rest, self._rest = self._rest, b""
        return rest

    def close(self) -> None:
        """Close it."""
        self._file.close()


def _start_of_last(file: BinaryIO, lines: int, end: int) -> int:
    """Return where the last `lines` lines begin, reading backwards; no newline need end the last."""
    if lines == 0 or end == 0:
        return end
    file.seek(end - 1)
    missing, at = lines + (file.read(1) == b"\n"), end
    while at > 0:
        begin = max(0, at - _PIECE)
        file.seek(begin)
        piece = file.read(at - begin)
        place = len(piece)
        while (place := piece.rfind(b"\n", 0, place)) >= 0:
            missing -= 1
            if missing == 0:
                return begin + place + 1
        at = begin
    return 0

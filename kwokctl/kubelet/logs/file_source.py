"""Reads a log file in a format of container runtimes, and follows it, also when it is rotated.

It is read piece by piece, in threads; the beginning of its last lines is found from its end.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from kwokctl.embedded.http.messages import RefusedError
from kwokctl.kubelet.logs.file_changes import FileChanges, FileState
from kwokctl.kubelet.logs.log_lines import LogLine, parse_line
from kwokctl.kubelet.logs.log_query import LogQuery
from kwokctl.kubelet.logs.log_source import LOOK_AGAIN, HasEnded

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


class FileSource:
    """The lines of a file; they are not kept in memory."""

    def __init__(self, path: str, file: LogFile, changes: FileChanges) -> None:
        """Read `file`, which was opened by its path, and wait for `changes` of it."""
        self._path = path
        self._file = file
        self._changes = changes
        self._is_gone = False
        """Whether no file has the name at the moment."""
        self._is_replaced = False
        """Whether another file has the name; what is left of this one is read before."""

    async def lines(
        self, query: LogQuery, has_ended: HasEnded
    ) -> AsyncGenerator[Sequence[LogLine], None]:
        """Yield what is in the file, and with `follow` what is written later."""
        try:
            if query.tail is not None:
                await asyncio.to_thread(self._file.skip_to_last, query.tail)
            is_over = not query.follow
            while True:
                while found := await asyncio.to_thread(self._file.read_lines):
                    yield list(_parsed(found))
                if (is_over or self._is_replaced) and (rest := self._file.take_rest()):
                    yield list(_parsed([rest]))
                if is_over:
                    return
                is_over = not await self._more(has_ended)
        finally:
            self._file.close()

    async def _more(self, has_ended: HasEnded) -> bool:
        """Wait until more may have been written; False if the container has ended meanwhile."""
        if self._is_replaced:
            await self._reopen()
            return True
        seen = FileState() if self._is_gone else self._file.state()
        now = await self._changes.changed(self._path, seen, within=LOOK_AGAIN)
        self._is_gone = now.size < 0
        if now == seen:
            return not await has_ended()
        self._is_replaced = _is_another(seen, now)
        return True

    async def _reopen(self) -> None:
        """Read the file that has the name now; there may be none any more."""
        self._is_replaced = False
        try:
            found = await asyncio.to_thread(LogFile, self._path)
        except OSError:
            return
        self._file.close()
        self._file = found


def _is_another(seen: FileState, now: FileState) -> bool:
    """Tell whether a file was replaced, or cut."""
    return now.size >= 0 and (now.inode != seen.inode or now.size < seen.size)


def _parsed(lines: Iterable[bytes]) -> Iterable[LogLine]:
    return (line for written in lines if (line := parse_line(written)) is not None)


async def file_source(path: str, changes: FileChanges) -> FileSource:
    """Open a file; RefusedError if that is not possible, or no line of it is one of a log."""
    try:
        found = await asyncio.to_thread(LogFile, path)
        first = await asyncio.to_thread(found.beginning)
    except OSError as e:
        raise RefusedError(400, f"the log file '{path}' cannot be read, {e.strerror}") from e
    if any(first) and not any(_parsed(first)):
        found.close()
        raise RefusedError(
            400,
            f"the log file '{path}' has no line in a format of container runtimes, which are "
            "'TIME stdout F text' and Docker's JSON",
        )
    return FileSource(path, found, changes)

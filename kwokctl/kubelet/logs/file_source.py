"""Reads a log file in a format of container runtimes, and follows it, also when it is rotated."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence

from kwokctl.embedded.http.messages import RefusedError
from kwokctl.kubelet.logs.file_changes import FileChanges, FileState
from kwokctl.kubelet.logs.lines import LogLine, parse_line
from kwokctl.kubelet.logs.log_file import LogFile
from kwokctl.kubelet.logs.query import LogQuery
from kwokctl.kubelet.logs.source import LOOK_AGAIN, HasEnded


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

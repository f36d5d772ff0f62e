"""Rotates, reads and follows the log files that programs append to."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

from kwokctl.host.file_locks import lock, try_lock
from kwokctl.host.files import naming

MAX_BYTES = 10 * 1024 * 1024
KEPT = 3
"""The number of older parts: NAME.log.1 is the youngest."""
KILLED_BY = "killed by signal"
"""The text in a log before the number of the signal that has ended a program."""
_CHUNK = 64 * 1024
_POLL = 0.2


def mark(path: Path, text: str) -> None:
    """Append a line that says what happens to the program: it separates one run from the next."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path), path.open("a", encoding="utf-8") as file:
        file.write(f"=== {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text} ===\n")


def mark_killed(path: Path, number: int) -> None:
    """Append that a signal has ended the program, unless the disk is full."""
    with suppress(OSError):
        mark(path, f"{KILLED_BY} {number}")


def rotate(path: Path, limit: int = MAX_BYTES) -> None:
    """Move what a log holds to its older parts if it has grown beyond `limit` bytes.

    The file itself is emptied, not replaced: a running program continues to append to it. What is
    written between the copy and the cut is lost, as with any log that its writer does not rotate.
    Nothing happens while another command rotates it, or when the disk has no room for the copy.
    """
    if not path.exists():
        return
    with path.open("r+b") as file:
        if not try_lock(file.fileno()):
            return
        if path.stat().st_size <= limit:
            return
        copy = path.with_name(f"{path.name}.new")
        try:
            with copy.open("wb") as older:
                shutil.copyfileobj(file, older)
        except OSError:
            copy.unlink(missing_ok=True)
            return
        for number in range(KEPT, 1, -1):
            younger = _part(path, number - 1)
            if younger.exists():
                younger.replace(_part(path, number))
        copy.replace(_part(path, 1))
        file.truncate(0)


def parts(path: Path) -> list[Path]:
    """List the files of a log, oldest first."""
    return [*_older(path), *([path] if path.exists() else [])]


async def read(path: Path, *, follow: bool) -> AsyncIterator[bytes]:
    """Yield a log, oldest part first; with `follow` also what is appended later, without end.

    What is followed has an empty chunk where its end was reached for the first time.
    """
    with ExitStack() as files:
        # All are opened first: they get other names when the log is rotated meanwhile.
        older = [files.enter_context(part.open("rb")) for part in _older(path)]
        cut = _last_cut(path)
        for file in older:
            while chunk := file.read(_CHUNK):
                yield chunk
    position, is_known = 0, False
    while True:
        size, latest_cut = _look(path)
        if latest_cut != cut:
            # What had not been read of it is in its youngest older part now.
            for _, chunk in _chunks(_part(path, 1), position):
                yield chunk
        if latest_cut != cut or size < position:
            position, cut = 0, latest_cut
        for reached, chunk in _chunks(path, position):
            position = reached
            yield chunk
        if not follow:
            return
        if not is_known:
            yield b""
        is_known = True
        await asyncio.sleep(_POLL)


def tail(path: Path, lines: int = 20) -> str:
    """Return the last lines of a log, from its last 64 KiB at most."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _CHUNK))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def _look(path: Path) -> tuple[int, int | None]:
    """Return the size of a log and its last cut, neither of them in the middle of one."""
    if not path.exists():
        return 0, _last_cut(path)
    with path.open("rb") as file:
        lock(file.fileno(), shared=True)
        return path.stat().st_size, _last_cut(path)


def _last_cut(path: Path) -> int | None:
    """Return what tells the last rotation from others: each makes a file for what it takes away."""
    youngest = _part(path, 1)
    return youngest.stat().st_ino if youngest.exists() else None


def _chunks(path: Path, position: int) -> Iterator[tuple[int, bytes]]:
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(position)
        while chunk := file.read(_CHUNK):
            yield file.tell(), chunk


def _older(path: Path) -> list[Path]:
    every = (_part(path, number) for number in range(KEPT, 0, -1))
    return [part for part in every if part.exists()]


def _part(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")

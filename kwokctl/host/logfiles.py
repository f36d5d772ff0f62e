"""Rotates, reads and follows the log files that programs append to."""

import asyncio
import fcntl
import shutil
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

from kwokctl.host.files import naming

MAX_BYTES = 10 * 1024 * 1024
KEPT = 3
"""How many older parts there are: NAME.log.1 is the youngest of them."""
_CHUNK = 64 * 1024
_POLL = 0.2


def mark(path: Path, text: str) -> None:
    """Append a line that says what happens to the program: it separates one run from the next."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path), path.open("a", encoding="utf-8") as file:
        file.write(f"=== {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text} ===\n")


def rotate(path: Path, limit: int = MAX_BYTES) -> None:
    """Move what a log holds to its older parts if it has grown beyond `limit` bytes.

    The file itself is emptied, not replaced: a running program continues to append to it. What is
    written between the copy and the cut is lost, as with any log that its writer does not rotate.
    Nothing happens while another command rotates it, or when the disk has no room for the copy.
    """
    if not path.exists():
        return
    with path.open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
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
    every = [*(_part(path, number) for number in range(KEPT, 0, -1)), path]
    return [part for part in every if part.exists()]


async def read(path: Path, *, follow: bool) -> AsyncIterator[bytes]:
    """Yield a log, oldest part first; with `follow` also what is appended later, without end."""
    for part in parts(path)[:-1]:
        with part.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    position = 0
    while True:
        for reached, chunk in _beyond(path, position):
            position = reached
            yield chunk
        if not follow:
            return
        await asyncio.sleep(_POLL)


def tail(path: Path, lines: int = 20) -> str:
    """Return the last lines of a log, of which at most 64 KiB are looked at."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _CHUNK))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def _beyond(path: Path, position: int) -> Iterator[tuple[int, bytes]]:
    """Yield what a log holds beyond a position, each chunk with the position after it."""
    if not path.exists():
        return
    if path.stat().st_size < position:
        # It has been emptied: what had not been read of it is in its youngest older part now.
        yield from _chunks(_part(path, 1), position)
        position = 0
    yield from _chunks(path, position)


def _chunks(path: Path, position: int) -> Iterator[tuple[int, bytes]]:
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(position)
        while chunk := file.read(_CHUNK):
            yield file.tell(), chunk


def _part(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")

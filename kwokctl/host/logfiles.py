"""Log files that programs append to: kept over restarts, cut before they grow too long, followed."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

MAX_BYTES = 10 * 1024 * 1024
KEPT = 3
"""How many older parts there are: NAME.log.1 is the youngest of them."""
_CHUNK = 64 * 1024
_POLL = 0.2


def mark(path: Path, text: str) -> None:
    """Append a line that says what happens to the program, so that its lives can be told apart."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"=== {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text} ===\n")


def rotate(path: Path, limit: int = MAX_BYTES) -> None:
    """Move what a log holds to its older parts if it has grown beyond `limit` bytes.

    The file itself is emptied, not replaced: a running program goes on appending to it. What is
    written between the copy and the cut is lost, as with any log that its writer does not rotate.
    """
    if not path.exists() or path.stat().st_size <= limit:
        return
    for number in range(KEPT, 1, -1):
        younger = _part(path, number - 1)
        if younger.exists():
            younger.replace(_part(path, number))
    shutil.copyfile(path, _part(path, 1))
    with path.open("r+b") as file:
        file.truncate(0)


def parts(path: Path) -> list[Path]:
    """List the files of a log, oldest first."""
    every = [*(_part(path, number) for number in range(KEPT, 0, -1)), path]
    return [part for part in every if part.exists()]


async def read(path: Path, *, follow: bool) -> AsyncIterator[bytes]:
    """Yield a log, oldest part first; with `follow` go on with what is appended, for ever."""
    for part in parts(path)[:-1]:
        with part.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    position = 0
    while True:
        for after, chunk in _beyond(path, position):
            position = after
            yield chunk
        if not follow:
            return
        await asyncio.sleep(_POLL)


def _beyond(path: Path, position: int) -> Iterator[tuple[int, bytes]]:
    """Yield what a file holds beyond a position, each chunk with the position after it."""
    if not path.exists():
        return
    with path.open("rb") as file:
        # A file shorter than what was read has been emptied by a rotation.
        file.seek(position if path.stat().st_size >= position else 0)
        while chunk := file.read(_CHUNK):
            yield file.tell(), chunk


def _part(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")

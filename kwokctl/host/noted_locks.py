"""Holds lock files, which note their holder for those that wait; a lock ends with its process."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import IO

from kwokctl.errors import BusyError
from kwokctl.host.file_locks import try_lock
from kwokctl.host.files import permit

_POLL = 0.05


def _lock_file(path: Path) -> IO[bytes]:
    """Open a lock file, which no other user can open: who can open a file can lock it (flock(2))."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with suppress(PermissionError):
        permit(descriptor, 0o600)
    return os.fdopen(descriptor, "a+b", buffering=0)


@contextmanager
def locked(path: Path, *, what: str, shared: bool = False) -> Iterator[None]:
    """Hold the advisory lock file at `path`; its content names the owner if the disk has room for it.

    Several processes may hold it `shared`; they exclude those that hold it alone. The kernel
    releases it when its process ends, in whatever way. If another process holds it, BusyError names
    the owner. The lock file itself stays: removing it would race.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _lock_file(path) as file:
        if not try_lock(file.fileno(), shared=shared):
            owner = lock_owner(path) or "another process"
            raise BusyError(
                f"{what} is in use by {owner}", hint="wait until it has finished, then repeat"
            )
        sign(file.fileno())
        try:
            yield
        finally:
            file.truncate(0)


def is_locked(path: Path) -> bool:
    """Return whether a process holds a lock file, which stays as it is."""
    try:
        with path.open("rb") as file:
            return not try_lock(file.fileno())
    except OSError:
        return False


@asynccontextmanager
async def turn(path: Path, *, doing: str, waiting: Callable[[str], None]) -> AsyncIterator[int]:
    """Hold the lock file at `path` as soon as it is released; yields its descriptor.

    The lock says "process N is `doing`"; `waiting` is called with the owner's note whenever that
    has changed. A child that inherits the descriptor keeps the lock until it has ended, too.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    heard: str | None = None
    with _lock_file(path) as file:
        while not try_lock(file.fileno()):
            # An owner that is just letting go, or has just begun, has no note there.
            if (owner := lock_owner(path)) != heard and (owner or heard is None):
                heard = owner
                waiting(owner or "another process is busy")
            await asyncio.sleep(_POLL)
        sign(file.fileno(), doing)
        try:
            yield file.fileno()
        finally:
            file.truncate(0)


def sign(lock: int, doing: str = "") -> None:
    """Write into a held lock which process holds it, and what that is doing now.

    The note is only for processes that wait: on a full disk the lock is held without it.
    """
    note = f"process {os.getpid()} is {doing}" if doing else f"process {os.getpid()}"
    os.ftruncate(lock, 0)
    with suppress(OSError):
        os.write(lock, note.encode())


def lock_owner(path: Path) -> str:
    """Return what the holder of a lock wrote about itself, or an empty string."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return ""

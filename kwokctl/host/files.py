"""Writes files atomically, makes private folders, and holds locks that end with their process."""

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import IO

from kwokctl.errors import BusyError, ConflictError
from kwokctl.host.file_locks import try_lock
from kwokctl.host.own_folders import is_own_folder

_POLL = 0.05
_OF_DISK = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS))


def write_atomic(
    path: Path, content: bytes | str, *, mode: int = 0o644, owner: tuple[int, int] | None = None
) -> None:
    """Write a file by replacement, so that no reader and no crash sees half of it.

    `owner` is a user and a group id, kept as far as we may.
    """
    with replacing(path, mode=mode, owner=owner) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(
    path: Path, *, mode: int = 0o644, owner: tuple[int, int] | None = None
) -> Iterator[IO[bytes]]:
    """Yield a file that replaces the one at `path` when all of it has been written.

    Left by an exception it leaves nothing behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with naming(path), os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if owner is not None:
                _give(file.fileno(), owner)
            _permit(file.fileno(), mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _give(descriptor: int, owner: tuple[int, int]) -> None:
    """Change the owner and the group of a file, where there are such (not on Windows), as far as we may."""
    if hasattr(os, "fchown"):
        with suppress(PermissionError):
            os.fchown(descriptor, *owner)


def _permit(descriptor: int, mode: int) -> None:
    """Set the permissions of an open file, where there are such."""
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add `path` to an error of the disk that names no file: those of an open file do not."""
    try:
        yield
    except OSError as e:
        if e.filename is None and e.errno in _OF_DISK:
            e.filename = os.fspath(path)
        raise


def private_folder(path: Path) -> Path:
    """Make a folder that only its owner can enter; parents are made as usual.

    Raises ConflictError if it belongs to another user, who could enter it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    if not is_own_folder(path):
        raise ConflictError(
            f"'{path}' is not a folder of this user",
            hint="remove it, or choose another and shorter folder with KWOK_WORKDIR",
        )
    path.chmod(0o700)
    return path


def remove_private_folder(path: Path) -> None:
    """Remove what `private_folder` has made; what another user has put in its place stays."""
    if os.path.lexists(path) and is_own_folder(path):
        remove_tree(path)


def remove_tree(path: Path) -> None:
    """Remove a folder and all in it, or a file; nothing happens when it is not there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Yield a folder that is empty, and is removed with all in it when it is left."""
    remove_tree(path)
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        remove_tree(path)


def _lock_file(path: Path) -> IO[bytes]:
    """Open a lock file, which no other user can open: who can open a file can lock it (flock(2))."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with suppress(PermissionError):
        _permit(descriptor, 0o600)
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

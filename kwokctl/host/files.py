"""Writes files atomically, and makes and removes folders, among them private ones."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import IO

from kwokctl.errors import ConflictError
from kwokctl.host.own_folders import is_own_folder

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
            permit(file.fileno(), mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _give(descriptor: int, owner: tuple[int, int]) -> None:
    """Change the owner and the group of a file, where there are such (not on Windows), as far as we may."""
    if hasattr(os, "fchown"):
        with suppress(PermissionError):
            os.fchown(descriptor, *owner)


def permit(descriptor: int, mode: int) -> None:
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

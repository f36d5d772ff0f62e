"""A folder for the snapshot that forks are made of: it holds every Secret, and does not outlive its use."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kwokctl.host.file_locks import lock, try_lock
from kwokctl.host.files import remove_tree

_PREFIX = "fork-"


@contextmanager
def snapshot_folder(root: Path) -> Iterator[Path]:
    """Yield a new folder in `root`; remove it in the end, and at once those that killed runs have left."""
    with _opened(root) as turn:
        lock(turn)  # so that no other process sees a folder before it is locked
        for left in root.glob(f"{_PREFIX}*"):
            _remove_unused(left)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
        used = os.open(folder, os.O_RDONLY)
        lock(used)
    try:
        yield folder
    finally:
        remove_tree(folder)
        os.close(used)


def _remove_unused(folder: Path) -> None:
    """Remove a folder unless the process that has made it still uses it."""
    # Its process may just be removing it.
    with suppress(FileNotFoundError), _opened(folder) as descriptor:
        if try_lock(descriptor):
            remove_tree(folder)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)

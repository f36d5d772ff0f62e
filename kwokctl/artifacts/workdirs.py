"""Remembers the work folders whose clusters use the programs of a cache folder.

A work folder does not know the others; without this, what one of them has in use would look unused
from another.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kwokctl.host.files import write_atomic

_FOLDER = "workdirs"


def remember(cache: Path, workdir: Path) -> None:
    """Note that clusters in a work folder use programs of the cache; safe to repeat.

    A cache that cannot be written is left as it is: a full disk must not keep clusters from
    starting.
    """
    path = os.fsencode(workdir.absolute())
    file = cache / _FOLDER / hashlib.sha256(path).hexdigest()[:16]
    with suppress(OSError):
        if not file.is_file():
            write_atomic(file, path)


def remembered(cache: Path) -> Iterator[Path]:
    """Yield the work folders that have been noted and exist."""
    for file in _notes(cache):
        with suppress(OSError):
            folder = Path(os.fsdecode(file.read_bytes()))
            if folder.is_dir():
                yield folder


def forget_removed(cache: Path) -> None:
    """Drop the notes of work folders that do not exist any more."""
    there = set(remembered(cache))
    for file in _notes(cache):
        with suppress(OSError):
            if Path(os.fsdecode(file.read_bytes())) not in there:
                file.unlink()


def _notes(cache: Path) -> list[Path]:
    return sorted((cache / _FOLDER).glob("[0-9a-f]*"))

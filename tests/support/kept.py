"""What tests make once for all lanes and runs: folders in the user's cache folder, each by what it is made from."""

import hashlib
import os
import pwd
import shutil
from collections.abc import Callable, Iterable
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path

_KEPT = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache" / "kwokctl" / "tests"
"""Below the user's own home folder; tests have another."""
_MARK = ".made"
"""The file that says that a folder is whole. Who uses the folder holds a lock on it."""
_UNUSED = 2
"""The folders of a name that stay though no process uses them: those that were used last."""


def kept(
    name: str, made_from: Iterable[bytes], make: Callable[[Path], object], *, within: Path = _KEPT
) -> Path:
    """Return the folder of a name that is made from these parts; `make` fills it unless it is there.

    It stays as long as this process runs. What is left in it may be used by others at the same time.
    """
    within.mkdir(parents=True, exist_ok=True)
    folder = within / f"{name}-{_digest(made_from)}"
    with (within / f"{name}.lock").open("w") as lock:  # several lanes need it
        flock(lock, LOCK_EX)
        if not (folder / _MARK).exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
        (folder / _MARK).touch()
        # Never closed: the lock ends with the process.
        flock(os.open(folder / _MARK, os.O_RDONLY), LOCK_SH)
        _remove_old(within.glob(f"{name}-{'[0-9a-f]' * len(_digest([]))}"))
    return folder


def _digest(parts: Iterable[bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(hashlib.sha256(part).digest())
    return found.hexdigest()[:16]


def _remove_old(folders: Iterable[Path]) -> None:
    """Remove all but the last ones, unless a process uses them."""
    for folder in sorted(folders, key=_last_used)[:-_UNUSED]:
        if not _is_used(folder):
            shutil.rmtree(folder)


def _last_used(folder: Path) -> float:
    mark = folder / _MARK
    return mark.stat().st_mtime if mark.exists() else 0


def _is_used(folder: Path) -> bool:
    try:
        with (folder / _MARK).open() as mark:
            flock(mark, LOCK_EX | LOCK_NB)
    except FileNotFoundError:  # making it was interrupted
        return False
    except BlockingIOError:
        return True
    return False

"""Lets one process at a time fetch or build a program; others wait until it is cached."""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import msgspec

from kwokctl.host.noted_locks import sign, turn
from kwokctl.progress import Progress, Step


class LockedPlace(msgspec.Struct, frozen=True):
    """The folder of a build, while this process holds its lock."""

    folder: Path
    """A folder to work in, on the file system of the store. It is kept after a failure, so that a
    download can be continued.
    """
    lock: int
    """The descriptor of the lock; a child that inherits it keeps the turn until it has ended."""

    def doing(self, what: str) -> None:
        """Show the processes that wait what is being done now."""
        sign(self.lock, what)


@asynccontextmanager
async def in_turn(
    cache: Path, batch: str, doing: str, progress: Progress
) -> AsyncIterator[LockedPlace]:
    """Wait until no other process fetches or builds `batch`, then lock it.

    Processes that wait meanwhile show `doing`. The folder is removed after a success; after a
    failure only partial downloads stay.
    """
    folder = cache / "tmp" / batch
    with ExitStack() as steps:
        waiting = _shown(progress, steps)
        async with turn(lock_file(cache, batch), doing=doing, waiting=waiting) as lock:
            steps.close()
            folder.mkdir(parents=True, exist_ok=True)
            try:
                yield LockedPlace(folder, lock)
            except BaseException:
                _remove_empty(folder)
                raise
            shutil.rmtree(folder, ignore_errors=True)


def _shown(progress: Progress, steps: ExitStack) -> Callable[[str], None]:
    """Return what shows, as one step, which process is waited for."""
    step: Step | None = None

    def hear(owner: str) -> None:
        nonlocal step
        if step is None:
            title = f"{owner[:1].upper()}{owner[1:]}; waiting"
            step = steps.enter_context(progress.step(title))
        else:
            step.say(owner)

    return hear


def _remove_empty(folder: Path) -> None:
    """Remove a folder as far as there are no files in it."""
    for each in [*sorted(folder.rglob("*"), reverse=True), folder]:
        if each.is_dir():
            with suppress(OSError):  # it is not empty
                each.rmdir()


def lock_file(cache: Path, batch: str) -> Path:
    """Return the lock that is held while `batch` is fetched or built."""
    return cache / "locks" / f"{batch}.lock"

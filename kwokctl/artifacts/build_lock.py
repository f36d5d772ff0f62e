"""One at a time gets a thing into the cache; others wait and find it there."""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kwokctl.host.files import sign, turn
from kwokctl.progress import Progress, Step


@dataclass(frozen=True, slots=True)
class LockedPlace:
    """What belongs to whoever has the turn."""

    folder: Path
    """A folder to work in, on the file system of the store. It outlives a failure, so that a
    download can be gone on with."""
    lock: int
    """The descriptor of the lock; a child that inherits it keeps the turn until it has ended."""

    def doing(self, what: str) -> None:
        """Tell those who wait what is being done now."""
        sign(self.lock, what)


@asynccontextmanager
async def in_turn(
    cache: Path, batch: str, doing: str, progress: Progress
) -> AsyncIterator[LockedPlace]:
    """Wait until nobody else gets `batch` into the cache, then have the turn.

    Those who come meanwhile read `doing`. The folder is removed when all went well; after a failure
    only what a download can be continued from stays.
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
    """Return what shows whom we wait for, as one step."""
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
    """Return the lock that whoever gets `batch` holds."""
    return cache / "locks" / f"{batch}.lock"

"""Tells followers when files change: one look at all of them, a few times a second."""

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

_LOOK_EVERY = 0.2


class FileState(msgspec.Struct, frozen=True):
    """The identity of a file, and its size."""

    inode: int = 0
    size: int = -1
    """-1 if there is no file."""


class FileChanges:
    """Looks at the files for which a task waits; without one it looks at nothing."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Future[FileState], tuple[str, FileState]] = {}
        self._any = asyncio.Event()

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self._any.wait()
            await asyncio.sleep(_LOOK_EVERY)
            states = await asyncio.to_thread(_states, {path for path, _ in self._waiting.values()})
            for waiter, (path, seen) in self._waiting.items():
                if states.get(path, seen) != seen and not waiter.done():
                    waiter.set_result(states[path])

    async def changed(self, path: str, seen: FileState, *, within: float) -> FileState:
        """Wait until a file is not any more as it was seen, at most some seconds; return its state."""
        waiter: asyncio.Future[FileState] = asyncio.get_running_loop().create_future()
        self._waiting[waiter] = (path, seen)
        self._any.set()
        try:
            async with asyncio.timeout(within):
                return await waiter
        except TimeoutError:
            return seen
        finally:
            del self._waiting[waiter]
            if not self._waiting:
                self._any.clear()


def _states(paths: Collection[str]) -> Mapping[str, FileState]:
    return {path: state_of(path) for path in paths}


def state_of(path: str) -> FileState:
    """Look at a file now."""
    try:
        found = Path(path).stat()
    except OSError:
        return FileState()
    return FileState(found.st_ino, found.st_size)

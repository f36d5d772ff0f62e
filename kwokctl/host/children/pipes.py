"""Reads and writes pipes and terminals without blocking."""

import asyncio
import errno
import os
from collections.abc import Callable

_PIECE_BYTES = 64 * 1024
"""Bytes: what a pipe holds by default (pipe(7))."""
_PATIENCE = 1.0
"""Seconds without data, after which nothing more is expected of a program that has ended."""


class ReadEnd:
    """The end of a pipe from which the output of a program is read."""

    def __init__(self, fd: int) -> None:
        """Take over a descriptor."""
        self._fd = fd
        self._waiting: asyncio.Future[bool] | None = None
        self._is_hurried = False
        os.set_blocking(fd, False)

    async def read(self) -> bytes:
        """Return what has been written, at least one byte; b"" at the end."""
        while True:
            try:
                return os.read(self._fd, _PIECE_BYTES)
            except BlockingIOError:
                if not await self._becomes_readable():
                    return b""
            except OSError as e:
                if e.errno == errno.EIO:  # of a terminal that no program uses any more
                    return b""
                raise

    def hurry(self) -> None:
        """Take a pause for the end: others may have the pipe open though the program has ended."""
        self._is_hurried = True
        if self._waiting is not None:
            _settle_later(self._waiting)

    def close(self) -> None:
        """Read no more."""
        os.close(self._fd)

    async def _becomes_readable(self) -> bool:
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[bool] = loop.create_future()
        self._waiting = waiting
        if self._is_hurried:
            _settle_later(waiting)
        loop.add_reader(self._fd, _make_ready, waiting)
        try:
            return await waiting
        finally:
            loop.remove_reader(self._fd)
            self._waiting = None


class WriteEnd:
    """The end of a pipe to which the input of a program is written."""

    def __init__(self, fd: int) -> None:
        """Take over a descriptor."""
        self._fd = fd
        self._is_open = True
        os.set_blocking(fd, False)

    async def write(self, data: bytes) -> bool:
        """Write all of it; False if the program reads no more."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._fd, rest) :]
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await until_ready(self._fd, loop.add_writer, loop.remove_writer)
            except OSError:
                return False
        return True

    def close(self) -> None:
        """Close the pipe, so that the program reads the end of its input."""
        if self._is_open:
            self._is_open = False
            os.close(self._fd)


async def until_ready(fd: int, add: Callable[..., None], remove: Callable[[int], bool]) -> None:
    """Wait until a descriptor is ready for what `add`, a method of the event loop, watches."""
    ready: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    add(fd, _make_ready, ready)
    try:
        await ready
    finally:
        remove(fd)


def _make_ready(waiting: asyncio.Future[bool]) -> None:
    if not waiting.done():
        waiting.set_result(True)


def _settle_later(waiting: asyncio.Future[bool]) -> None:
    waiting.get_loop().call_later(_PATIENCE, _give_up, waiting)


def _give_up(waiting: asyncio.Future[bool]) -> None:
    if not waiting.done():
        waiting.set_result(False)

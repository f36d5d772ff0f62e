"""The buffer of received data that the reader has not taken yet."""

import asyncio
from collections import deque

_MOST = 256 * 1024
"""Bytes; a piece may exceed it."""


class Inbox:
    """Bytes between one writer and one reader; the writer waits while there are many."""

    def __init__(self) -> None:
        """Begin empty."""
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._is_over = False
        self._is_dropped = False
        self._has_some, self._has_space = asyncio.Event(), asyncio.Event()
        self._has_space.set()

    async def put(self, data: bytes) -> None:
        """Add data, as soon as there is space; it is dropped if it will not be read."""
        await self._has_space.wait()
        if self._is_over or self._is_dropped or not data:
            return
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= _MOST:
            self._has_space.clear()
        self._has_some.set()

    async def read(self) -> bytes:
        """Return all that has come, at least one byte; b"" at the end."""
        await self._has_some.wait()
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        self._has_space.set()
        if not self._is_over:
            self._has_some.clear()
        return data

    def end(self) -> None:
        """Let the reader find the end after the received data."""
        self._is_over = True
        self._has_some.set()
        self._has_space.set()

    def drop(self) -> None:
        """Read no more: data received now or later is dropped."""
        self._is_dropped = True
        self._pieces.clear()
        self._size = 0
        self._has_space.set()

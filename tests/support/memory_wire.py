"""A connection in memory: what a test writes is read, and what is written is kept."""

import asyncio


class MemoryWire:
    """A `RawStream` without a network."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.is_lost = False
        self.is_closed = False
        self._incoming: asyncio.Queue[bytes] = asyncio.Queue()

    def send(self, *data: bytes) -> None:
        """Let the server read something; b"" is the end."""
        for each in data:
            self._incoming.put_nowait(each)

    async def read(self) -> bytes:
        return await self._incoming.get()

    async def write(self, data: bytes) -> None:
        if self.is_lost:
            raise ConnectionResetError
        self.written += data

    async def close(self) -> None:
        self.is_closed = True

    def taken(self) -> bytes:
        """Return what was written since it was requested last."""
        data = bytes(self.written)
        self.written.clear()
        return data

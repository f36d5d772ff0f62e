"""The block of a program beside which is recorded: it runs in another thread than the recording."""

import asyncio
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress


class MeasuredBlock:
    """The work of a program, from the moment at which everything is watched until the program says that it is over."""

    def __init__(self) -> None:
        self.begun: Future[None] = Future()
        self._over: Future[None] = Future()

    async def work(self) -> None:
        """Say that the block may begin, and return when it is over."""
        self.begun.set_result(None)
        await asyncio.wrap_future(self._over)

    def end(self) -> None:
        """Say that it is over; from any thread, and also when the run has ended already."""
        with suppress(InvalidStateError):
            self._over.set_result(None)

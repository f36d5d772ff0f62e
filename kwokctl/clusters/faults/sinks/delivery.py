"""Delivers documents to a receiver in their order, however often it takes, and says what was late."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

import msgspec

from kwokctl.clusters.faults.log import LogBatch
from kwokctl.clusters.faults.sinks.receivers import DeliveryError, Send, open_receiver
from kwokctl.faults.truth.sink_signals import SinkSignal, sink_signals
from kwokctl.progress import Progress
from kwokctl.retry import backoff
from kwokctl.tasks import beside

_MOST = 10_000
"""So many documents wait at most; then no further ones are read until there is room."""
_FIRST, _LONGEST = 0.2, 10.0
"""Seconds before another try, doubled after each."""
_LATE = 5.0
"""Seconds after which a document is late."""


class Delivery:
    """The documents that wait for one receiver."""

    def __init__(
        self,
        name: str,
        send: Send,
        progress: Progress,
        wall: Callable[[], float],
        *,
        most: int = _MOST,
    ) -> None:
        """Send to the receiver that the user called `name`; `wall` returns the time of day."""
        self._name = name
        self._send = send
        self._progress = progress
        self._wall = wall
        self._began = wall()
        self._random = Random()
        self._queue: asyncio.Queue[SinkSignal] = asyncio.Queue(most)
        self._under_way = 0
        self._tries = 0
        self._is_said = False
        """Whether it was said that there is no room, since there was last nothing to deliver."""

    @property
    def left(self) -> int:
        """The number of documents that are not delivered."""
        return self._queue.qsize() + self._under_way

    async def put(self, signals: Sequence[SinkSignal]) -> None:
        """Add documents; while there is no room, wait until there is some."""
        for each in signals:
            if self._queue.full() and not self._is_said:
                self._is_said = True
                self._progress.warn(
                    f"{self.left} signals wait for the sink '{self._name}': no more are read until it takes some"
                )
            await self._queue.put(each)

    async def run(self) -> None:
        """Deliver until cancelled."""
        while True:
            signal = await self._queue.get()
            self._under_way = 1
            await self._deliver(signal)
            self._under_way = 0
            self._is_said = self._is_said and not self._queue.empty()

    async def _deliver(self, signal: SinkSignal) -> None:
        document = msgspec.json.encode(signal)
        while True:
            try:
                await self._send(document)
            except DeliveryError as e:
                if e.is_final:
                    self._progress.warn(f"the sink '{self._name}' refuses signal {signal.id}: {e}")
                    return
                await self._wait(e)
                continue
            self._tries = 0
            self._note(signal)
            return

    async def _wait(self, error: DeliveryError) -> None:
        self._tries += 1
        if self._tries == 1:
            self._progress.warn(f"the sink '{self._name}' takes no signals: {error}; trying again")
        pause = backoff(self._tries, self._random, first=_FIRST, most=_LONGEST)
        await asyncio.sleep(pause)

    def _note(self, signal: SinkSignal) -> None:
        """Say that a document was late, unless it was due before the command began."""
        late = self._wall() - signal.due
        if late > _LATE and signal.due >= self._began:
            self._progress.warn(f"the sink '{self._name}' got signal {signal.id} {late:.1f} s late")


class Sinks:
    """The sinks of a command."""

    def __init__(self, deliveries: Sequence[Delivery]) -> None:
        """Give each document to all of these."""
        self._deliveries = deliveries

    async def put(self, batch: LogBatch) -> None:
        """Send what a log says; while a queue is full, wait."""
        signals = [
            signal
            for each in batch.happenings
            for signal in sink_signals(each, batch.nodes.get(each.entry.node))
        ]
        for delivery in self._deliveries:
            await delivery.put(signals)


@asynccontextmanager
async def open_sinks(
    words: Sequence[str], progress: Progress, wall: Callable[[], float]
) -> AsyncIterator[Sinks]:
    """Yield the sinks that a user's words name, which deliver until the block is left.

    What is not delivered then is said with its number.
    """
    async with AsyncExitStack() as stack:
        deliveries = [
            Delivery(word, await stack.enter_async_context(open_receiver(word)), progress, wall)
            for word in words
        ]
        try:
            async with beside(*(each.run() for each in deliveries)):
                yield Sinks(deliveries)
        finally:
            for word, delivery in zip(words, deliveries, strict=True):
                if delivery.left:
                    progress.warn(f"{delivery.left} signals were not delivered to '{word}'")

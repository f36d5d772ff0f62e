"""Runs one load: waits until an arrival is due, sends it, and counts the outcome."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import partial
from itertools import count, islice
from typing import TypeVar

import msgspec

from kwokctl.clusters.objects.wait import wait_for
from kwokctl.draws.streams import DrawStream
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.load.acts.act import ActContext, Work
from kwokctl.load.acts.choose import act_of
from kwokctl.load.acts.create_in_bulk import BulkCreateAct
from kwokctl.load.arrival import Arrival, ArrivalSink
from kwokctl.load.client.sender import Clock, Flight, LoadSender
from kwokctl.load.description.bundles import LOAD_LABEL, RUN_LABEL
from kwokctl.load.description.schema import LoadSpec
from kwokctl.load.description.units import period
from kwokctl.load.load_documents import Load
from kwokctl.load.load_verdict import LoadVerdict, Tally
from kwokctl.load.past_api.way import DirectWay
from kwokctl.load.sending.endings import Afterlife, Endings
from kwokctl.load.sending.load_checks import check, wanted
from kwokctl.load.sending.plan import ArrivalPlan
from kwokctl.progress import Progress, Step
from kwokctl.retry import backoff
from kwokctl.waits import USUAL

_NANOS = 1e9

Prepared = TypeVar("Prepared")


class Turns:
    """The turns of one load; they begin when it is made."""

    def __init__(self, spec: LoadSpec, speed: float, clock: Clock) -> None:
        """Arrivals are due `speed` times as fast as the document says."""
        self._spec, self._speed, self._clock = spec, speed, clock
        self._start = self._clock()
        places = spec.arrivals.concurrency
        self._places = None if places is None else asyncio.Semaphore(places)

    @property
    def is_closed(self) -> bool:
        """Whether one arrival is due when another ends."""
        return self._places is not None

    async def dues(
        self, times: Iterator[float], prepare: Callable[[int], Prepared]
    ) -> AsyncIterator[tuple[int, int, Prepared]]:
        """Yield the number of each arrival when it is due, and when that was, by the clock.

        What `prepare` makes of its number comes with it, and is made before, so that it delays nothing.
        """
        if self._places is not None:
            async for index, due in self._in_turn(self._places):
                yield index, due, prepare(index)
            return
        for index, seconds in enumerate(times):
            prepared = prepare(index)
            due = self._start + round(seconds / self._speed * _NANOS)
            left = due - self._clock()
            if left > 0:
                await asyncio.sleep(left / _NANOS)
            yield index, due, prepared

    async def _in_turn(self, places: asyncio.Semaphore) -> AsyncIterator[tuple[int, int]]:
        lasts = self._spec.lasts
        end = None if lasts is None else self._start + lasts / self._speed * _NANOS
        for index in islice(count(), self._spec.count):
            await places.acquire()
            now = self._clock()
            if end is not None and now >= end:
                return
            yield index, now

    def give_back(self) -> None:
        """Count an arrival that has ended."""
        if self._places is not None:
            self._places.release()


_TRIES = 10
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0
"""Seconds before a refused arrival is tried again: about a minute in all."""
_REFUSED_PAUSE = 1.0
"""Seconds for which a refused arrival stays open where arrivals take turns, so that refusals do not run wild."""


class RunContext(msgspec.Struct, kw_only=True):
    """The settings that the loads of a run share."""

    run: str
    seed: int
    speed: float
    sink: ArrivalSink
    is_stopped: bool = False
    """Whether a refusal has ended the arrivals of all."""
    _arriving: set[asyncio.Task[None]] = msgspec.field(default_factory=set)

    async def until_stopped(self, work: Coroutine[object, None, None]) -> None:
        """Do what leads to arrivals, to its end or until a refusal ends the arrivals of all."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(work)
            self._arriving.add(task)
            task.add_done_callback(self._arriving.discard)

    def stop(self) -> None:
        """End the arrivals of all loads; those that were sent are waited for."""
        self.is_stopped = True
        for each in self._arriving:
            each.cancel()


class LoadRun:
    """One load under way."""

    def __init__(
        self,
        load: Load,
        sender: LoadSender,
        context: RunContext,
        way: DirectWay | None = None,
    ) -> None:
        """Nothing is sent yet; must be called where an event loop runs."""
        stream = DrawStream.of(context.seed, load.name)
        self.load, self.tally = load, Tally(load.name, load.phase)
        self.over = asyncio.Event()
        """Set once all arrivals are answered, and what ends has ended."""
        self._sender, self._context = sender, context
        self._plan = ArrivalPlan(load, context.run, stream)
        self._act = act_of(ActContext(load, context.run, sender, stream), way)
        self._open = 0

    async def check(self) -> None:
        """Raise ConfigError, with the place, for what would be refused; nothing is changed."""
        await check(self.load, self._sender, self._act, self._plan.data(0))
        if isinstance(self._act, BulkCreateAct):
            await self._act.open(self._plan)

    async def go(self, before: "LoadRun | None", progress: Progress) -> None:
        """Send every arrival when it is due, and wait until all are over."""
        try:
            await self._context.until_stopped(self._wait(before, progress))
            if not self._context.is_stopped:
                await self._run(progress)
        finally:
            self.over.set()

    async def _wait(self, before: "LoadRun | None", progress: Progress) -> None:
        """Wait for what the load waits for; TimedOutError names what is late."""
        if before is not None:
            await before.over.wait()
        shape = self.load.spec.wait_for
        if shape is None:
            return
        seconds = USUAL if shape.timeout is None else period(shape.timeout, "timeout")
        with progress.step(f"Waiting for {shape.what}"):
            await wait_for(self._sender.client.pool, self._sender.finder, wanted(shape), seconds)

    async def _run(self, progress: Progress) -> None:
        total = self._plan.total
        title = f"Load {self.load.name}"
        with progress.step(title, total=total, unit="arrivals") as step:
            async with asyncio.TaskGroup() as watches:
                labels = f"{LOAD_LABEL}={self.load.name},{RUN_LABEL}={self._context.run}"
                endings = Endings(self.load.spec, self._sender, labels, watches)
                after = Afterlife(self.load.spec, self._sender, endings, self._context.speed)
                async with asyncio.TaskGroup() as flights:
                    await self._context.until_stopped(self._send_all(flights, after, step))
                endings.close()

    async def _send_all(self, flights: asyncio.TaskGroup, after: Afterlife, step: Step) -> None:
        turns = Turns(self.load.spec, self._context.speed, self._sender.clock)
        one = partial(self._one, turns, after, step)
        async for index, due, work in turns.dues(self._plan.times(), self._prepared):
            asked = self._sender.clock()
            await self._sender.slots.acquire()
            self.tally.waited_for_server += self._sender.clock() - asked
            flights.create_task(one(index, due, work))

    def _prepared(self, index: int) -> Work:
        return self._act.prepared(self._plan.data(index))

    async def _one(
        self, turns: Turns, after: Afterlife, step: Step, index: int, due: int, work: Work
    ) -> None:
        self._open += 1
        flight = Flight(self._sender)
        refusal = await self._tried(flight, work)
        arrival = self._arrival(index, due, flight, refusal)
        self.tally.note(arrival)
        self.tally.waited_for_qps = self._sender.held_up
        self._context.sink.arrived(arrival)
        step.advance()
        step.say(self._state())
        if refusal is not None and self.load.spec.on_refusal == "stop":
            self._context.stop()
        elif refusal is not None and turns.is_closed:
            await asyncio.sleep(_REFUSED_PAUSE)
        if refusal is None or flight.made:
            await after.of(flight.made)
        self._open -= 1
        turns.give_back()

    async def _tried(self, flight: Flight, work: Work) -> ApiError | NotFoundError | None:
        """Do the work of an arrival, which has a slot; again after a refusal, if that was asked for."""
        tries = 0
        while True:
            refusal = await self._try(flight, work)
            tries += 1
            may_retry = self.load.spec.on_refusal == "retry" and tries < _TRIES
            if refusal is None or not may_retry or self._context.is_stopped:
                return refusal
            self.tally.retries += 1
            pause = backoff(tries, random.Random(), first=_FIRST_PAUSE, most=_LONGEST_PAUSE)
            await asyncio.sleep(pause)
            await self._sender.slots.acquire()

    async def _try(self, flight: Flight, work: Work) -> ApiError | NotFoundError | None:
        try:
            await work(flight)
        except (ApiError, NotFoundError) as e:
            return e
        finally:
            self._sender.slots.release()
        return None

    def _arrival(
        self, index: int, due: int, flight: Flight, refusal: ApiError | NotFoundError | None
    ) -> Arrival:
        now = self._sender.clock()
        return Arrival(
            load=self.load.name,
            phase=self.load.phase,
            index=index,
            act=self.load.spec.act,
            due=due,
            sent=now if flight.sent is None else flight.sent,
            accepted=now if refusal is None else None,
            made=tuple(flight.made),
            past_api=flight.past_api,
            refusal=None if refusal is None else getattr(refusal, "reason", "") or refusal.id,
            message="" if refusal is None else str(refusal),
        )

    def verdict(self) -> LoadVerdict:
        """Return the outcome."""
        problem = ""
        if isinstance(self._act, BulkCreateAct) and self._act.why:
            through_api = self.tally.objects - self.tally.past_api
            problem = f"{through_api:,} objects went through the API server: {self._act.why}"
        return self.tally.verdict(problem)

    def _state(self) -> str:
        """Say how many arrivals are open, late and refused."""
        refused = self.tally.refused.total()
        parts = [f"{self._open:,} open"]
        parts += [f"{self.tally.late:,} late"] if self.tally.late else []
        parts += [f"{refused:,} refused"] if refused else []
        return ", ".join(parts)

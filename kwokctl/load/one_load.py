"""Runs one load: waits until an arrival is due, sends it, and counts what becomes of it."""

import asyncio
import time

import msgspec

from kwokctl.draws.distributions import Choice
from kwokctl.draws.streams import Stream
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.json_value import Json
from kwokctl.load.arrival import Arrival, ArrivalSink, Made
from kwokctl.load.arrivals import due_times
from kwokctl.load.bundles import LOAD_LABEL, RUN_LABEL, BundleTemplate
from kwokctl.load.documents import Load
from kwokctl.load.params import Params
from kwokctl.load.sender import Sender
from kwokctl.load.verdict import Tally
from kwokctl.progress import Progress, Step


class Arriving(msgspec.Struct, kw_only=True):
    """What the loads of a run have in common."""

    run: str
    seed: int
    speed: float
    sink: ArrivalSink
    stop: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    """Set once a refusal ends the arrivals of all."""


class Bundles:
    """The objects of each arrival of a load."""

    def __init__(self, load: Load, run: str, stream: Stream) -> None:
        self._load, self._run = load, run
        self._params = Params(load.spec.params, stream)
        self._labels = {LOAD_LABEL: load.name, RUN_LABEL: run}
        self._stream = stream.below("template")
        weights = tuple(each.weight for each in load.spec.create or ())
        self._choice = Choice(values=tuple(range(len(weights))), weights=weights)

    def at(self, index: int) -> list[dict[str, Json]]:
        """Return the objects of an arrival; ConfigError for a template that does not give any."""
        data = {
            "index": index,
            "name": f"{self._load.name}-{index}",
            "load": self._load.name,
            "run": self._run,
            "params": self._params.at(index),
        }
        return self._template(index).objects(data, self._labels)

    def _template(self, index: int) -> BundleTemplate:
        if len(self._load.bundles) == 1:
            return self._load.bundles[0]
        return self._load.bundles[self._choice.value(self._stream.at(index))]


class LoadRun:
    """One load under way."""

    def __init__(self, load: Load, sender: Sender, arriving: Arriving) -> None:
        self.tally = Tally(load.name, load.phase)
        self._load, self._sender, self._arriving = load, sender, arriving
        stream = Stream.of(arriving.seed, load.name)
        self._bundles = Bundles(load, arriving.run, stream)
        spec = load.spec
        rhythm = spec.arrivals.rhythm
        self._times = due_times(
            rhythm, stream.below("arrivals"), number=spec.count, lasts=spec.lasts
        )

    async def go(self, progress: Progress) -> None:
        """Send every arrival, and wait for the answers."""
        title = f"Load {self._load.name}"
        with progress.step(title, total=self._load.spec.count, unit="arrivals") as step:
            async with asyncio.TaskGroup() as flights:
                await self._send_all(flights, step)

    async def _send_all(self, flights: asyncio.TaskGroup, step: Step) -> None:
        start = time.monotonic_ns()
        for index, seconds in enumerate(self._times):
            due = start + round(seconds / self._arriving.speed * 1e9)
            await _until(due)
            if self._arriving.stop.is_set():
                return
            bodies = self._bundles.at(index)
            asked = time.monotonic_ns()
            await self._sender.slots.acquire()
            self.tally.waited_for_server += time.monotonic_ns() - asked
            flights.create_task(self._one(index, due, bodies, step))

    async def _one(self, index: int, due: int, bodies: list[dict[str, Json]], step: Step) -> None:
        made: list[Made] = []
        sent = time.monotonic_ns()
        accepted: int | None = None
        refusal, message = None, ""
        try:
            await self._sender.create_all(bodies, made)
            accepted = time.monotonic_ns()
        except (ApiError, NotFoundError) as e:
            refusal, message = getattr(e, "reason", "") or e.id, str(e)
        finally:
            self._sender.slots.release()
        arrival = Arrival(
            load=self._load.name,
            phase=self._load.phase,
            index=index,
            act="create",
            due=due,
            sent=sent,
            accepted=accepted,
            made=tuple(made),
            refusal=refusal,
            message=message,
        )
        self.tally.note(arrival)
        self._arriving.sink.arrived(arrival)
        step.advance()
        if refusal is not None and self._load.spec.on_refusal == "stop":
            self._arriving.stop.set()


async def _until(moment: int) -> None:
    """Sleep until a time of `time.monotonic_ns`."""
    left = moment - time.monotonic_ns()
    if left > 0:
        await asyncio.sleep(left / 1e9)

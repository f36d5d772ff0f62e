"""Plays the stages of one kind: looks at what is seen, waits, writes, and looks again.

Level-based: whatever happened in between, an object is judged as it is now. There is no task for an
object; players are few, and one of them at a time is at work on an object.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from kwokctl.controller.engine.context import World
from kwokctl.controller.engine.decoded import UNKNOWN, SeenAny, version_of
from kwokctl.controller.engine.hooks import Care
from kwokctl.controller.engine.object_state import Entry
from kwokctl.controller.error_log import Complaints
from kwokctl.controller.scheduling.worker_queue import WorkQueue
from kwokctl.controller.stages.choice import basis, pick, seconds
from kwokctl.controller.stages.model import Stage
from kwokctl.controller.write_errors import SOONEST, Trouble, trouble, wait_after
from kwokctl.dataplane.port import Target
from kwokctl.errors import ApiError
from kwokctl.kube.resource import Resource

Json = Any


class Engine:
    """All objects of one kind, and what is to happen to each of them."""

    def __init__(
        self,
        resource: Resource,
        stages: Sequence[Stage],
        care: Care[Any],
        world: World,
        *,
        players: int,
    ) -> None:
        """Play `stages` on the objects of `resource`, `players` objects at a time."""
        self.resource = resource
        self._stages = tuple(stages)
        self._care = care
        self._world = world
        self._entries: dict[str, Entry] = {}
        self._queue: WorkQueue[Entry] = WorkQueue(self._work, players)
        self._players = players
        self._complaints = Complaints(resource.kind)
        world.metrics.ask(
            lambda: {
                ("kwok_controller_objects", (("kind", resource.kind),)): len(self._entries),
                ("kwok_controller_queue_length", (("kind", resource.kind),)): len(self._queue),
            }
        )

    def __len__(self) -> int:
        """Count the objects."""
        return len(self._entries)

    def get(self, key: str) -> Entry | None:
        """Return an object by its key, "namespace/name" or "name"; None if there is none."""
        return self._entries.get(key)

    async def run(self) -> None:
        """Play until cancelled."""
        await self._queue.run()

    def note(self, seen: SeenAny, raw: bytes, *, listed: bool = False) -> None:
        """Take note of an object that exists; what is older than what is known is left out.

        What was `listed` counts though it be older: a cluster may have been set back to a snapshot.
        """
        metadata = seen.metadata
        name, namespace = metadata.name, metadata.namespace
        key = f"{namespace}/{name}" if namespace else name
        version = version_of(metadata)
        entry = self._entries.get(key)
        if entry is not None and entry.uid != metadata.uid:
            self._remove(entry)
            entry = None
        if entry is None:
            entry = self._entries[key] = Entry(self, key, metadata)
        elif version == entry.version or (0 <= version < entry.version and not listed):
            return
        entry.version = version
        entry.parked = not self._care.seen(entry, seen)
        if entry.parked:
            self._stop(entry)
            return
        entry.raw, entry.value = raw, None
        if entry.busy:
            entry.news = True
        elif self._care.is_ready(entry):
            self._look(entry)

    def drop(self, seen: SeenAny) -> None:
        """Take note that an object exists no longer."""
        metadata = seen.metadata
        namespace = metadata.namespace
        key = f"{namespace}/{metadata.name}" if namespace else metadata.name
        entry = self._entries.get(key)
        if entry is not None and (not metadata.uid or entry.uid == metadata.uid):
            self._remove(entry)

    def wake(self, key: str) -> bool:
        """Look at an object that may be written to from now on; False if it has to be read first."""
        entry = self._entries.get(key)
        if entry is None:
            return True
        if entry.parked:
            entry.version = UNKNOWN
            return False
        if entry.busy:
            entry.news = True
        else:
            self._look(entry)
        return True

    def park(self, key: str) -> None:
        """Leave an object alone until it is woken: somebody else writes to it."""
        entry = self._entries.get(key)
        if entry is not None:
            entry.parked = True
            self._stop(entry)

    def ready(self, entry: Entry) -> None:
        """Play an object's stage as soon as a player is free."""
        if not entry.queued:
            entry.queued = True
            self._queue.put(entry)

    def _remove(self, entry: Entry) -> None:
        del self._entries[entry.key]
        self._stop(entry)
        self._care.gone(entry)

    def _stop(self, entry: Entry) -> None:
        if entry.stage is not None:
            self._world.agenda.forget(entry)
        entry.rest()

    def _look(self, entry: Entry) -> None:
        """Choose what is to happen to an object as it is now.

        As long as it gives the same grounds for the choice, what waits for it goes on waiting.
        """
        if not entry.is_known:
            return
        world = self._world
        value = entry.opened()
        found = basis(self._stages, value)
        if not found.matches:
            self._stop(entry)
            return
        if entry.stage is not None and entry.basis == found:
            entry.fold()
            self._hurry(entry)
            return
        stage = pick(found, world.random)
        is_same = (
            stage is entry.stage and entry.basis is not None and entry.basis.times == found.times
        )
        entry.basis = found
        if stage is None or is_same:
            entry.fold()
            return
        entry.stage, entry.step, entry.tries = stage, 0, 0
        delay = seconds(stage.delay, value, world.wall(), world.random)
        if delay > 0 or len(self._queue) >= self._players:
            entry.fold()
        self._soon(entry, delay)

    def _soon(self, entry: Entry, delay: float) -> None:
        entry.due = self._world.agenda.now() + delay
        if delay > 0:
            self._world.agenda.put(entry, delay)
        else:
            self._world.agenda.forget(entry)
            self.ready(entry)

    def _hurry(self, entry: Entry) -> None:
        """Do not let an object that has changed wait long for the next try."""
        if entry.tries > 1:
            entry.tries = 1
            self._soon(entry, SOONEST)

    async def _work(self, entry: Entry) -> None:
        entry.queued = False
        stage, version = entry.stage, entry.version
        lag = self._world.agenda.now() - entry.due
        if stage is None or not entry.is_known or entry.busy or lag < 0:
            return
        if not self._care.is_ready(entry):
            entry.fold()
            entry.stage = entry.basis = None
            return
        self._world.metrics.count("kwok_controller_play_lag_seconds_sum", lag)
        entry.busy, entry.news = True, False
        try:
            await self._play(entry, stage)
        except Exception as e:  # an object that cannot be dealt with must not stop all others
            outcome = trouble(e) if isinstance(e, ApiError) else Trouble.LASTING
            await self._recover(entry, stage, outcome, e)
        else:
            self._count(stage, "ok")
            entry.busy = False
            self._after(entry, stage, version)

    async def _play(self, entry: Entry, stage: Stage) -> None:
        """Do the steps that are not done yet, each on what the last has made of the object."""
        functions = self._care.functions(entry)
        target = Target(self.resource, entry.namespace or None, entry.name)
        value = entry.opened()
        for step in stage.steps[entry.step :]:
            answer = await self._world.player.play(step, target, value, functions)
            if answer is not None:
                value = answer
                self._take(entry, value)
            entry.step += 1

    @staticmethod
    def _take(entry: Entry, value: Json) -> bool:
        """Go on with an object as an answer shows it; False if something newer was seen."""
        version = int(value["metadata"].get("resourceVersion", UNKNOWN))
        if version <= entry.version:
            return False
        entry.version, entry.raw, entry.value = version, None, value
        return True

    def _after(self, entry: Entry, stage: Stage, version: int) -> None:
        """Look at the object again if it is another one now, or if the stage says so."""
        if not self._is_ours(entry):
            return
        entry.stage = entry.basis = None
        entry.step = entry.tries = 0
        is_repeated = stage.immediate_next and stage.delay is not None
        if not stage.deletes and (entry.news or entry.version != version or is_repeated):
            self._look(entry)
        else:
            entry.rest()

    async def _recover(
        self, entry: Entry, stage: Stage, outcome: Trouble, error: Exception
    ) -> None:
        """Do what an error asks for: wait, look at the object again, or let it rest."""
        self._count(stage, outcome.value)
        if outcome in {Trouble.CONFLICT, Trouble.GONE} and self._is_ours(entry):
            outcome = await self._read_again(entry, outcome)
        entry.busy = False
        if not self._is_ours(entry):
            return
        entry.fold()
        if outcome is Trouble.GONE and not entry.news:
            entry.rest()
            return
        if entry.news:
            self._look(entry)
        if entry.stage is stage and not entry.queued:
            if outcome is Trouble.LASTING:
                self._complaints.tell(stage.name, entry.key, error)
                self._pick_again(entry)
            entry.tries += 1
            self._soon(entry, wait_after(outcome, entry.tries, self._world.random))

    def _pick_again(self, entry: Entry) -> None:
        """Give the other stages that match a chance, since this one does not come to an end."""
        if entry.basis is not None and len(entry.basis.matches) > 1:
            stage = pick(entry.basis, self._world.random)
            if stage is not entry.stage:
                entry.stage, entry.step = stage, 0

    async def _read_again(self, entry: Entry, outcome: Trouble) -> Trouble:
        """Read an object that is not as it was thought to be; tell what that means for the error.

        If it is still there, it was something else that could not be found.
        """
        target = Target(self.resource, entry.namespace or None, entry.name)
        try:
            raw = await self._world.reader.get(target)
        except ApiError as e:
            return trouble(e)
        value = orjson.loads(raw)
        if value["metadata"].get("uid") != entry.uid:
            return Trouble.GONE
        if self._is_ours(entry) and not entry.parked:
            entry.news = self._take(entry, value) or entry.news
        return Trouble.LASTING if outcome is Trouble.GONE else outcome

    def _is_ours(self, entry: Entry) -> bool:
        return not entry.parked and self._entries.get(entry.key) is entry

    def _count(self, stage: Stage, outcome: str) -> None:
        self._world.metrics.count("kwok_controller_plays_total", stage=stage.name, outcome=outcome)

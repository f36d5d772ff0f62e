"""Plays the Stages of one kind of object.

It is level-based: Stages are matched with the present state of an object, whatever happened in between.
Objects have no tasks of their own; a small number of players work on them, at most one on each object.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from kwokctl.controller.context import ControllerContext
from kwokctl.controller.engine.chooser import StageChooser
from kwokctl.controller.engine.conduct import Conduct
from kwokctl.controller.engine.decoded import UNKNOWN, Decoded, key_of, version_of
from kwokctl.controller.engine.hooks import Hooks
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.engine.rests import LaterLook, StageRests
from kwokctl.controller.engine.schedule import ObjectSchedule
from kwokctl.controller.engine.stage_player import StagePlayer
from kwokctl.controller.engine.turns import ConductTurns
from kwokctl.controller.plans.plans import Plans
from kwokctl.controller.scheduling.worker_queue import work_queue
from kwokctl.controller.stages.choice import pick
from kwokctl.controller.stages.model import Stage
from kwokctl.controller.write_errors import SOONEST, ErrorKind, ErrorLog, error_kind, wait_after
from kwokctl.dataplane.port import Figures, ObjectKey
from kwokctl.errors import RequestError
from kwokctl.expr.budget import BudgetError
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource


class StageEngine:
    """The objects of one kind, each with the Stage that it waits for."""

    def __init__(  # noqa: PLR0913 - wired once; only pods have plans and conducts
        self,
        resource: Resource,
        stages: Sequence[Stage],
        hooks: Hooks[Any],
        context: ControllerContext,
        *,
        players: int,
        plans: Plans | None = None,
        conducts: Sequence[Conduct] = (),
    ) -> None:
        """Play `stages` on the objects of `resource`, `players` objects at a time.

        Objects with a known shape are played by `plans`. The first of the `conducts` that concerns an
        object takes the place of Stages.
        """
        self.resource = resource
        self.stages = tuple(stages)
        self._hooks = hooks
        self._context = context
        self._player = StagePlayer(resource, context, plans)
        self._states: dict[str, ObjectState] = {}
        self._queue = work_queue(self._work, players)
        self._players = players
        self._errors = ErrorLog(resource.kind)
        self._schedule = ObjectSchedule(context.delay_queue, self.ready)
        self._turns = ConductTurns(conducts, context, self._schedule, self._errors)
        self._rests = StageRests(context.random)
        self._chooser = StageChooser(resource, context, self._errors, plans)

    def __len__(self) -> int:
        """Return the number of objects."""
        return len(self._states)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys of the present objects."""
        return iter(tuple(self._states))

    def figures(self) -> Figures:
        """Return the numbers of objects, and of those that are due, as metrics."""
        kind = (("kind", self.resource.kind),)
        return {
            ("kwok_controller_objects", kind): len(self._states),
            ("kwok_controller_queue_length", kind): len(self._queue),
        }

    def get(self, key: str) -> ObjectState | None:
        """Return the object with a key; None if it does not exist."""
        return self._states.get(key)

    async def run(self) -> None:
        """Play until cancelled."""
        await self._queue.run()

    def note(self, seen: Decoded, raw: bytes, *, listed: bool = False) -> None:
        """Note an object that exists; a version older than the known one is ignored.

        A `listed` object counts even if it is older: a snapshot may have been restored.
        """
        metadata = seen.metadata
        key = key_of(metadata)
        version = version_of(metadata)
        state = self._states.get(key)
        if state is not None and state.uid != metadata.uid:
            self._remove(state)
            state = None
        if state is None:
            state = self._states[key] = ObjectState(self, key, metadata)
        elif version == state.version or (0 <= version < state.version and not listed):
            return
        state.version = version
        state.parked = not self._hooks.seen(state, seen)
        if state.parked:
            self._schedule.pause(state)
            return
        state.show(raw)
        if state.busy:
            state.news = True
        elif self._hooks.is_ready(state):
            self._resume(state)

    def drop(self, seen: Decoded) -> None:
        """Note that an object does not exist any more."""
        metadata = seen.metadata
        state = self._states.get(key_of(metadata))
        if state is not None and (not metadata.uid or state.uid == metadata.uid):
            self._remove(state)

    def wake(self, key: str, value: Json = None) -> bool:
        """Match an object that this controller may write to from now on; False if it has to be read first.

        `value` is the object, in case the engine does not keep it.
        """
        if (state := self._states.get(key)) is None:
            return True
        if state.parked:
            state.version = UNKNOWN
            return False
        if value is not None and not state.is_known:
            state.value = value
        if state.busy:
            state.news = True
        else:
            self._resume(state)
        return True

    def park(self, key: str) -> None:
        """Do not play an object until `wake` is called: this controller may not write to it.

        A Stage that becomes due meanwhile is played then.
        """
        if (state := self._states.get(key)) is not None:
            state.parked = True
            self._schedule.pause(state)

    def ready(self, state: ObjectState) -> None:
        """Play an object's Stage as soon as a player is free."""
        if not state.queued:
            state.queued = True
            self._queue.put(state)

    def _remove(self, state: ObjectState) -> None:
        self._turns.forget(state)
        del self._states[state.key]
        self._schedule.stop(state)
        self._hooks.gone(state)

    def _resume(self, state: ObjectState) -> None:
        """Match an object; if it was parked, a Stage that it waited for keeps its time."""
        self._look(state)
        queue = self._context.delay_queue
        if state.stage is not None and not state.queued and state not in queue:
            self._schedule.soon(state, max(0.0, state.due - queue.now()))

    def _look(self, state: ObjectState) -> None:
        """Decide what happens next to an object in its present state."""
        if not state.is_known:
            return
        if not self._turns.look(state):
            self._look_for_stage(state)

    def _look_for_stage(self, state: ObjectState) -> None:
        """Choose the next Stage.

        A Stage that an object waits for stays chosen while the values on which the choice depends are unchanged.
        """
        found = self._chooser.grounds(self.stages, state)
        is_put_off = self._chooser.has_put_off()
        if is_put_off:
            later = LaterLook(state.key, self.wake)
            self._context.delay_queue.put(later, self._rests.put_off())
        if not found.matches:
            if is_put_off:
                state.fold()
            else:
                self._schedule.stop(state)
            return
        if state.stage is not None and state.basis == found:
            self._hurry(state)
            return
        stage = pick(found, self._context.random)
        is_same = state.waits_for(stage, found)
        state.basis, state.setbacks = found, None
        if stage is None or is_same:
            self._hurry(state)
            return
        self._begin(state, stage)

    def _begin(self, state: ObjectState, stage: Stage) -> None:
        delay = self._chooser.delay(self.stages, state, stage)
        state.stage, state.step, state.tries = stage, 0, 0
        if delay > 0 or len(self._queue) >= self._players:
            state.fold()
        self._schedule.soon(state, delay)

    def _hurry(self, state: ObjectState) -> None:
        """Continue to wait; after an error an object that has changed is tried again soon."""
        state.fold()
        if state.tries > 1:
            state.tries = 1
            self._schedule.soon(state, SOONEST)

    async def _work(self, state: ObjectState) -> None:
        state.queued = False
        stage = state.stage
        lag = self._context.delay_queue.now() - state.due
        if stage is None or not state.is_known or state.busy or lag < 0:
            return
        if not self._hooks.is_ready(state):
            state.fold()
            return
        conduct = self._turns.by_turn.get(stage)
        if conduct is None and stage not in self.stages:
            self._look(state)
            return
        if self._rests.holds(stage, self._context.delay_queue.now()):
            state.fold()
            self._schedule.soon(state, self._rests.put_off())
            return
        self._context.metrics.count("kwok_controller_play_lag_seconds_sum", lag)
        state.busy, state.news = True, False
        await self._play(state, stage, conduct)

    async def _play(self, state: ObjectState, stage: Stage, conduct: Conduct | None) -> None:
        version, wait = state.version, None
        try:
            if conduct is None:
                await self._player.play(state, stage, self._hooks.functions(state))
            else:
                wait = await conduct.play(state)
        except Exception as e:  # an error with one object must not stop all others
            outcome = error_kind(e) if isinstance(e, RequestError) else ErrorKind.LASTING
            if isinstance(e, BudgetError):
                self._rests.note(stage, self._context.delay_queue.now())
            await self._recover(state, stage, outcome, e)
            return
        self._count(stage, "ok")
        state.busy = False
        if conduct is None:
            self._after(state, stage, version)
        elif self._is_ours(state) and not self._turns.end(state, conduct, wait):
            self._look(state)

    def _after(self, state: ObjectState, stage: Stage, version: int) -> None:
        """Match the object again if it has changed, or if the Stage asks for it."""
        if not self._is_ours(state):
            return
        state.due = self._context.delay_queue.now()
        is_repeated = stage.immediate_next and stage.delay is not None
        if not stage.deletes and (state.news or state.version != version or is_repeated):
            state.stage = state.basis = None
            self._look(state)
        elif state.setbacks is None or stage.deletes:
            state.rest()
        else:
            state.setbacks.note_idle(stage)
            self._try_next(state)

    async def _recover(
        self, state: ObjectState, stage: Stage, outcome: ErrorKind, error: Exception
    ) -> None:
        """Handle an error: wait, match the object again, or drop it until it changes."""
        self._count(stage, outcome.value)
        if outcome in {ErrorKind.CONFLICT, ErrorKind.GONE} and self._is_ours(state):
            outcome = await self._read_again(state, outcome)
        state.busy = False
        if not self._is_ours(state):
            return
        state.fold()
        if outcome.is_lasting:
            self._errors.log_once(stage, state.step, state.key, error)
        if outcome is ErrorKind.GONE and not state.news:
            state.rest()
            return
        if state.news:
            self._look(state)
        if state.stage is stage and not state.queued:
            if outcome.is_lasting:
                self._chooser.note_failed(state, stage, outcome)
                self._try_next(state)
            else:
                self._wait(state, outcome)

    def _try_next(self, state: ObjectState) -> None:
        """Begin a Stage that has not been tried; if all have been, wait for one that has failed."""
        if state.stage in self._turns.by_turn:
            self._wait(state, state.setbacks.outcome if state.setbacks else ErrorKind.LASTING)
            return
        untried = self._chooser.untried(self.stages, state)
        if untried is not None:
            self._begin(state, untried)
        else:
            self._wait(state, self._chooser.return_to_failed(state))

    def _wait(self, state: ObjectState, outcome: ErrorKind) -> None:
        state.tries += 1
        self._schedule.soon(state, wait_after(outcome, state.tries, self._context.random))

    async def _read_again(self, state: ObjectState, outcome: ErrorKind) -> ErrorKind:
        """Read an object again that is not as expected; return the kind of the error in view of that."""
        target = ObjectKey(self.resource, state.namespace or None, state.name)
        try:
            value = orjson.loads(await self._context.reader.get(target))
        except RequestError as e:
            return error_kind(e)
        if value["metadata"].get("uid") != state.uid:
            return ErrorKind.GONE
        if self._is_ours(state) and not state.parked:
            state.news = state.take(value) or state.news
        # If it still exists, the error was about another object that does not.
        return ErrorKind.LASTING if outcome is ErrorKind.GONE else outcome

    def _is_ours(self, state: ObjectState) -> bool:
        return not state.parked and self._states.get(state.key) is state

    def _count(self, stage: Stage, outcome: str) -> None:
        name = "kwok_controller_plays_total"
        self._context.metrics.count(name, stage=stage.name, outcome=outcome)

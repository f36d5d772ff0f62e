"""Plays the Stages of one kind of object.

It is level-based: Stages are matched with the present state of an object, whatever happened in between.
Objects have no tasks of their own; a small number of players work on them, at most one on each object.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.chooser import StageChooser
from kwokctl.controller.engine.conduct_turn import ConductTurn
from kwokctl.controller.engine.decoded import UNKNOWN, Decoded, key_of, version_of
from kwokctl.controller.engine.hooks import Hooks
from kwokctl.controller.engine.object_state import ObjectState, answered
from kwokctl.controller.engine.rests import LaterLook, StageRests
from kwokctl.controller.engine.setbacks import Setbacks
from kwokctl.controller.engine.stage_circles import SHORTEST, CircleGuard
from kwokctl.controller.engine.stage_player import StagePlayer
from kwokctl.controller.engine.turns import NEVER, Conduct, ConductTurns
from kwokctl.controller.plans import Plans
from kwokctl.controller.scheduling.worker_queue import work_queue
from kwokctl.controller.stages.compiled_stage import MOST_WITHOUT_DELAY, Stage
from kwokctl.controller.stages.stage_choice import pick
from kwokctl.controller.write_errors import SOONEST, ErrorKind, ErrorLog, error_kind, wait_after
from kwokctl.dataplane.port import Figures, ObjectKey
from kwokctl.errors import RequestError
from kwokctl.expr.budget import BudgetError
from kwokctl.kube.resource import Resource
from kwokctl.kube.stored_json import ObjectInJson

_QUIET = 1.0
"""Seconds without a play after which an object counts as settled."""
_MOST_TURNS_WITHOUT_DELAY = 8
"""The most turns without delay in a row: with more, another controller probably undoes the changes."""
_CALM = 1.0
"""Seconds between further turns."""


class StageEngine:
    """The objects of one kind, each with the Stage, or the turn of a conduct, that it waits for.

    The engine alone changes their states.
    """

    def __init__(  # noqa: PLR0913 - wired once; only pods have plans and conducts
        self,
        resource: Resource,
        stages: Sequence[Stage],
        hooks: Hooks[Any],
        context: ControllerContext,
        *,
        players: int,
        plans: Plans | None = None,
        conducts: Sequence[Conduct[Any]] = (),
    ) -> None:
        """Play `stages` on the objects of `resource`, `players` objects at a time.

        Objects with a known shape are played by `plans`. The first of the `conducts` that concerns an
        object takes the place of Stages.
        """
        self.resource = resource
        self.stages = tuple(stages)
        self._hooks = hooks
        self._context = context
        self._delay_queue = context.delay_queue
        self._plans = plans
        self._player = StagePlayer(resource, context, plans)
        self._states: dict[str, ObjectState] = {}
        self._queue = work_queue(self._work, players)
        self._players = players
        self._errors = ErrorLog(resource.kind)
        self._turns = ConductTurns(conducts, self._errors)
        self._rests = StageRests(context.random)
        self._chooser = StageChooser(context, self._errors, plans)
        self._guard = CircleGuard(resource, context)

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
            state = self._states[key] = ObjectState(
                self, key, metadata, self._hooks.came(key, seen)
            )
        elif version == state.version or (0 <= version < state.version and not listed):
            return
        state.version = version
        state.parked = not self._hooks.seen(state, seen)
        if state.parked:
            self._pause(state)
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

    def wake(self, key: str, raw: bytes | None = None) -> bool:
        """Match an object that this controller may write to from now on; False if it has to be read first.

        `raw` is the object as JSON, in case the engine does not keep it.
        """
        if (state := self._states.get(key)) is None:
            return True
        if state.parked:
            state.version = UNKNOWN
            return False
        if raw is not None and not state.is_known:
            state.show(raw)
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
            self._pause(state)

    def ready(self, state: ObjectState) -> None:
        """Play an object's Stage as soon as a player is free."""
        if not state.queued:
            state.queued = True
            self._queue.put(state)

    def _remove(self, state: ObjectState) -> None:
        self._turns.forget(state)
        self._guard.forget(state)
        del self._states[state.key]
        self._stop(state)
        self._hooks.gone(state)

    def _soon(self, state: ObjectState, delay: float) -> None:
        """Play what an object waits for after a delay."""
        state.due = self._delay_queue.now() + delay
        if delay > 0:
            self._delay_queue.put(state, delay)
        else:
            self._delay_queue.forget(state)
            self.ready(state)

    def _stop(self, state: ObjectState) -> None:
        """Play nothing on an object until it is seen again."""
        if state.awaited is not None:
            self._delay_queue.forget(state)
            state.due = self._delay_queue.now()
        state.rest()

    def _pause(self, state: ObjectState) -> None:
        """Keep what an object waits for, and its time, but not the object."""
        if state.busy:
            self._stop(state)
            return
        self._delay_queue.forget(state)
        state.release()

    def _resume(self, state: ObjectState) -> None:
        """Match an object; if it was parked, a Stage that it waited for keeps its time."""
        self._look(state)
        queue = self._delay_queue
        if state.awaited is not None and not state.queued and state not in queue:
            self._soon(state, max(0.0, state.due - queue.now()))

    def _look(self, state: ObjectState) -> None:
        """Decide what happens next to an object in its present state."""
        if not state.is_known:
            return
        state.liken(self._plans)
        turn = self._turns.of(state)
        if isinstance(state.awaited, ConductTurn) and state.awaited is not turn:
            self._leave(state, state.awaited)
        if turn is None:
            self._look_for_stage(state)
        else:
            self._await_turn(state, turn, self._turns.wait(state, turn))

    def _leave(self, state: ObjectState, turn: ConductTurn) -> None:
        """Cancel the turn that an object waits for: the conduct does not apply to it any more."""
        self._turns.by_turn[turn].leave(state)
        self._delay_queue.forget(state)
        state.awaited = None

    def _await_turn(self, state: ObjectState, turn: ConductTurn, wait: float) -> None:
        """Schedule a turn, later if too many without delay have followed each other."""
        if wait == NEVER:
            self._stop(state)
            return
        delay = wait
        if not wait and self._count_at_once(state) > _MOST_TURNS_WITHOUT_DELAY:
            self._turns.by_turn[turn].put_off(state)
            delay = _CALM
        if state.awaited is not turn:
            state.awaited, state.step, state.tries = turn, 0, 0
            state.basis = state.setbacks = None
        if delay > 0:
            state.fold()
        self._soon(state, delay)

    def _look_for_stage(self, state: ObjectState) -> None:
        """Choose the next Stage.

        A Stage that an object waits for stays chosen while the values on which the choice depends are unchanged.
        """
        found = self._chooser.grounds(self.stages, state)
        is_put_off = self._chooser.has_put_off()
        if is_put_off:
            later = LaterLook(state.key, self.wake)
            self._delay_queue.put(later, self._rests.put_off())
        if not found.matches:
            if is_put_off:
                state.fold()
            else:
                self._stop(state)
            return
        if state.awaited is not None and state.basis == found:
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
        if delay >= SHORTEST or state.tries:  # the time after an error counts as well
            state.plays_at_once = 0
        if delay < SHORTEST:
            too_many = self._count_at_once(state) - MOST_WITHOUT_DELAY
            if too_many > 0:
                delay = max(delay, self._guard.wait_before(state, stage, too_many))
        state.awaited, state.step, state.tries = stage, 0, 0
        if delay > 0 or len(self._queue) >= self._players:
            state.fold()
        self._soon(state, delay)

    def _count_at_once(self, state: ObjectState) -> int:
        """Count one more play without delay, and return how many have followed each other."""
        if state.plays_at_once and self._delay_queue.now() - state.due > _QUIET:
            state.plays_at_once = 0
        state.plays_at_once += 1
        return state.plays_at_once

    def _hurry(self, state: ObjectState) -> None:
        """Continue to wait; after an error an object that has changed is tried again soon."""
        state.fold()
        if state.tries > 1:
            state.tries = 1
            self._soon(state, SOONEST)

    async def _work(self, state: ObjectState) -> None:
        state.queued = False
        awaited = state.awaited
        lag = self._delay_queue.now() - state.due
        if awaited is None or not state.is_known or state.busy or lag < 0:
            return
        if not self._hooks.is_ready(state):
            state.fold()
            return
        if isinstance(awaited, Stage) and awaited not in self.stages:
            self._look(state)
            return
        if self._rests.holds(awaited, self._delay_queue.now()):
            state.fold()
            self._soon(state, self._rests.put_off())
            return
        self._context.metrics.count("kwok_controller_play_lag_seconds_sum", lag)
        state.busy, state.news = True, False
        if isinstance(awaited, Stage):
            await self._play_stage(state, awaited)
        else:
            await self._play_turn(state, awaited)

    async def _play_stage(self, state: ObjectState, stage: Stage) -> None:
        version, step = state.version, state.step
        try:
            functions, written = self._hooks.functions(state), self._player.begin(state)
            while step < len(stage.steps):
                done, written = await self._player.play(state, stage, step, written, functions)
                state.follow(written)
                step += done
                state.step += done
        except Exception as e:  # an error with one object must not stop all others
            await self._recover(state, stage, e)
            return
        if self._end(state, stage):
            self._after_stage(state, stage, version)

    async def _play_turn(self, state: ObjectState, turn: ConductTurn) -> None:
        conduct = self._turns.by_turn[turn]
        try:
            if state.value is None:  # it has waited, and its shape may be known now
                state.liken(self._plans)
            written = await conduct.play(state)
            state.follow(written)
            wait = await conduct.report(state, written)
        except Exception as e:  # an error with one object must not stop all others
            await self._recover(state, turn, e)
            return
        if self._end(state, turn):
            self._after_turn(state, turn, wait)

    def _end(self, state: ObjectState, awaited: Stage | ConductTurn) -> bool:
        """Note that an object was played; return whether this controller still plays it."""
        self._count(awaited, "ok")
        state.busy = False
        if not self._is_ours(state):
            return False
        state.due = self._delay_queue.now()
        return True

    def _after_stage(self, state: ObjectState, stage: Stage, version: int) -> None:
        """Match the object again if it has changed, or if the Stage asks for it."""
        is_repeated = stage.immediate_next and stage.delay is not None
        if not stage.deletes and (state.news or state.version != version or is_repeated):
            state.awaited = state.basis = None
            self._look(state)
        elif state.setbacks is None or stage.deletes:
            state.rest()
        else:
            state.setbacks.note_idle(stage)
            self._try_next(state, state.setbacks)

    def _after_turn(self, state: ObjectState, turn: ConductTurn, wait: float | None) -> None:
        """Schedule the change after this one, or examine the object again; earlier errors do not count any more."""
        state.awaited = state.setbacks = None
        if wait is None or state.news:
            self._look(state)
        else:
            self._turns.by_turn[turn].after(state)
            self._await_turn(state, turn, wait)

    async def _recover(
        self, state: ObjectState, awaited: Stage | ConductTurn, error: Exception
    ) -> None:
        """Handle an error: wait, match the object again, or drop it until it changes."""
        outcome = error_kind(error) if isinstance(error, RequestError) else ErrorKind.LASTING
        if isinstance(error, BudgetError):
            self._rests.note(awaited, self._delay_queue.now())
        self._count(awaited, outcome.value)
        if outcome in {ErrorKind.CONFLICT, ErrorKind.GONE} and self._is_ours(state):
            outcome = await self._read_again(state, outcome)
        state.busy = False
        if not self._is_ours(state):
            return
        state.fold()
        if outcome.is_lasting:
            self._errors.log_once(awaited, state.step, state.key, error)
        if outcome is ErrorKind.GONE and not state.news:
            state.rest()
            return
        if state.news:
            self._look(state)
        if state.awaited is awaited and not state.queued:
            if outcome.is_lasting and isinstance(awaited, Stage):
                self._let_others_first(state, awaited, outcome)
            else:
                self._wait(state, outcome)

    def _let_others_first(self, state: ObjectState, stage: Stage, outcome: ErrorKind) -> None:
        """Try the other Stages of an object before one that has failed."""
        setbacks = state.setbacks = state.setbacks or Setbacks()
        setbacks.note_failed(stage, outcome)
        self._try_next(state, setbacks)

    def _try_next(self, state: ObjectState, setbacks: Setbacks) -> None:
        """Begin a Stage that has not been tried; if all have been, wait for one that has failed.

        A Stage that has failed after some of its steps is continued even if it does not match any more.
        """
        state.liken(self._plans)
        found = state.basis = self._chooser.grounds(self.stages, state)
        untried = pick(setbacks.untried(found), self._context.random)
        if untried is not None:
            self._begin(state, untried)
            return
        failed = pick(setbacks.failed(found), self._context.random)
        if failed is not None and failed is not state.awaited:
            state.awaited, state.step = failed, 0
        state.fold()
        state.tries = setbacks.failures - 1
        self._wait(state, setbacks.outcome)

    def _wait(self, state: ObjectState, outcome: ErrorKind) -> None:
        state.tries += 1
        self._soon(state, wait_after(outcome, state.tries, self._context.random))

    async def _read_again(self, state: ObjectState, outcome: ErrorKind) -> ErrorKind:
        """Read an object again that is not as expected; return the kind of the error in view of that."""
        target = ObjectKey(self.resource, state.namespace or None, state.name)
        try:
            value: ObjectInJson = orjson.loads(await self._context.reader.get(target))
        except RequestError as e:
            return error_kind(e)
        if value["metadata"].get("uid") != state.uid:
            return ErrorKind.GONE
        if self._is_ours(state) and not state.parked:
            state.news = state.follow(answered(value)) or state.news
        # If it still exists, the error was about another object that does not.
        return ErrorKind.LASTING if outcome is ErrorKind.GONE else outcome

    def _is_ours(self, state: ObjectState) -> bool:
        return not state.parked and self._states.get(state.key) is state

    def _count(self, awaited: Stage | ConductTurn, outcome: str) -> None:
        name = "kwok_controller_plays_total"
        self._context.metrics.count(name, stage=awaited.name, outcome=outcome)

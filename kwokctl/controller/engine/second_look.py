"""Lets an engine play other Stages from now on, including on objects that it already knows."""

import asyncio
from collections.abc import Sequence
from functools import partial
from random import Random

import msgspec
import orjson

from kwokctl.controller.engine.decoded import DecodedObject, key_of, version_of
from kwokctl.controller.engine.engine import StageEngine
from kwokctl.controller.object_reader import ObjectReader
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.errors import ExpressionError
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.retry import until_answered

_OBJECTS_PER_BATCH = 200
"""Objects that are matched before other tasks get their turn: some milliseconds."""

_decode = msgspec.json.Decoder(DecodedObject).decode


class SecondLook:
    """Matches all objects of an engine again when it gets other Stages.

    A waiting object keeps its Stage and its time while the values on which the choice depends are
    unchanged. The content of other objects is not kept: they are listed again if there are new Stages,
    and matched if one of these applies to them. So a Stage that has left an object unchanged is not
    played on it a second time.
    """

    def __init__(self, engine: StageEngine, reader: ObjectReader, random: Random) -> None:
        """Match the objects of `engine`, and list them with `reader`."""
        self._engine = engine
        self._reader = reader
        self._random = random
        self._new: list[Stage] = []
        self._changed = asyncio.Event()

    def change(self, stages: Sequence[Stage]) -> None:
        """Play `stages` from now on; a Stage that equals one from before counts as unchanged."""
        before = self._engine.stages
        self._engine.stages = tuple(stages)
        self._new += [stage for stage in stages if stage not in before]
        if self._engine.stages != before:
            self._changed.set()

    async def run(self) -> None:
        """Match objects after each change of the Stages, until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            new = [stage for stage in self._new if stage in self._engine.stages]
            self._new.clear()
            await self._look_at_waiting()
            if new:
                await until_answered(partial(self._look_at_resting, new), self._random)

    async def _look_at_waiting(self) -> None:
        for number, key in enumerate(self._engine):
            if number % _OBJECTS_PER_BATCH == 0:
                await asyncio.sleep(0)
            state = self._engine.get(key)
            if state is not None and state.is_known and not (state.busy or state.parked):
                self._engine.wake(key)

    async def _look_at_resting(self, new: Sequence[Stage]) -> None:
        async for page in self._reader.pages(self._engine.resource):
            for start in range(0, len(page), _OBJECTS_PER_BATCH):
                await asyncio.sleep(0)
                for raw in page[start : start + _OBJECTS_PER_BATCH]:
                    self._offer(raw, new)

    def _offer(self, raw: bytes, new: Sequence[Stage]) -> None:
        """Match an object if it waits for nothing, and a new Stage applies to it.

        The version must be the one that was seen: a newer version comes with the watch.
        """
        metadata = _decode(raw).metadata
        key = key_of(metadata)
        state = self._engine.get(key)
        if state is None or state.parked or state.version != version_of(metadata):
            return
        if state.is_known and not state.busy:
            return
        value: ObjectInJson = orjson.loads(raw)
        if any(_may_be_for(stage, value) for stage in new):
            self._engine.wake(key, raw)


def _may_be_for(stage: Stage, value: ObjectInJson) -> bool:
    try:
        return stage.matches(value)
    except ExpressionError:
        return True  # the engine handles the error

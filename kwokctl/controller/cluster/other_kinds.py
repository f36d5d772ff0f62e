"""Follows kinds beside nodes and pods, while Stages are about them."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from random import Random
from typing import Any, Protocol

from kwokctl.controller.engine.decoded import Decoded, DecodedObject
from kwokctl.controller.engine.engine import StageEngine
from kwokctl.controller.stages.compiled_stage import Kind
from kwokctl.controller.wiring import Controller
from kwokctl.kube.client import Client
from kwokctl.kube.collections.served import while_served
from kwokctl.kube.resource import Resource


class Follow(Protocol):
    """Feeds an engine with the objects of its kind."""

    def __call__(
        self,
        engine: StageEngine,
        shape: type[Decoded],
        synced: Callable[[], None],
        /,
        *,
        while_served: bool,
    ) -> Coroutine[Any, Any, None]:
        """Return when the cluster does not serve the kind any more."""
        ...


class OtherKinds:
    """Begins to follow a kind with its first Stage, and ends with its last one."""

    def __init__(
        self,
        client: Client,
        controller: Controller,
        follow: Follow,
        done: Callable[[str], None],
        random: Random,
    ) -> None:
        """Call `done` with the name of each kind that is listed, or not served."""
        self._client = client
        self._controller = controller
        self._follow = follow
        self._done = done
        self._random = random
        self._tasks: dict[Kind, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Follow until cancelled."""
        controller = self._controller
        async with asyncio.TaskGroup() as tasks:
            while True:
                controller.kinds_changed.clear()
                await self._end(self._tasks.keys() - controller.other_kinds())
                for kind in controller.other_kinds() - self._tasks.keys():
                    self._tasks[kind] = tasks.create_task(self._follow_kind(kind))
                await controller.kinds_changed.wait()

    async def _end(self, kinds: set[Kind]) -> None:
        ended = [self._tasks.pop(kind) for kind in kinds]
        for task in ended:
            task.cancel()
        await asyncio.gather(*ended, return_exceptions=True)
        for kind in kinds:
            self._done(name_of(kind))

    async def _follow_kind(self, kind: Kind) -> None:
        done = partial(self._done, name_of(kind))

        async def follow(resource: Resource) -> None:
            async with self._controller.other(resource, kind) as engine:
                await self._follow(engine, DecodedObject, done, while_served=True)

        name = (kind.api_version, kind.name)
        await while_served(self._client, name, follow, done, self._random)


def name_of(kind: Kind) -> str:
    """Return the name of a kind that is followed, for those who wait until it is listed."""
    return f"{kind.api_version}/{kind.name}"

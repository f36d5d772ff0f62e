"""An engine for pods on a cluster in memory, and stages for it that need no YAML."""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec

from kwokctl.controller.controller_context import ControllerContext, controller_metrics
from kwokctl.controller.engine.decoded import DecodedObject
from kwokctl.controller.engine.engine import StageEngine
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.engine.turns import Conduct
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.controller.stages.compiled_stage import Delay, Kind, PatchStep, Stage, Step
from kwokctl.controller.stages.selectors import Requirement, Selector
from kwokctl.errors import ApiError
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import CONFIG_MAPS, PODS
from tests.support.fake_cluster import FakeCluster
from tests.support.virtual_time import run

POD = Kind("v1", "Pod")
BUSY = ApiError("busy", status=503, reason="ServiceUnavailable")
CONFLICT = ApiError("changed", status=409, reason="Conflict")
INVALID = ApiError("wrong", status=422, reason="Invalid")


@dataclass(frozen=True)
class Path:
    """Finds what lies at a path of fields."""

    words: tuple[str, ...]

    def values(self, value: Any, /) -> Sequence[Any]:
        for word in self.words:
            value = (value or {}).get(word)
        return [] if value is None else [value]


@dataclass(frozen=True)
class Renders:
    """A template: a function of the object."""

    render: Callable[[Any], Any]

    required: Collection[str] = ()

    def render_object(self, data: Any, functions: Mapping[str, Any], /) -> Any:
        return self.render(data)

    def render_symbols(
        self, data: Any, functions: Mapping[str, Any], unknown: Collection[str], /
    ) -> Any:
        raise AssertionError("an engine plays one object at a time")


@dataclass
class Hooks:
    """Lets everything be played by default."""

    is_open: bool = True
    is_allowed: bool = True
    left: list[str] = field(default_factory=list)

    def came(self, key: str, seen: DecodedObject) -> str:
        return ""

    def seen(self, state: ObjectState, seen: DecodedObject) -> bool:
        return self.is_allowed

    def gone(self, state: ObjectState) -> None:
        self.left.append(state.key)

    def is_ready(self, state: ObjectState) -> bool:
        return self.is_open

    def functions(self, state: ObjectState) -> Mapping[str, Any]:
        return {}


def has(path: str, *values: str) -> Requirement:
    return Requirement(Path(tuple(path.split("."))), "In", frozenset(values))


def lacks(path: str) -> Requirement:
    return Requirement(Path(tuple(path.split("."))), "DoesNotExist")


def patch(render: Any, *, subresource: str = "", **more: Any) -> PatchStep:
    return PatchStep(
        template=Renders(render if callable(render) else lambda _: render),
        root=more.get("root", "status"),
        subresource=subresource,
        type=more.get("type", PatchType.STRATEGIC),
        as_user=more.get("as_user", ""),
    )


def stage(name: str, when: Sequence[Requirement], *steps: Step, **more: Any) -> Stage:
    return Stage(
        name=name, kind=POD, selector=Selector(conditions=tuple(when)), steps=steps, **more
    )


def pod(name: str = "p", **status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "ns"},
        "status": {"phase": "Pending", **status},
    }


RUN = stage("run", [has("status.phase", "Pending")], patch({"phase": "Running"}))
SLOW = Delay(base=10.0)


class Rig:
    """An engine for pods on a cluster in memory."""

    def __init__(
        self,
        *stages: Stage,
        players: int = 64,
        plane: type[FakeCluster] = FakeCluster,
        conducts: Sequence[Conduct[Any]] = (),
    ) -> None:
        self.cluster = plane(PODS, CONFIG_MAPS)
        self.hooks = Hooks()
        self.metrics = controller_metrics()
        self.delay_queue = DelayQueue()
        wall = asyncio.get_running_loop().time
        context = ControllerContext(
            plane=self.cluster,
            delay_queue=self.delay_queue,
            reader=self.cluster,
            metrics=self.metrics,
            random=Random(1),
            wall=wall,
            faults=OpenFaults(FaultClock(wall)),
        )
        self.warnings = context.warnings
        self.engine = StageEngine(
            PODS, stages, self.hooks, context, players=players, conducts=conducts
        )
        self.cluster.watch(PODS, self.deliver)

    def deliver(self, change: str, raw: bytes) -> None:
        seen = msgspec.json.decode(raw, type=DecodedObject)
        if change == "DELETED":
            self.engine.drop(seen)
        else:
            self.engine.note(seen, raw)

    def phase(self, name: str = "p") -> str:
        return str(self.cluster.object(PODS, name, "ns")["status"]["phase"])

    @asynccontextmanager
    async def running(self) -> Any:
        async with asyncio.TaskGroup() as tasks:
            running = [
                tasks.create_task(self.engine.run()),
                tasks.create_task(self.warnings.run(self.cluster.record)),
            ]
            try:
                yield
            finally:
                for task in running:
                    task.cancel()
                self.delay_queue.close()


def story(
    *stages: Stage, **more: Any
) -> Callable[[Callable[[Rig], Coroutine[Any, Any, None]]], None]:
    """Run a test on an engine with these stages, on a clock that costs no time."""

    def decorate(test: Callable[[Rig], Coroutine[Any, Any, None]]) -> None:
        async def whole() -> None:
            rig = Rig(*stages, **more)
            async with rig.running():
                await test(rig)

        run(whole())

    return decorate

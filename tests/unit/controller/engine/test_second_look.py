"""An engine that gets other Stages while objects wait and rest."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from kwokctl.controller.engine.second_look import SecondLook
from kwokctl.controller.stages.compiled_stage import EventStep, Stage
from kwokctl.controller.stages.selectors import Selector
from kwokctl.errors import ExpressionError
from kwokctl.kube.resource import PODS
from kwokctl.replacing import replace
from tests.support.engine_rig import BUSY, RUN, SLOW, Rig, has, patch, pod, stage
from tests.support.virtual_time import run

WAITS = stage("waits", [has("status.phase", "Pending")], patch({"phase": "Running"}), delay=SLOW)
TELLS = stage("tells", [], EventStep(type="Normal", reason="Seen", message="hello"))
ENDS = stage("ends", [has("status.phase", "Running")], patch({"phase": "Failed"}))


class Changing(Rig):
    """An engine whose Stages change."""

    def __init__(self, *stages: Stage) -> None:
        super().__init__(*stages)
        self.second_look = SecondLook(self.engine, self.cluster, Random(1))

    def change(self, *stages: Stage) -> None:
        self.second_look.change(stages)

    @asynccontextmanager
    async def running(self) -> Any:
        async with super().running(), asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.second_look.run())
            yield
            task.cancel()


def story(
    *stages: Stage,
) -> Callable[[Callable[[Changing], Coroutine[Any, Any, None]]], None]:
    """Run a test on such an engine, on a clock that costs no time."""

    def tell(test: Callable[[Changing], Coroutine[Any, Any, None]]) -> None:
        async def whole() -> None:
            rig = Changing(*stages)
            async with rig.running():
                await test(rig)

        run(whole())

    return tell


def test_what_waits_for_a_stage_that_stays_keeps_its_time() -> None:
    @story(WAITS)
    async def _(rig: Changing) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(9)
        rig.change(WAITS, ENDS)
        await asyncio.sleep(0.5)
        assert rig.phase() == "Pending"
        await asyncio.sleep(1)
        assert rig.phase() == "Failed"


def test_what_waits_for_a_stage_that_has_changed_or_is_gone_gets_another() -> None:
    @story(WAITS)
    async def _(rig: Changing) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(9)
        rig.change(replace(WAITS))
        await asyncio.sleep(9)
        assert rig.phase() == "Pending"
        rig.change(RUN)
        await asyncio.sleep(0.5)
        assert rig.phase() == "Running"

        rig.cluster.put(PODS, pod("q"))
        rig.cluster.put(PODS, pod("r"))
        rig.change()
        await asyncio.sleep(20)
        assert rig.engine.get("ns/r") is not None
        assert len(rig.delay_queue) == 0


def test_objects_at_rest_are_listed_and_looked_at_for_the_new_stages_alone() -> None:
    @story(TELLS)
    async def _(rig: Changing) -> None:
        for name in ("p", "q"):
            rig.cluster.put(PODS, pod(name))
        rig.cluster.change(PODS, "q", "ns", status={"phase": "Running"})
        await asyncio.sleep(1)

        rig.change(TELLS, replace(ENDS, weight=1))
        await asyncio.sleep(1)

        assert (rig.phase("p"), rig.phase("q")) == ("Pending", "Failed")
        events = [name for name in rig.cluster.verbs("create") if name.startswith("p.")]
        assert len(events) == 1
        assert len(rig.cluster.verbs("list")) == 1


def test_nothing_is_listed_if_no_stage_is_new() -> None:
    @story(RUN, ENDS)
    async def _(rig: Changing) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.change(RUN)
        rig.change(RUN)
        await asyncio.sleep(1)

        assert rig.cluster.verbs("list") == []


def test_a_list_that_fails_is_tried_again() -> None:
    @story(RUN)
    async def _(rig: Changing) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.cluster.refuse_reads = [BUSY, BUSY]
        rig.change(RUN, ENDS)
        await asyncio.sleep(5)

        assert rig.phase() == "Failed"


def test_a_stage_that_has_gone_again_meanwhile_is_not_played() -> None:
    @story(RUN)
    async def _(rig: Changing) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.change(RUN, ENDS)
        rig.change(RUN)
        await asyncio.sleep(1)

        assert rig.phase() == "Running"
        assert rig.cluster.verbs("list") == []


def test_an_object_that_is_being_played_is_looked_at_afterwards() -> None:
    @story(RUN)
    async def _(rig: Changing) -> None:
        rig.cluster.before_write = lambda target: rig.change(RUN, ENDS)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.phase() == "Failed"


def test_an_object_that_is_due_for_a_stage_that_is_gone_is_not_played_by_it() -> None:
    @story(WAITS)
    async def _(rig: Changing) -> None:
        for number in range(1000):
            rig.cluster.put(PODS, pod(f"p{number}"))
        await asyncio.sleep(10)
        under_way = len(rig.cluster.verbs("patch"))
        assert under_way < 1000
        rig.change()
        await asyncio.sleep(1)

        assert len(rig.cluster.verbs("patch")) == under_way


class Fails:
    """A condition in CEL that fails on every object."""

    source = "self.spec.none"

    def holds(self, value: Any, /) -> bool:
        raise ExpressionError("no such key")


def test_a_new_stage_that_fails_on_an_object_does_not_end_the_look_at_others() -> None:
    fails = replace(ENDS, name="fails", selector=Selector(expressions=(Fails(),)))

    @story(RUN)
    async def _(rig: Changing) -> None:
        for name in ("p", "q"):
            rig.cluster.put(PODS, pod(name))
        await asyncio.sleep(1)
        rig.change(RUN, fails)
        await asyncio.sleep(1)
        assert len(rig.cluster.verbs("list")) == 1

        rig.change(RUN, ENDS)
        await asyncio.sleep(1)
        assert (rig.phase("p"), rig.phase("q")) == ("Failed", "Failed")

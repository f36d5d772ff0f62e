"""What becomes of an object whose stage fails: it is tried again, and stops no other."""

import asyncio
import logging
from typing import Any

import pytest

from kwokctl.controller.stages.expressions import CelCondition
from kwokctl.controller.stages.model import EventStep, Kind, Stage
from kwokctl.controller.stages.selectors import Selector
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ApiError, ExpressionError
from kwokctl.expr import cel
from kwokctl.kube.resource import PODS
from tests.support.engine_rig import (
    BUSY,
    CONFLICT,
    INVALID,
    RUN,
    Rig,
    has,
    patch,
    pod,
    stage,
    story,
)


def test_a_transient_error_is_tried_again_from_the_step_that_failed() -> None:
    first = patch({"first": "x"})
    second = patch({"second": "x"})

    @story(stage("both", [has("status.phase", "Pending")], first, second, patch({"phase": "Done"})))
    async def _(rig: Rig) -> None:
        def break_second(target: ObjectKey) -> None:
            if len(rig.cluster.writes) in {2, 3}:
                rig.cluster.refuse.append(BUSY)

        rig.cluster.before_write = break_second
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(0.9)
        assert len(rig.cluster.writes) == 2
        await asyncio.sleep(10)

        assert rig.phase() == "Done"
        assert len(rig.cluster.writes) == 5


def test_retries_of_an_unreachable_api_become_rarer_down_to_two_a_minute() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.cluster.refuse.extend([BUSY] * 20)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(15 * 60)

        assert rig.phase() == "Running"
        assert len(rig.cluster.writes) == 21


def test_a_conflict_is_answered_by_looking_at_the_object_at_once() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.cluster.refuse.append(CONFLICT)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(0.5)

        assert rig.cluster.writes == [("patch", "p"), ("get", "p"), ("patch", "p")]
        assert rig.phase() == "Running"


def test_an_object_that_changed_its_mind_is_not_played_after_a_conflict() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        def change(_: ObjectKey) -> None:
            rig.cluster.before_write = None
            rig.cluster._watchers.clear()
            rig.cluster.change(PODS, "p", "ns", status={"phase": "Failed"})
            rig.cluster.refuse.append(CONFLICT)

        rig.cluster.before_write = change
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60)

        assert rig.cluster.writes == [("patch", "p"), ("get", "p")]
        assert rig.phase() == "Failed"


def test_a_lasting_error_is_logged_once_and_tried_again_slowly(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.cluster.refuse.extend([INVALID] * 40)
        for number in range(10):
            rig.cluster.put(PODS, pod(f"p{number}"))
        await asyncio.sleep(100)

        assert [rig.phase(f"p{n}") for n in range(10)] == ["Running"] * 10
        assert len(rig.cluster.writes) == 50

    (record,) = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert "sent to the API server: wrong" in record.getMessage()


def test_a_stage_that_fails_for_good_does_not_keep_the_others_from_their_turn() -> None:
    def refuse(_: Any) -> Any:
        raise ExpressionError("no")

    bad = stage("bad", [has("status.phase", "Pending")], patch(refuse))

    @story(bad, RUN)
    async def _(rig: Rig) -> None:
        for number in range(20):
            rig.cluster.put(PODS, pod(f"p{number}"))
        await asyncio.sleep(1000)

        assert [rig.phase(f"p{n}") for n in range(20)] == ["Running"] * 20


def test_an_object_is_retried_after_a_404_of_something_else() -> None:
    missing = ApiError("namespace not found", status=404, reason="NotFound")
    event = EventStep(type="Normal", reason="Seen", message="")

    @story(stage("tell", [], event))
    async def _(rig: Rig) -> None:
        rig.cluster.refuse.append(missing)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60)

        assert [verb for verb, _ in rig.cluster.writes] == ["create", "get", "create"]


def test_an_object_that_changes_is_not_left_to_wait_for_the_slow_retry() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.cluster.refuse.extend([INVALID] * 8)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(700)
        tried = len(rig.cluster.writes)
        rig.cluster.change(PODS, "p", "ns", metadata={"labels": {"a": "b"}})
        await asyncio.sleep(2)

        assert len(rig.cluster.writes) == tried + 1


def test_a_template_that_fails_stops_no_other_object(caplog: pytest.LogCaptureFixture) -> None:
    def render(value: Any) -> Any:
        if value["metadata"]["name"] == "bad":
            raise ExpressionError("no such field")
        if value["metadata"]["name"] == "worse":
            raise ZeroDivisionError
        return {"phase": "Running"}

    @story(stage("run", [has("status.phase", "Pending")], patch(render)))
    async def _(rig: Rig) -> None:
        for name in ("bad", "worse", "good"):
            rig.cluster.put(PODS, pod(name))
        await asyncio.sleep(60)

        assert [rig.phase(name) for name in ("bad", "worse", "good")] == [
            "Pending",
            "Pending",
            "Running",
        ]

    assert "no such field" in caplog.text


def test_a_conflict_that_cannot_be_looked_into_is_tried_again_all_the_same() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.cluster.refuse.append(CONFLICT)
        rig.cluster.refuse_reads.append(BUSY)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(10)

        assert rig.phase() == "Running"


def test_an_error_in_a_cel_condition_affects_only_the_object_that_it_arose_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    program = cel.compile_cel("self.metadata.labels.colour == 'red'", "Pod")
    painted = Stage(
        name="painted",
        kind=Kind("v1", "Pod"),
        selector=Selector(expressions=(CelCondition(program),)),
        steps=(patch({"phase": "Running"}),),
    )

    @story(painted)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod("plain"))
        rig.cluster.put(PODS, pod("bare"))
        red = pod("p")
        red["metadata"]["labels"] = {"colour": "red"}
        rig.cluster.put(PODS, red)
        await asyncio.sleep(5)

        assert rig.phase() == "Running"
        assert [write[1] for write in rig.cluster.writes] == ["p"]

    [said] = [message for message in caplog.messages if "no stage can be chosen" in message]
    assert "there is no field 'colour' (logged once)" in said

"""Stages that follow each other without delay and without end are slowed down, and named."""

import asyncio
import logging
from itertools import count
from typing import Any

import pytest

from kwokctl.controller.stages.compiled_stage import Delay
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ExpressionError
from kwokctl.kube.resource import EVENTS, PODS
from tests.support.engine_rig import BUSY, SLOW, Rig, has, patch, pod, stage, story

THERE = stage("there", [has("status.phase", "Pending")], patch({"phase": "Running"}))
BACK = stage("back", [has("status.phase", "Running")], patch({"phase": "Pending"}))
_NUMBERS = count()


def fresh(_: Any) -> Any:
    return {"message": str(next(_NUMBERS))}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]


def circle_events(rig: Rig) -> list[tuple[str, str]]:
    """Return which objects have got an Event, and its message."""
    events = [each for (kind, _, _), each in rig.cluster.objects.items() if kind == EVENTS.plural]
    assert {(each["type"], each["reason"]) for each in events} == {("Warning", "StageCircle")}
    return [(each["involvedObject"]["name"], each["message"]) for each in events]


def test_two_stages_that_undo_each_other_are_slowed_down_and_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @story(THERE, BACK)
    async def _(rig: Rig) -> None:
        for name in ("a", "b", "c"):
            rig.cluster.put(PODS, pod(name))
        await asyncio.sleep(3600)

        assert 3 * 60 < len(rig.cluster.writes) < 3 * 100
        assert "kwok_controller_slowed_plays_total" in rig.metrics.text()

    [message] = warnings(caplog)
    assert "change Pod 'ns/" in message
    assert "are slowed down: 'there', 'back' (logged once)" in message


def test_a_delay_too_short_for_rest_does_not_hide_a_circle() -> None:
    brief = Delay(base=0.001)
    there = stage(
        "there", [has("status.phase", "Pending")], patch({"phase": "Running"}), delay=brief
    )

    @story(there, BACK)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(3600)

        assert len(rig.cluster.writes) < 100
        [(about, message)] = circle_events(rig)
        assert about == "p"
        assert "'there', 'back'" in message or "'back', 'there'" in message


def test_each_object_of_a_circle_gets_an_event_each_time_that_it_is_slowed_down() -> None:
    @story(THERE, BACK)
    async def _(rig: Rig) -> None:
        for name in ("a", "b"):
            rig.cluster.put(PODS, pod(name))
        await asyncio.sleep(1000)

        assert sorted(about for about, _ in circle_events(rig)) == ["a", "b"]

        rig.cluster.change(PODS, "a", "ns", status={"phase": "Resting"})
        await asyncio.sleep(100)
        rig.cluster.change(PODS, "a", "ns", status={"phase": "Pending"})
        await asyncio.sleep(1000)

        assert sorted(about for about, _ in circle_events(rig)) == ["a", "a", "b"]
        [message] = {text for _, text in circle_events(rig)}
        assert "follow each other in a cycle: 'there', 'back'; give one of them" in message


def test_objects_are_played_as_ever_while_events_are_refused() -> None:
    def refuse(target: ObjectKey) -> None:
        if target.resource == EVENTS:
            raise BUSY

    @story(THERE, BACK)
    async def _(rig: Rig) -> None:
        rig.cluster.before_write = refuse
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(3600)

        assert 60 < len(rig.cluster.writes) < 100


def test_a_stage_that_matches_its_own_result_is_slowed_down_and_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @story(stage("self", [], patch(fresh)))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(3600)

        assert len(rig.cluster.writes) < 100

    assert "change Pod 'ns/p' again and again, and are slowed down: 'self'" in warnings(caplog)[0]


def test_a_circle_that_closes_through_the_watch_alone_is_slowed_down() -> None:
    @story(stage("self", [], patch({"phase": "Running"})))
    async def _(rig: Rig) -> None:
        def undo(change: str, raw: bytes) -> None:
            if rig.phase() == "Running":
                loop.call_later(0.05, put_back)

        def put_back() -> None:
            rig.cluster.change(PODS, "p", "ns", status={"phase": "Pending"})

        loop = asyncio.get_running_loop()
        rig.cluster.put(PODS, pod())
        rig.cluster.watch(PODS, undo)
        await asyncio.sleep(3600)

        assert len(rig.cluster.writes) < 100


def test_cycles_with_a_delay_run_as_often_as_they_say(caplog: pytest.LogCaptureFixture) -> None:
    beat = stage("beat", [has("status.phase", "Running")], patch(fresh), delay=SLOW)
    fail = stage("fail", [has("status.phase", "Failing")], patch({"phase": "Running"}))
    chaos = stage(
        "chaos",
        [has("status.phase", "Running")],
        patch({"phase": "Failing"}),
        delay=Delay(base=0.5),
    )

    @story(THERE, beat, fail, chaos)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1000)

        assert len(rig.cluster.writes) > 200

    assert warnings(caplog) == []


def test_an_object_that_others_change_now_and_then_is_played_at_once_each_time() -> None:
    @story(THERE)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        for _ in range(100):
            await asyncio.sleep(2)
            assert rig.phase() == "Running"
            rig.cluster.change(PODS, "p", "ns", status={"phase": "Pending"})


def test_an_object_that_waits_after_an_error_is_played_at_once_when_others_change_it() -> None:
    def refuse(_: Any) -> Any:
        raise ExpressionError("no")

    bad = stage("bad", [has("status.phase", "Running")], patch(refuse))

    @story(THERE, bad)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        for _ in range(50):
            await asyncio.sleep(20)
            assert rig.phase() == "Running"
            rig.cluster.change(PODS, "p", "ns", status={"phase": "Pending"})
            await asyncio.sleep(0.05)
            assert rig.phase() == "Running"


def test_an_object_that_has_left_its_circle_is_played_at_once_again() -> None:
    @story(THERE, BACK, stage("end", [has("status.phase", "Ending")], patch({"phase": "Done"})))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(100)
        rig.cluster.change(PODS, "p", "ns", status={"phase": "Resting"})
        await asyncio.sleep(2)
        rig.cluster.change(PODS, "p", "ns", status={"phase": "Ending"})
        await asyncio.sleep(0.1)

        assert rig.phase() == "Done"

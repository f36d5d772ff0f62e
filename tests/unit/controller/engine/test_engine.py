"""Which stage an object is played by, and when."""

import asyncio

import msgspec

from kwokctl.controller.stages.compiled_stage import Delay, EventStep
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import EVENTS, PODS
from tests.support.engine_rig import RUN, SLOW, Path, Rig, has, patch, pod, stage, story


def test_an_object_that_matches_is_patched_once_and_then_rests() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.phase() == "Running"
        assert rig.cluster.writes == [("patch", "p")]
        state = rig.engine.get("ns/p")
        assert state is not None
        assert state.raw is None
        assert state.awaited is None


def test_a_stage_waits_for_its_delay() -> None:
    slow = stage("run", RUN.selector.conditions if RUN.selector else (), *RUN.steps, delay=SLOW)

    @story(slow)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(9.9)
        assert rig.phase() == "Pending"
        await asyncio.sleep(0.2)
        assert rig.phase() == "Running"


def test_an_unrelated_update_does_not_start_the_delay_again() -> None:
    @story(stage("run", [has("status.phase", "Pending")], *RUN.steps, delay=SLOW))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        for _ in range(5):
            await asyncio.sleep(1.9)
            rig.cluster.change(
                PODS, "p", "ns", metadata={"labels": {"n": str(rig.delay_queue.now())}}
            )
        await asyncio.sleep(0.6)

        assert rig.phase() == "Running"


def test_a_delay_that_depends_on_the_object_moves_with_it() -> None:
    timed = Delay(base_from=Path(("metadata", "wait")))

    @story(stage("run", [has("status.phase", "Pending")], *RUN.steps, delay=timed))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, {**pod(), "metadata": {**pod()["metadata"], "wait": "1h"}})
        await asyncio.sleep(5)
        rig.cluster.change(PODS, "p", "ns", metadata={"wait": "10s"})
        await asyncio.sleep(9)
        assert rig.phase() == "Pending"
        await asyncio.sleep(2)
        assert rig.phase() == "Running"


def test_a_stage_that_begins_to_match_is_weighed_against_the_one_that_waits() -> None:
    beat = stage("beat", [has("status.phase", "Pending")], *RUN.steps, delay=Delay(base=600.0))
    chaos = stage("chaos", [has("metadata.chaos", "true")], patch({"phase": "Failed"}), weight=9)

    @story(beat, chaos)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.cluster.change(PODS, "p", "ns", metadata={"chaos": "true"})
        await asyncio.sleep(1)

        assert rig.phase() == "Failed"


def test_a_stage_that_matches_no_longer_is_not_played() -> None:
    @story(stage("run", [has("status.phase", "Pending")], *RUN.steps, delay=SLOW))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.cluster.change(PODS, "p", "ns", status={"phase": "Failed"})
        await asyncio.sleep(20)

        assert rig.cluster.writes == []


def test_an_object_that_was_due_waits_again_if_its_stage_changes_before_its_turn() -> None:
    later = stage("later", [has("status.phase", "Held")], patch({"phase": "Done"}), delay=SLOW)

    @story(RUN, later, players=1)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod("first"))
        rig.cluster.put(PODS, pod())
        rig.cluster.change(PODS, "p", "ns", status={"phase": "Held"})
        await asyncio.sleep(9)
        assert rig.phase() == "Held"
        await asyncio.sleep(2)
        assert rig.phase() == "Done"


def test_one_stage_follows_another_without_waiting_for_the_watch() -> None:
    end = stage("end", [has("status.phase", "Running")], patch({"phase": "Succeeded"}))

    @story(RUN, end)
    async def _(rig: Rig) -> None:
        rig.cluster._watchers.clear()
        raw = msgspec.json.encode(rig.cluster.put(PODS, pod()))
        rig.deliver("ADDED", raw)
        await asyncio.sleep(1)

        assert rig.phase() == "Succeeded"


def test_what_is_older_than_what_is_known_is_left_out() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        old = msgspec.json.encode(rig.cluster.put(PODS, pod()))
        await asyncio.sleep(1)
        rig.deliver("MODIFIED", old)
        await asyncio.sleep(1)

        assert rig.cluster.writes == [("patch", "p")]


def test_a_stage_that_changes_nothing_rests_until_the_object_changes() -> None:
    @story(stage("tell", [], EventStep(type="Normal", reason="Seen", message="hello")))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(100)
        assert len(rig.cluster.verbs("create")) == 1

        rig.cluster.change(PODS, "p", "ns", metadata={"labels": {"a": "b"}})
        await asyncio.sleep(100)
        assert len(rig.cluster.verbs("create")) == 2
        event = next(body for key, body in rig.cluster.objects.items() if key[0] == EVENTS.plural)
        assert event["source"] == {"component": "kwok_controller"}
        assert event["involvedObject"]["name"] == "p"
        assert event["reason"] == "Seen"


def test_an_immediate_next_stage_is_repeated_though_nothing_changed() -> None:
    label = patch({"labels": {"a": "b"}}, root="metadata", type=PatchType.MERGE)
    beat = stage("beat", [], label, delay=SLOW, immediate_next=True)

    @story(beat)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(55)

        assert 'stage="beat",outcome="ok"} 5' in rig.metrics.text()


def test_an_immediate_next_stage_without_delay_does_not_spin() -> None:
    event = EventStep(type="Normal", reason="Seen", message="")

    @story(stage("spin", [], event, immediate_next=True))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(100)

        assert len(rig.cluster.verbs("create")) == 1

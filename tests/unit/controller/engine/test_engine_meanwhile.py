"""What happens to an object while it is played, and who is played beside it."""

import asyncio

import msgspec

from kwokctl.dataplane.port import ObjectKey
from kwokctl.kube.resource import PODS
from tests.support.engine_rig import BUSY, RUN, SLOW, Rig, has, patch, pod, stage, story


def test_a_deletion_during_play_cannot_resurrect() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        def delete(_: ObjectKey) -> None:
            rig.cluster.before_write = None
            rig.cluster.remove(PODS, "p", "ns")

        rig.cluster.before_write = delete
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(100)

        assert rig.cluster.writes == [("patch", "p")]
        assert rig.hooks.left == ["ns/p"]
        assert len(rig.engine) == 0


def test_an_object_recreated_under_its_name_during_play_is_played_again() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        def replace(_: ObjectKey) -> None:
            rig.cluster.before_write = None
            rig.cluster.remove(PODS, "p", "ns")
            rig.cluster.put(PODS, pod(second="yes"))

        rig.cluster.before_write = replace
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)

        assert rig.phase() == "Running"
        assert len(rig.engine) == 1


def test_a_missed_deletion_is_noticed_by_the_uid() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        watchers = dict(rig.cluster._watchers)
        rig.cluster._watchers.clear()
        rig.cluster.remove(PODS, "p", "ns")
        rig.cluster._watchers.update(watchers)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.hooks.left == ["ns/p"]
        assert rig.phase() == "Running"


def test_an_unknown_object_is_neither_woken_nor_dropped() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        body = rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        other = {**body, "metadata": {**body["metadata"], "uid": "another"}}
        rig.deliver("DELETED", msgspec.json.encode(other))
        rig.engine.park("ns/unknown")

        assert rig.engine.wake("ns/unknown")
        assert len(rig.engine) == 1


def test_a_patch_for_an_object_that_was_replaced_does_not_meet_the_new_one() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        old = pod()
        rig.cluster._watchers.clear()
        raw = msgspec.json.encode(rig.cluster.put(PODS, old))
        rig.cluster.remove(PODS, "p", "ns")
        rig.cluster.put(PODS, pod())
        rig.deliver("ADDED", raw)
        await asyncio.sleep(1)

        assert rig.phase() == "Pending"


def test_many_objects_are_played_at_once_but_no_more_than_there_are_players() -> None:
    @story(RUN, players=16)
    async def _(rig: Rig) -> None:
        for number in range(500):
            rig.cluster.put(PODS, pod(f"p{number}"))
        await asyncio.sleep(5)

        assert rig.cluster.most_at_once == 16
        assert len(rig.cluster.writes) == 500
        assert len(rig.engine) == 500


def test_an_object_changed_during_play_is_looked_at_again() -> None:
    end = stage("end", [has("metadata.end", "yes")], patch({"phase": "Succeeded"}))

    @story(RUN, end)
    async def _(rig: Rig) -> None:
        def change(_: ObjectKey) -> None:
            rig.cluster.before_write = None
            rig.cluster.change(PODS, "p", "ns", metadata={"end": "yes"})

        rig.cluster.before_write = change
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)

        assert rig.phase() == "Succeeded"


def test_nothing_is_played_while_the_object_may_not_be_written() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.hooks.is_open = False
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)
        assert rig.cluster.writes == []

        rig.hooks.is_open = True
        assert rig.engine.wake("ns/p")
        await asyncio.sleep(5)
        assert rig.phase() == "Running"


def test_a_delayed_stage_that_finds_the_object_closed_is_chosen_again_when_it_opens() -> None:
    @story(stage("run", [has("status.phase", "Pending")], *RUN.steps, delay=SLOW))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.hooks.is_open = False
        await asyncio.sleep(20)
        assert rig.phase() == "Pending"

        rig.hooks.is_open = True
        rig.engine.wake("ns/p")
        await asyncio.sleep(11)
        assert rig.phase() == "Running"


def test_a_parked_object_has_to_be_read_before_it_is_played() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.hooks.is_allowed = False
        body = rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        state = rig.engine.get("ns/p")
        assert state is not None
        assert state.raw is None

        rig.hooks.is_allowed = True
        assert not rig.engine.wake("ns/p")
        rig.deliver("MODIFIED", msgspec.json.encode(body))
        await asyncio.sleep(1)
        assert rig.phase() == "Running"


def test_an_object_that_is_parked_during_play_rests_afterwards() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.cluster.before_write = lambda _: rig.engine.park("ns/p")
        rig.cluster.refuse.append(BUSY)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60)

        assert rig.cluster.writes == [("patch", "p")]

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec
import pytest

from kwokctl.controller.agenda import Agenda
from kwokctl.controller.engine import Engine
from kwokctl.controller.entry import Entry
from kwokctl.controller.metrics import Metrics
from kwokctl.controller.objects import Seen
from kwokctl.controller.player import Player
from kwokctl.controller.selectors import Condition, Selector
from kwokctl.controller.stages import (
    ApplyStep,
    Delay,
    DeleteStep,
    EventStep,
    FinalizersStep,
    Kind,
    PatchStep,
    Stage,
    Step,
)
from kwokctl.controller.world import World
from kwokctl.dataplane.port import Target
from kwokctl.errors import ApiError, ExpressionError
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import CONFIG_MAPS, EVENTS, PODS
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

    def render_object(self, data: Any, functions: Mapping[str, Any], /) -> Any:
        return self.render(data)


@dataclass
class Care:
    """Lets everything be played unless told otherwise."""

    is_open: bool = True
    is_allowed: bool = True
    left: list[str] = field(default_factory=list)

    def seen(self, entry: Entry, seen: Seen) -> bool:
        return self.is_allowed

    def gone(self, entry: Entry) -> None:
        self.left.append(entry.key)

    def is_ready(self, entry: Entry) -> bool:
        return self.is_open

    def functions(self, entry: Entry) -> Mapping[str, Any]:
        return {}


def has(path: str, *values: str) -> Condition:
    return Condition(Path(tuple(path.split("."))), "In", frozenset(values))


def lacks(path: str) -> Condition:
    return Condition(Path(tuple(path.split("."))), "DoesNotExist")


def patch(render: Any, *, subresource: str = "", **more: Any) -> PatchStep:
    return PatchStep(
        template=Renders(render if callable(render) else lambda _: render),
        root=more.get("root", "status"),
        subresource=subresource,
        type=more.get("type", PatchType.STRATEGIC),
        as_user=more.get("as_user", ""),
    )


def stage(name: str, when: Sequence[Condition], *steps: Step, **more: Any) -> Stage:
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

    def __init__(self, *stages: Stage, players: int = 64) -> None:
        self.cluster = FakeCluster(PODS, CONFIG_MAPS)
        self.care = Care()
        self.metrics = Metrics()
        self.agenda = Agenda()
        wall = asyncio.get_running_loop().time
        world = World(
            agenda=self.agenda,
            player=Player(self.cluster, self.cluster, self.metrics, wall),
            reader=self.cluster,
            metrics=self.metrics,
            random=Random(1),
            wall=wall,
        )
        self.engine = Engine(PODS, stages, self.care, world, players=players)
        self.cluster.watch(PODS, self.tell)

    def tell(self, change: str, raw: bytes) -> None:
        seen = msgspec.json.decode(raw, type=Seen)
        if change == "DELETED":
            self.engine.drop(seen)
        else:
            self.engine.note(seen, raw)

    def phase(self, name: str = "p") -> str:
        return str(self.cluster.object(PODS, name, "ns")["status"]["phase"])

    @asynccontextmanager
    async def running(self) -> Any:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.engine.run())
            try:
                yield
            finally:
                task.cancel()
                self.agenda.close()


def story(
    *stages: Stage, **more: Any
) -> Callable[[Callable[[Rig], Coroutine[Any, Any, None]]], None]:
    """Run a test on an engine with these stages, on a clock that costs no time."""

    def tell(test: Callable[[Rig], Coroutine[Any, Any, None]]) -> None:
        async def whole() -> None:
            rig = Rig(*stages, **more)
            async with rig.running():
                await test(rig)

        run(whole())

    return tell


def test_an_object_that_matches_is_patched_once_and_then_rests() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.phase() == "Running"
        assert rig.cluster.writes == [("patch", "p")]
        entry = rig.engine.get("ns/p")
        assert entry is not None
        assert entry.raw is None
        assert entry.stage is None


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
            rig.cluster.change(PODS, "p", "ns", metadata={"labels": {"n": str(rig.agenda.now())}})
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
        rig.tell("ADDED", raw)
        await asyncio.sleep(1)

        assert rig.phase() == "Succeeded"


def test_what_is_older_than_what_is_known_is_left_out() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        old = msgspec.json.encode(rig.cluster.put(PODS, pod()))
        await asyncio.sleep(1)
        rig.tell("MODIFIED", old)
        await asyncio.sleep(1)

        assert rig.cluster.writes == [("patch", "p")]


def test_a_patch_that_would_change_nothing_is_not_sent() -> None:
    label = patch({"labels": {"a": "b"}}, root="metadata", type=PatchType.MERGE)

    @story(stage("label", [], label))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.cluster.writes == [("patch", "p")]
        assert 'writes_saved_total{verb="patch"} 1' in rig.metrics.text()


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


def test_later_steps_see_what_earlier_ones_have_done() -> None:
    count = patch(lambda o: {"n": str(o["status"].get("n", "")) + "x"})

    @story(stage("twice", [lacks("status.n")], count, count))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.cluster.object(PODS, "p", "ns")["status"]["n"] == "xx"


def test_a_transient_error_is_tried_again_from_the_step_that_failed() -> None:
    first = patch({"first": "x"})
    second = patch({"second": "x"})

    @story(stage("both", [has("status.phase", "Pending")], first, second, patch({"phase": "Done"})))
    async def _(rig: Rig) -> None:
        def break_second(target: Target) -> None:
            if len(rig.cluster.writes) in {2, 3}:
                rig.cluster.refuse.append(BUSY)

        rig.cluster.before_write = break_second
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(0.9)
        assert len(rig.cluster.writes) == 2
        await asyncio.sleep(10)

        assert rig.phase() == "Done"
        assert len(rig.cluster.writes) == 5


def test_an_api_that_is_away_for_long_is_asked_less_and_less_but_at_least_twice_a_minute() -> None:
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
        def change(_: Target) -> None:
            rig.cluster.before_write = None
            rig.cluster._watchers.clear()
            rig.cluster.change(PODS, "p", "ns", status={"phase": "Failed"})
            rig.cluster.refuse.append(CONFLICT)

        rig.cluster.before_write = change
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60)

        assert rig.cluster.writes == [("patch", "p"), ("get", "p")]
        assert rig.phase() == "Failed"


def test_a_lasting_error_is_told_once_and_tried_again_slowly(
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

    assert len([r for r in caplog.records if r.levelno == logging.ERROR]) == 1


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


def test_what_is_missing_elsewhere_does_not_make_the_object_rest_for_good() -> None:
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


def test_a_template_that_fails_stops_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
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


def test_a_deletion_during_play_cannot_resurrect() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        def delete(_: Target) -> None:
            rig.cluster.before_write = None
            rig.cluster.remove(PODS, "p", "ns")

        rig.cluster.before_write = delete
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(100)

        assert rig.cluster.writes == [("patch", "p")]
        assert rig.care.left == ["ns/p"]
        assert len(rig.engine) == 0


def test_an_object_made_again_under_its_name_during_play_is_played_anew() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        def replace(_: Target) -> None:
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

        assert rig.care.left == ["ns/p"]
        assert rig.phase() == "Running"


GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
REAP = stage("reap", [Condition(Path(("metadata", "deletionTimestamp")), "Exists")], DeleteStep())


def test_an_object_that_is_being_deleted_goes_with_one_delete() -> None:
    @story(RUN, REAP)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.cluster.change(PODS, "p", "ns", metadata=GOING)
        await asyncio.sleep(100)

        assert rig.cluster.verbs("delete") == ["p"]
        assert len(rig.engine) == 0


def test_an_object_with_finalizers_is_deleted_once_and_stays_until_they_go() -> None:
    @story(REAP)
    async def _(rig: Rig) -> None:
        body = pod()
        body["metadata"] |= {**GOING, "finalizers": ["hold"]}
        rig.cluster.put(PODS, body)
        await asyncio.sleep(100)
        for number in range(5):
            rig.cluster.change(PODS, "p", "ns", metadata={"labels": {"n": str(number)}})
            await asyncio.sleep(10)

        assert rig.cluster.verbs("delete") == ["p"]
        assert rig.cluster.object(PODS, "p", "ns")["metadata"]["finalizers"] == ["hold"]


def test_finalizers_are_added_and_removed_on_the_version_that_was_seen() -> None:
    hold = FinalizersStep(add=("hold",), remove=(), empty=False)

    @story(stage("hold", [lacks("metadata.finalizers")], hold))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.cluster.object(PODS, "p", "ns")["metadata"]["finalizers"] == ["hold"]
        assert rig.cluster.writes == [("patch", "p")]


def test_finalizers_that_are_as_wanted_already_are_not_written() -> None:
    @story(stage("hold", [], FinalizersStep(add=("hold",), remove=("x",), empty=False)))
    async def _(rig: Rig) -> None:
        body = pod()
        body["metadata"]["finalizers"] = ["hold"]
        rig.cluster.put(PODS, body)
        await asyncio.sleep(1)

        assert rig.cluster.writes == []


def test_an_object_that_nobody_knows_is_neither_woken_nor_dropped() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        body = rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        other = {**body, "metadata": {**body["metadata"], "uid": "another"}}
        rig.tell("DELETED", msgspec.json.encode(other))
        rig.engine.park("ns/unknown")

        assert rig.engine.wake("ns/unknown")
        assert len(rig.engine) == 1


def test_a_conflict_that_cannot_be_looked_into_is_tried_again_all_the_same() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.cluster.refuse.append(CONFLICT)
        rig.cluster.refuse_reads.append(BUSY)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(10)

        assert rig.phase() == "Running"


def test_an_apply_creates_and_then_patches_any_object() -> None:
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}}
    apply = ApplyStep(
        template=Renders(lambda o: {**other, "data": {"phase": o["status"]["phase"]}}),
        subresource="",
        type=PatchType.APPLY,
        as_user="somebody",
    )

    @story(stage("apply", [], apply))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        assert rig.cluster.object(CONFIG_MAPS, "c", "ns")["data"] == {"phase": "Pending"}

        rig.cluster.change(PODS, "p", "ns", status={"phase": "Failed"})
        await asyncio.sleep(1)
        assert rig.cluster.object(CONFIG_MAPS, "c", "ns")["data"] == {"phase": "Failed"}
        assert set(rig.cluster.users) == {"somebody"}


def test_an_apply_of_something_that_is_no_object_is_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    apply = ApplyStep(
        template=Renders(lambda _: {"kind": "ConfigMap"}),
        subresource="",
        type=PatchType.APPLY,
        as_user="",
    )

    @story(stage("apply", [], apply))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        assert rig.cluster.writes == []

    assert "without 'apiVersion', 'kind' and 'metadata.name'" in caplog.text


def test_a_patch_is_sent_as_the_user_that_the_stage_names() -> None:
    @story(
        stage("run", [has("status.phase", "Pending")], patch({"phase": "X"}, as_user="somebody"))
    )
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.cluster.users == ["somebody"]


def test_a_patch_for_an_object_that_was_replaced_does_not_meet_the_new_one() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        old = pod()
        rig.cluster._watchers.clear()
        raw = msgspec.json.encode(rig.cluster.put(PODS, old))
        rig.cluster.remove(PODS, "p", "ns")
        rig.cluster.put(PODS, pod())
        rig.tell("ADDED", raw)
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
        def change(_: Target) -> None:
            rig.cluster.before_write = None
            rig.cluster.change(PODS, "p", "ns", metadata={"end": "yes"})

        rig.cluster.before_write = change
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)

        assert rig.phase() == "Succeeded"


def test_nothing_is_played_while_the_object_may_not_be_written() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.care.is_open = False
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)
        assert rig.cluster.writes == []

        rig.care.is_open = True
        assert rig.engine.wake("ns/p")
        await asyncio.sleep(5)
        assert rig.phase() == "Running"


def test_a_delayed_stage_that_finds_the_object_closed_is_chosen_again_when_it_opens() -> None:
    @story(stage("run", [has("status.phase", "Pending")], *RUN.steps, delay=SLOW))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.care.is_open = False
        await asyncio.sleep(20)
        assert rig.phase() == "Pending"

        rig.care.is_open = True
        rig.engine.wake("ns/p")
        await asyncio.sleep(11)
        assert rig.phase() == "Running"


def test_a_parked_object_has_to_be_read_before_it_is_played() -> None:
    @story(RUN)
    async def _(rig: Rig) -> None:
        rig.care.is_allowed = False
        body = rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        entry = rig.engine.get("ns/p")
        assert entry is not None
        assert entry.raw is None

        rig.care.is_allowed = True
        assert not rig.engine.wake("ns/p")
        rig.tell("MODIFIED", msgspec.json.encode(body))
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

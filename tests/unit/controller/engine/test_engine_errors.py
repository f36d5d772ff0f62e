"""What becomes of an object whose stage fails: it is tried again, and stops no other."""

import asyncio
import logging
from itertools import pairwise
from typing import Any

import pytest

from kwokctl.controller.stages.cel_results import CelCondition, CelWeight
from kwokctl.controller.stages.compiled_stage import Delay, EventStep, Kind, Stage
from kwokctl.controller.stages.selectors import Selector
from kwokctl.controller.stages.stage_places import StagePlace
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ApiError, ExpressionError
from kwokctl.expr import cel, jq
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.refusals import refusal
from kwokctl.replacing import replace
from tests.support.engine_rig import (
    BUSY,
    CONFLICT,
    INVALID,
    RUN,
    SLOW,
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


def test_a_delay_that_is_none_is_logged_once_for_all_objects(
    caplog: pytest.LogCaptureFixture,
) -> None:
    query = jq.compile(".status.message")
    delayed = replace(RUN, delay=Delay(base=5.0, base_from=query))

    @story(delayed)
    async def _(rig: Rig) -> None:
        for number, text in enumerate(("120", "1d", "2m", "soon")):
            rig.cluster.put(PODS, pod(f"p{number}", message=text))
        await asyncio.sleep(10)

        assert [rig.phase(f"p{n}") for n in range(4)] == [
            "Running",
            "Running",
            "Pending",
            "Running",
        ]

    [record] = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert (
        "(spec.delay.durationFrom) finds '120', which is neither a duration" in record.getMessage()
    )
    assert "on Pod 'ns/p0' (logged once)" in record.getMessage()


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


CONDITION = StagePlace(
    "painted", "painted.yaml document 1", "spec.selector.matchExpressions[0].cel.expression"
)
PAINTED = Stage(
    name="painted",
    kind=Kind("v1", "Pod"),
    selector=Selector(
        expressions=(
            CelCondition(cel.compile_cel("self.metadata.labels.colour == 'red'", "Pod"), CONDITION),
        )
    ),
    steps=(patch({"phase": "Running"}),),
    source="painted.yaml document 1",
)


def test_a_condition_in_cel_that_fails_leaves_out_its_stage_for_this_object_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wait = stage("wait", [has("status.phase", "Pending")], patch({"phase": "Waiting"}))

    @story(PAINTED, wait)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod("plain"))
        rig.cluster.put(PODS, pod("bare"))
        red = pod("p", phase="New")
        red["metadata"]["labels"] = {"colour": "red"}
        rig.cluster.put(PODS, red)
        await asyncio.sleep(5)

        assert [rig.phase(name) for name in ("plain", "bare", "p")] == [
            "Waiting",
            "Waiting",
            "Running",
        ]
        assert 'kwok_controller_failed_matches_total{stage="painted"} 4' in rig.metrics.text()

    [record] = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert record.getMessage() == (
        "stage 'painted' (painted.yaml document 1, spec.selector.matchExpressions[0].cel.expression) "
        "is not for Pod 'ns/plain': CEL 'self.metadata.labels.colour == 'red'': "
        "there is no field 'colour', at line 1, column 21 (logged once)"
    )


def test_a_weight_in_cel_that_fails_leaves_out_its_stage_for_this_object_alone() -> None:
    program = cel.compile_cel("int(self.metadata.annotations['w'])", "Pod")
    weight = CelWeight(program, StagePlace("heavy", "heavy.yaml", "spec.weightFrom.cel.expression"))
    pending = [has("status.phase", "Pending")]
    heavy = stage("heavy", pending, patch({"phase": "Heavy"}), weight_from=weight)
    light = stage("light", pending, patch({"phase": "Light"}), weight=0)

    @story(heavy, light)
    async def _(rig: Rig) -> None:
        for number in range(10):
            rig.cluster.put(PODS, pod(f"p{number}"))
        weighed = pod("weighed")
        weighed["metadata"]["annotations"] = {"w": "5"}
        rig.cluster.put(PODS, weighed)
        await asyncio.sleep(1)

        assert {rig.phase(f"p{number}") for number in range(10)} == {"Light"}
        assert rig.phase("weighed") == "Heavy"


def _failing(value: Any) -> Any:
    raise ExpressionError("no such field")


def test_a_stage_that_fails_leaves_an_object_to_its_other_stages_at_once_whatever_they_weigh() -> (
    None
):
    pending = [has("status.phase", "Pending")]
    bad = stage("bad", pending, patch(_failing), weight=1000)

    @story(bad, stage("good", pending, patch({"phase": "Running"})))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(0.1)

        assert rig.phase() == "Running"


def test_a_stage_that_comes_in_place_of_a_failed_one_waits_for_its_own_delay() -> None:
    pending = [has("status.phase", "Pending")]
    bad = stage("bad", pending, patch(_failing), weight=1000)
    slow = stage("slow", pending, patch({"phase": "Running"}), delay=SLOW)

    @story(bad, slow)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        for number in range(9):
            rig.cluster.change(PODS, "p", "ns", metadata={"labels": {"n": str(number)}})
            await asyncio.sleep(1)
        assert rig.phase() == "Pending"
        await asyncio.sleep(1.1)
        assert rig.phase() == "Running"


def test_a_stage_that_fails_is_tried_again_although_another_one_has_nothing_to_change() -> None:
    event = EventStep(type="Normal", reason="Seen", message="")
    tries: list[float] = []

    def render(value: Any) -> Any:
        tries.append(asyncio.get_running_loop().time())
        if len(tries) < 6:
            raise ExpressionError("not yet")
        return {"phase": "Running"}

    @story(stage("late", [has("status.phase", "Pending")], patch(render)), stage("tell", [], event))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(300)

        assert rig.phase() == "Running"
        assert len(rig.cluster.verbs("create")) <= 2  # once for each state of the object

    waits = [after - before for before, after in pairwise(tries)]
    assert all(wait >= 5 for wait in waits)
    assert waits == sorted(waits)


def test_a_right_that_is_missing_is_named_once_with_its_remedy_and_asked_for_every_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    forbidden = refusal(
        403,
        b'{"message": "pods \\"p\\" is forbidden: User \\"u\\" cannot patch resource \\"pods/status\\"'
        b' in API group \\"\\" in the namespace \\"ns\\"", "reason": "Forbidden"}',
    )
    pending = [has("status.phase", "Pending")]

    @story(RUN, stage("also", pending, patch({"phase": "Running"}), weight=5))
    async def _(rig: Rig) -> None:
        rig.cluster.refuse.extend([forbidden] * 40)
        for name in ("a", "b", "c", "d"):
            rig.cluster.put(PODS, pod(name))
        await asyncio.sleep(3600)
        assert rig.phase("a") == "Running"

    [record] = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert (
        "grant it: 'kubectl create clusterrole NAME --verb=patch --resource=pods/status', "
        "and bind that to 'u' (logged once" in record.getMessage()
    )

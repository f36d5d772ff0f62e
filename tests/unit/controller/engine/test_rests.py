"""Stages that take more steps than an evaluation may."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from kwokctl.controller.stages.cel_results import CelCondition
from kwokctl.controller.stages.compiled_stage import Delay, Kind, Stage
from kwokctl.controller.stages.selectors import Requirement, Selector
from kwokctl.controller.stages.stage_places import StagePlace
from kwokctl.expr import cel, gotemplate, jq
from kwokctl.kube.resource import PODS
from tests.support.engine_rig import (
    RUN,
    Rig,
    has,
    patch,
    pod,
    stage,
    story,
)

_BOMB = "{{ range until 1000000 }}{{ range until 1000000 }}x{{ end }}{{ end }}"


_TOO_MUCH = "takes more than 100,000 steps"


def test_a_stage_that_takes_too_many_steps_fails_by_name_and_rests_while_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    template = gotemplate.compile(_BOMB, name="bomb")
    asked: list[float] = []

    def explode(value: Any) -> Any:
        asked.append(asyncio.get_running_loop().time())
        return template.render_object(value, {})

    bomb = stage("bomb", [has("status.phase", "Pending")], patch(explode), weight=1)

    @story(bomb, stage("run", [has("status.phase", "New")], patch({"phase": "Running"})))
    async def _(rig: Rig) -> None:
        for number in range(50):
            rig.cluster.put(PODS, pod(f"bomb-{number}"))
            rig.cluster.put(PODS, pod(f"new-{number}", phase="New"))
        await asyncio.sleep(2)
        assert {rig.phase(f"new-{number}") for number in range(50)} == {"Running"}
        await asyncio.sleep(10)

    assert 2 < len(asked) < 15
    assert all(after - before >= 1 for before, after in pairwise(asked))
    [record] = [each for each in caplog.records if "bomb" in each.getMessage()]
    assert "stage 'bomb'" in record.getMessage()
    assert _TOO_MUCH in record.getMessage()


@pytest.mark.parametrize("is_cel", [True, False])
def test_a_selector_that_takes_too_many_steps_rests_and_the_objects_are_judged_later(
    is_cel: bool, caplog: pytest.LogCaptureFixture
) -> None:
    numbers = "[0,1,2,3,4,5,6,7,8,9]"
    loops = "".join(f"{numbers}.all(v{n}, " for n in range(9)) + "true" + ")" * 9
    cel_text = f"self.metadata.name != 'bomb' || {loops}"
    selector = Selector(
        expressions=(CelCondition(cel.compile_cel(cel_text, "Pod"), StagePlace("costly")),)
    )
    if not is_cel:
        text = 'if .metadata.name == "bomb" then range(1e12) | empty else .status.phase end'
        pending = Requirement(jq.compile(text), "In", frozenset({"Pending"}))
        selector = Selector(conditions=(pending,))
    costly = Stage(name="costly", kind=Kind("v1", "Pod"), selector=selector, steps=RUN.steps)

    @story(costly, stage("run", [has("status.phase", "New")], patch({"phase": "Running"})))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod("bomb"))
        rig.cluster.put(PODS, pod("good"))
        rig.cluster.put(PODS, pod("new", phase="New"))
        await asyncio.sleep(0.5)
        assert [rig.phase(name) for name in ("bomb", "good", "new")] == [
            "Pending",
            "Pending",
            "Running",
        ]
        await asyncio.sleep(60)

        assert [rig.phase(name) for name in ("bomb", "good")] == ["Pending", "Running"]

    assert f"stage 'costly' is not for Pod 'ns/bomb': {'CEL' if is_cel else 'jq'}" in caplog.text
    assert _TOO_MUCH in caplog.text


def test_a_delay_that_takes_too_many_steps_leaves_its_stage_out() -> None:
    costly = stage(
        "costly",
        [has("status.phase", "Pending")],
        patch({"phase": "Costly"}),
        delay=Delay(base=0.0, base_from=jq.compile("range(1e12) | empty")),
    )

    @story(costly, RUN)
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.phase() == "Running"

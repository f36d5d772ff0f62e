"""Which controller plays new objects: as it says, and only as long as it says the same."""

import asyncio
from pathlib import Path
from typing import Any

from kwokctl.clusters.scaling.playing_before import kubelet_of
from kwokctl.dataplane.copies.own_values import OwnValues
from kwokctl.dataplane.scale_protocol import ControllerClient, PlayedStages
from kwokctl.errors import ApiError
from tests.support import virtual_time
from tests.support.bulk import NOWHERE
from tests.support.stage_documents import stage

OWN = OwnValues(now="2026-01-01T00:00:00.000000000Z")
POD: dict[str, Any] = {
    "metadata": {"name": "p", "uid": "u"},
    "spec": {},
    "status": {"phase": "Pending"},
}


class Controller(ControllerClient):
    """Tells its Stages, or refuses."""

    def __init__(self, *stages: dict[str, Any], **selection: Any) -> None:
        super().__init__(NOWHERE, Path("no token"))
        self.in_force = PlayedStages(
            generation="1",
            stages=list(stages),
            selection={"all_nodes": True, **selection},
            started="2026-01-01T00:00:00Z",
            manager="kwok-controller",
        )
        self.is_away = False

    async def stages(self) -> PlayedStages:
        self._check_answers()
        return self.in_force

    async def generation(self) -> str:
        self._check_answers()
        return self.in_force.generation

    def _check_answers(self) -> None:
        if self.is_away:
            raise ApiError("no answer", status=0)


async def test_the_stages_of_the_kind_are_played() -> None:
    nodes = stage("a", "Node", phase=None, template="phase: Failed")
    former, later = (stage("b", template=f"phase: {phase}") for phase in ("Failed", "Running"))

    async with kubelet_of(Controller(nodes, former, later), "Pod") as kubelet:
        assert kubelet is not None
        assert kubelet.play(POD, OWN)["status"]["phase"] == "Running"


async def test_only_the_controller_evaluates_a_selector_that_depends_on_chance() -> None:
    cel = {"cel": {"expression": "Rand() < 0.5"}}
    by_chance = stage("a", selector={"matchExpressions": [cel]}, template="phase: Running")

    async with kubelet_of(Controller(by_chance), "Pod") as kubelet:
        assert kubelet is None


async def test_without_an_answer_that_is_understood_nothing_is_played() -> None:
    away, other = Controller(), Controller(stage("a", template="phase: Running"))
    away.is_away = True
    other.in_force.stages[0]["spec"]["selector"] = "of another release"

    for controller in (away, other):
        async with kubelet_of(controller, "Pod") as kubelet:
            assert kubelet is None


def test_other_stages_count_within_a_second() -> None:
    async def whole() -> None:
        controller = Controller(stage("a", template="phase: Running"))
        async with kubelet_of(controller, "Pod") as kubelet:
            assert kubelet is not None
            known = [kubelet.is_current]
            for is_away, generation in ((True, "1"), (False, "1"), (False, "2")):
                controller.is_away, controller.in_force.generation = is_away, generation
                await asyncio.sleep(1)
                known.append(kubelet.is_current)
            assert known == [True, False, True, False]

    virtual_time.run(whole())


async def test_the_controller_plays_new_nodes_while_faults_follow() -> None:
    controller = Controller(stage("a", "Node", phase=None, template="phase: Running"))
    controller.in_force.faults_follow = True

    async with kubelet_of(controller, "Node") as kubelet:
        assert kubelet is None
    async with kubelet_of(controller, "Pod") as kubelet:
        assert kubelet is not None

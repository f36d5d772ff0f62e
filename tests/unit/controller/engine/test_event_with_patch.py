"""An Event step and the patch step after it are one write where the data plane can do that."""

import asyncio
from typing import Any

import pytest

from kwokctl.controller.stages.compiled_stage import EventStep
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json
from kwokctl.kube.resource import PODS, Resource
from tests.support import virtual_time
from tests.support.engine_rig import BUSY, CONFLICT, Rig, has, patch, pod, stage
from tests.support.fake_cluster import FakeCluster
from tests.support.never_direct import NeverDirect

SAY = EventStep(type="Normal", reason="Created", message="")
START = stage(
    "start",
    [has("status.phase", "Pending")],
    SAY,
    patch({"phase": "Running"}, subresource="status"),
)


class Both(NeverDirect):
    """Does both, and shows that."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    async def patch_and_record(
        self, target: ObjectKey, patch: Patch, event: ObjectEvent, *, current: Json
    ) -> Json | None:
        answer = await self._cluster.patch(target, patch, current=current)
        self._cluster.writes[-1] = ("both", target.name)
        return answer


class Joining(FakeCluster):
    """A data plane that can do both."""

    def __init__(self, *resources: Resource) -> None:
        super().__init__(*resources)
        self.direct = Both(self)


class Declining(FakeCluster):
    """A data plane that could do both, but not now."""

    def __init__(self, *resources: Resource) -> None:
        super().__init__(*resources)
        self.direct = NeverDirect()


def play(*stages: Any, plane: type[FakeCluster] = Joining, **refused: Any) -> Rig:
    """Play some Stages on a pod for a minute."""
    rigs: list[Rig] = []

    async def main() -> None:
        rig = Rig(*stages, plane=plane)
        rigs.append(rig)
        rig.cluster.refuse = list(refused.get("refuse", ()))
        async with rig.running():
            rig.cluster.put(PODS, pod())
            await asyncio.sleep(60)

    virtual_time.run(main())
    return rigs[0]


def verbs(rig: Rig) -> list[str]:
    return [verb for verb, _ in rig.cluster.writes if verb != "get"]


def test_an_event_and_the_patch_after_it_are_one_write() -> None:
    rig = play(START)

    assert verbs(rig) == ["both"]
    assert rig.phase() == "Running"
    text = rig.metrics.text()
    assert 'writes_total{verb="event"} 1' in text
    assert 'writes_total{verb="patch"} 1' in text


def test_steps_after_the_two_are_done_once_each() -> None:
    more = patch({"reason": "Done"}, subresource="status")

    rig = play(stage("start", [has("status.phase", "Pending")], *START.steps, more, SAY))

    assert verbs(rig) == ["both", "patch", "create"]


@pytest.mark.parametrize("plane", [FakeCluster, Declining])
def test_a_data_plane_that_cannot_do_both_is_given_one_after_the_other(
    plane: type[FakeCluster],
) -> None:
    rig = play(START, plane=plane)

    assert verbs(rig) == ["create", "patch"]
    assert rig.phase() == "Running"


def test_an_event_is_not_created_twice_after_a_write_of_both_was_refused() -> None:
    for error in (BUSY, CONFLICT):
        rig = play(START, refuse=[error])

        assert verbs(rig) == ["patch", "both"]
        assert rig.phase() == "Running"


def test_an_event_is_created_by_itself_before_a_patch_that_changes_nothing_or_fails() -> None:
    def fail(_: Any) -> Any:
        raise ExpressionError("no")

    for render in (fail, {"phase": "Pending"}):
        start = [has("status.phase", "Pending")], SAY, patch(render, subresource="status")

        assert verbs(play(stage("start", *start))) == ["create"]

"""What the steps of a stage write: patches, applied objects, finalizers, deletions."""

import asyncio

import pytest

from kwokctl.controller.stages.compiled_stage import ApplyStep, DeleteStep, FinalizersStep
from kwokctl.controller.stages.selectors import Requirement
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import CONFIG_MAPS, PODS
from tests.support.engine_rig import RUN, Path, Renders, Rig, has, lacks, patch, pod, stage, story

GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
REAP = stage("reap", [Requirement(Path(("metadata", "deletionTimestamp")), "Exists")], DeleteStep())


def test_a_patch_that_would_change_nothing_is_not_sent() -> None:
    label = patch({"labels": {"a": "b"}}, root="metadata", type=PatchType.MERGE)

    @story(stage("label", [], label))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.cluster.writes == [("patch", "p")]
        assert 'writes_saved_total{verb="patch"} 1' in rig.metrics.text()


def test_later_steps_see_what_earlier_ones_have_done() -> None:
    count = patch(lambda o: {"n": str(o["status"].get("n", "")) + "x"})

    @story(stage("twice", [lacks("status.n")], count, count))
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.cluster.object(PODS, "p", "ns")["status"]["n"] == "xx"


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

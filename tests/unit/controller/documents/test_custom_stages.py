"""Stages that are custom resources of a cluster come and go while the controller runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kwokctl.dataplane.scale_protocol import PlayedStages
from kwokctl.kube.resource import CONFIG_MAPS, PODS, Resource
from tests.support.stage_documents import stage
from tests.unit.controller.test_run import Story, story, until

STAGES = Resource("kwok.x-k8s.io", "v1alpha1", "stages", "Stage", namespaced=False)
WIDGETS = Resource("example.com", "v1", "widgets", "Widget", namespaced=True)


@asynccontextmanager
async def playing(
    folder: Path, *serves: Resource, before: list[dict[str, Any]] | None = None
) -> AsyncIterator[Story]:
    async with story(folder, "--enable-crds=Stage", serves=(STAGES, *serves), away=True) as at:
        for body in before or []:
            at.cluster.put(STAGES, body)
        at.node("n")
        at.handler.is_away = False
        yield at


def ending(name: str, phase: str = "Running", to: str = "Failed") -> dict[str, Any]:
    return stage(name, phase=phase, template=f"phase: {to}")


def for_widgets(name: str, to: str) -> dict[str, Any]:
    made = stage(name, "Widget", phase=None, template=f"phase: {to}")
    made["spec"]["resourceRef"]["apiGroup"] = "example.com/v1"
    return made


def widget(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "ns"}, "status": {}}


def phase_of(at: Story, name: str) -> object:
    return at.cluster.object(WIDGETS, name, "ns")["status"].get("phase")


async def test_a_stage_that_comes_is_played_on_objects_at_rest(tmp_path: Path) -> None:
    async with playing(tmp_path) as at:
        at.pod("p", "n")
        await until(lambda: at.phase("p") == "Running")

        at.cluster.put(STAGES, ending("ends"))

        await until(lambda: at.phase("p") == "Failed")


async def test_a_files_stage_that_was_replaced_stays_left_out_until_that_is_forgotten(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    other = ending("pod-ready", phase="Pending", to="Unknown")
    async with playing(tmp_path, before=[other]) as at:
        at.pod("p", "n")
        await until(lambda: at.phase("p") == "Unknown")
        assert "stage 'pod-ready' of the cluster is played in place of the file's" in caplog.text
        await until(lambda: remembered(at) == {"pod-ready": "pod-ready"})

        at.cluster.remove(STAGES, "pod-ready")
        await until(lambda: "the file's stage 'pod-ready' stays left out" in caplog.text)
        at.pod("q", "n")
        at.cluster.put(STAGES, ending("ends", to="Succeeded"))
        running(at, "r")
        await until(lambda: at.phase("r") == "Succeeded")
        assert at.phase("q") == "Pending"

        at.cluster.remove(CONFIG_MAPS, "kwokctl-replaced-stages", "kube-system")
        await until(lambda: at.phase("q") == "Succeeded")
        assert "the file's stage 'pod-ready' is played again" in caplog.text


async def test_what_was_replaced_before_is_known_before_anything_is_played(tmp_path: Path) -> None:
    kept = {"metadata": {"name": "kwokctl-replaced-stages", "namespace": "kube-system"}}
    async with story(tmp_path, "--enable-crds=Stage", serves=(STAGES,), away=True) as at:
        at.cluster.put(CONFIG_MAPS, {**kept, "data": {"pod-ready": "gone"}})
        at.cluster.put(STAGES, ending("ends", to="Succeeded"))
        at.node("n")
        at.pod("p", "n")
        running(at, "r")
        at.handler.is_away = False
        await until(lambda: at.phase("r") == "Succeeded")
        assert at.phase("p") == "Pending"


def running(at: Story, name: str) -> None:
    spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    metadata = {"name": name, "namespace": "ns"}
    at.cluster.put(PODS, {"metadata": metadata, "spec": spec, "status": {"phase": "Running"}})


def remembered(at: Story) -> dict[str, str]:
    try:
        found = at.cluster.object(CONFIG_MAPS, "kwokctl-replaced-stages", "kube-system")
    except KeyError:
        return {}
    return dict(found["data"])


async def test_one_that_is_wrong_is_named_and_stops_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = stage("wrong", template="phase: {{ .status.phase")
    odd = {**ending("odd"), "spec": {"resourceRef": {"kind": "Pod"}, "stepz": []}}
    async with playing(tmp_path, before=[wrong, odd, ending("ends")]) as at:
        at.pod("p", "n")
        await until(lambda: at.phase("p") == "Failed")

        def condition(name: str) -> dict[str, Any]:
            status = at.cluster.object(STAGES, name).get("status", {})
            [found] = status.get("conditions") or [{}]
            return dict(found)

        await until(lambda: condition("wrong").get("status") == "False")
        await until(lambda: condition("odd").get("status") == "False")
        assert "'spec.steps[0].patch.template' cannot be compiled" in condition("wrong")["message"]
        assert "stage 'odd' of the cluster is left out: 'spec' is wrong" in caplog.text
        assert "status" not in at.cluster.object(STAGES, "ends")

        right = ending("wrong")
        status = at.cluster.object(STAGES, "wrong")["status"]
        at.cluster.put(STAGES, {**right, "status": status})

        await until(lambda: condition("wrong").get("status") == "True")
        assert condition("wrong")["reason"] == "Valid"


async def test_a_kind_is_followed_from_its_first_stage_to_its_last(tmp_path: Path) -> None:
    async with playing(tmp_path, WIDGETS) as at:
        at.cluster.put(WIDGETS, widget("a"))
        at.cluster.put(STAGES, for_widgets("first", "One"))
        await until(lambda: phase_of(at, "a") == "One")
        assert 'kwok_controller_objects{kind="Widget"} 1' in await at.ask("/metrics")

        at.cluster.remove(STAGES, "first")
        while 'kind="Widget"' in await at.ask("/metrics"):
            pass
        at.cluster.put(WIDGETS, widget("b"))
        at.cluster.put(STAGES, for_widgets("second", "Two"))

        await until(lambda: phase_of(at, "b") == "Two")


async def test_a_kind_that_the_cluster_begins_to_serve_later_is_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with playing(tmp_path, before=[for_widgets("first", "One")]) as at:
        at.pod("p", "n")
        await until(lambda: at.phase("p") == "Running")
        at.cluster.put(WIDGETS, widget("a"))
        at.handler.served.append(WIDGETS)
        await until(lambda: phase_of(at, "a") == "One")

        at.handler.stop_serving(WIDGETS)
        at.cluster.remove(WIDGETS, "a", "ns")
        while 'kind="Widget"' in await at.ask("/metrics"):
            pass
        at.cluster.put(WIDGETS, widget("b"))
        at.handler.served.append(WIDGETS)

        await until(lambda: phase_of(at, "b") == "One")
        assert "Traceback" not in caplog.text


async def test_without_their_definition_the_files_stages_are_played(tmp_path: Path) -> None:
    async with story(tmp_path, "--enable-crds=Stage") as at:
        at.node("n")
        at.pod("p", "n")
        await until(lambda: at.phase("p") == "Running")
        at.handler.served.append(STAGES)
        at.cluster.put(STAGES, ending("ends"))
        await until(lambda: at.phase("p") == "Failed")

        at.handler.stop_serving(STAGES)
        at.cluster.remove(STAGES, "ends")

        while "ends" in await stages_of(at):
            pass


async def stages_of(at: Story) -> list[str]:
    """Return the names of the Stages that `scale` gets."""
    found = msgspec.json.decode(await at.ask("/stages"), type=PlayedStages)
    return [body["metadata"]["name"] for body in found.stages]


async def test_scale_sees_another_generation_at_once(tmp_path: Path) -> None:
    async with playing(tmp_path) as at:
        at.pod("p", "n")
        await until(lambda: at.phase("p") == "Running")
        before = await at.ask("/stages/generation")

        at.cluster.put(STAGES, for_widgets("other", "One"))
        at.cluster.put(STAGES, ending("ends"))
        await until(lambda: at.phase("p") == "Failed")
        after = await at.ask("/stages/generation")
        assert after != before

        at.cluster.change(STAGES, "ends", metadata={"annotations": {"a": "b"}})
        at.cluster.remove(STAGES, "ends")
        while await at.ask("/stages/generation") == after:
            pass
        assert await at.ask("/stages/generation") == before


async def test_the_objects_of_a_kind_that_is_not_served_do_not_delay_readiness(
    tmp_path: Path,
) -> None:
    async with playing(tmp_path, before=[for_widgets("first", "One")]) as at:
        while await at.ask("/readyz") != "ok":
            pass
        assert (PODS.plural, "ns", "p") not in at.cluster.objects

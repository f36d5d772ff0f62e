"""Shipped Stages in the language of the original controller (kwok 0.7, pkg/kwok/controllers)."""

from collections.abc import Mapping

import pytest

from kwokctl.components.heartbeat import usual_heartbeat
from kwokctl.components.stage_language import is_portable, portable
from kwokctl.components.stage_sets import documents_of, shipped_sets
from kwokctl.config.config_documents import Document
from kwokctl.controller.stages.compiled_stage import PatchStep, Stage
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.json_value import Json

FOR_ALL = {"Now", "StartTime", "Version", "NodeConditions"}
FOR = {
    "Node": FOR_ALL | {"NodeIP", "NodeName", "NodePort"},
    "Pod": FOR_ALL | {"NodeIP", "NodeIPWith", "PodIP", "PodIPWith"},
}


PORTABLE = [name for name in shipped_sets() if name != "volume-fast"]


def bodies(name: str) -> list[dict[str, Json]]:
    return documents_of([shipped_sets()[name]], (), usual_heartbeat(40))


def read(body: Mapping[str, Json]) -> Stage:
    name = body["metadata"]["name"]
    document = Document(kind="Stage", api_version="", name=name, body=dict(body), source=name)
    [stage] = read_stages([document])
    return stage


@pytest.mark.parametrize("name", PORTABLE)
def test_a_set_calls_no_function_that_the_original_lacks(name: str) -> None:
    for body in bodies(name):
        stage = read(portable(body))
        known = FOR.get(stage.kind.name, FOR_ALL)
        for step in stage.steps:
            if isinstance(step, PatchStep):
                assert set(step.template.required) <= known, stage.name


@pytest.mark.parametrize("name", PORTABLE)
def test_a_set_does_the_same_in_the_old_spelling(name: str) -> None:
    for body in bodies(name):
        before, after = read(body), read(portable(body))

        assert "steps" not in portable(body)["spec"]
        assert [type(step) for step in after.steps] == [type(step) for step in before.steps]
        assert (after.delay, after.weight) == (before.delay, before.weight)


def test_stages_that_apply_objects_are_not_for_every_release() -> None:
    assert {body["metadata"]["name"] for body in bodies("volume-fast") if not is_portable(body)} == {
        "pvc-provision", "pvc-expand", "pvc-delete",
    }  # fmt: skip
    assert all(is_portable(body) for name in PORTABLE for body in bodies(name))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{{ Quote (ContainerID $uid .name) }}", '{{ Quote ("") }}'),
        ('{{ UUIDFor "machine" $name | replace "-" "" }}', '{{ "" | replace "-" "" }}'),
        ("{{ $has := not KubeletAddress }}", '{{ $has := not "" }}'),
        ("{{ with NodeIPsWith $spec.nodeName }}", "{{ with list (NodeIPWith $spec.nodeName) }}"),
        (
            '{{ with PodIPsWith $n (or $h false) $uid (or $m.name "") }}',
            '{{ with list (PodIPWith $n (or $h false) $uid (or $m.name "")) }}',
        ),
        ("{{ NodeIPWith .x }}", "{{ NodeIPWith .x }}"),
    ],
)
def test_calls_are_replaced_with_their_arguments(before: str, after: str) -> None:
    stage = {"spec": {"weight": 1, "steps": [{"patch": {"root": "status", "template": before}}]}}

    assert portable(stage) == {
        "spec": {"weight": 1, "next": {"patches": [{"root": "status", "template": after}]}}
    }

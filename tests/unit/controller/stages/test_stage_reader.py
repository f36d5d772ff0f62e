""""""

from typing import Any

import pytest

from kwokctl.controller.stages.compiled_stage import (
    ApplyStep,
    DeleteStep,
    EventStep,
    FinalizersStep,
    Kind,
    PatchStep,
)
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.errors import ConfigError
from kwokctl.kube.client import PatchType
from tests.support.stage_bodies import document, read, spec


def test_a_stage_without_delay_and_weight_is_immediate() -> None:
    stage = read(spec())

    assert stage.kind == Kind("v1", "Pod")
    assert stage.delay is None
    assert stage.weight == 0
    assert stage.steps == (DeleteStep(),)
    assert stage.matches({})


def test_a_stage_without_selector_matches_nothing() -> None:
    assert not read({"resourceRef": {"kind": "Pod"}, "steps": [{"delete": True}]}).matches({})


def test_milliseconds_become_seconds() -> None:
    stage = read(spec(delay={"durationMilliseconds": 20_000, "jitterDurationMilliseconds": 25_000}))

    assert stage.delay is not None
    assert (stage.delay.base, stage.delay.bound) == (20.0, 25.0)


def test_steps_come_in_the_order_event_finalizers_delete_patch_apply() -> None:
    step = {
        "apply": {"template": "{}"},
        "patch": {"template": "{}"},
        "finalizers": {"add": [{"value": "f"}], "remove": [{"value": "g"}]},
        "event": {"type": "Normal", "reason": "R", "message": "M"},
    }

    steps = read(spec(steps=[step])).steps

    assert [type(one) for one in steps] == [EventStep, FinalizersStep, PatchStep, ApplyStep]
    assert steps[1] == FinalizersStep(add=("f",), remove=("g",), empty=False)


def test_after_a_delete_only_events_are_left() -> None:
    steps = [
        {"delete": True, "patch": {"template": "{}"}},
        {"event": {"reason": "late"}, "finalizers": {"empty": True}},
    ]

    assert [type(one) for one in read(spec(steps=steps)).steps] == [DeleteStep, EventStep]


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("Pod", None, PatchType.STRATEGIC),
        ("Node", None, PatchType.STRATEGIC),
        ("ConfigMap", None, PatchType.MERGE),
        ("Pod", "merge", PatchType.MERGE),
        ("ConfigMap", "json", PatchType.JSON),
    ],
)
def test_nodes_and_pods_are_patched_strategically_unless_the_stage_says_otherwise(
    kind: str, given: str | None, expected: PatchType
) -> None:
    patch = {"template": "{}", **({"type": given} if given else {})}

    (step,) = read(spec(kind, steps=[{"patch": patch}])).steps

    assert isinstance(step, PatchStep)
    assert step.type is expected


def test_a_pod_of_another_group_is_no_core_pod() -> None:
    body = spec(steps=[{"patch": {"template": "{}"}}])
    body["resourceRef"] = {"apiGroup": "example.com/v1", "kind": "Pod"}

    (step,) = read(body).steps

    assert isinstance(step, PatchStep)
    assert step.type is PatchType.MERGE


def test_an_apply_is_server_side_unless_the_stage_says_otherwise() -> None:
    applies = [{"apply": {"template": "{}"}}, {"apply": {"template": "{}", "type": "merge"}}]

    steps = read(spec(steps=applies)).steps

    assert [step.type for step in steps if isinstance(step, ApplyStep)] == [
        PatchType.APPLY,
        PatchType.MERGE,
    ]


def test_a_username_is_kept_for_the_write() -> None:
    patch = {"template": "{}", "impersonation": {"username": "somebody"}}

    (step,) = read(spec(steps=[{"patch": patch}])).steps

    assert isinstance(step, PatchStep)
    assert step.as_user == "somebody"


def test_the_old_spelling_of_steps_is_converted_in_its_own_order() -> None:
    stage = read(
        {
            "resourceRef": {"kind": "Pod"},
            "selector": {},
            "next": {
                "delete": True,
                "statusTemplate": "phase: Running",
                "statusPatchAs": {"username": "u"},
                "finalizers": {"empty": True},
                "event": {"reason": "R"},
            },
        }
    )

    assert [type(one) for one in stage.steps] == [EventStep, FinalizersStep, PatchStep, DeleteStep]
    patch = stage.steps[2]
    assert isinstance(patch, PatchStep)
    assert (patch.root, patch.subresource, patch.as_user) == ("status", "status", "u")


def test_old_patches_replace_the_old_status_template() -> None:
    patches = [{"template": "a: 1"}, {"template": "b: 2", "subresource": "status"}]

    stage = read(
        {
            "resourceRef": {"kind": "Pod"},
            "next": {"patches": patches, "statusTemplate": "phase: X", "statusSubresource": "s"},
        }
    )

    subresources = [step.subresource for step in stage.steps if isinstance(step, PatchStep)]
    assert subresources == ["", "status"]


def test_the_old_spelling_of_conditions_and_sources_is_understood() -> None:
    condition = {"key": ".a", "operator": "In", "values": ["x"]}
    stage = read(
        spec(
            selector={"matchExpressions": [condition]},
            weightFrom={"expressionFrom": ".weight"},
            delay={"durationFrom": {"expressionFrom": ".d"}},
        )
    )

    assert stage.matches({"a": "x"})
    assert not stage.matches({"a": "y"})
    assert stage.weight_from is not None
    assert list(stage.weight_from.values({"weight": "3"})) == ["3"]


def test_the_last_document_of_a_name_counts() -> None:
    stages = read_stages(
        [document(spec()), document(spec("Node"), name="n"), document(spec("Job"))]
    )

    assert [(stage.name, stage.kind.name) for stage in stages] == [("s", "Job"), ("n", "Node")]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (spec(delays={}), ["spec", "delays"]),
        (spec(delay={"durationMillis": 1}), ["spec.delay", "durationMillis"]),
        (spec(weight="heavy"), ["spec.weight"]),
        (spec(steps=[]), ["spec.steps", "empty"]),
        (spec(steps=[{"patch": {}}]), ["spec.steps[0].patch", "template"]),
        ({"selector": {}}, ["spec", "resourceRef"]),
        (
            spec(selector={"matchExpressions": [{"key": ".a", "operator": "In"}]}),
            ["spec.selector.matchExpressions[0].values", "must not be empty"],
        ),
        (
            spec(
                selector={
                    "matchExpressions": [
                        {"jq": {"key": ".a", "operator": "Exists", "values": ["x"]}}
                    ]
                }
            ),
            ["spec.selector.matchExpressions[0].jq.values", "must be empty"],
        ),
        (
            spec(selector={"matchExpressions": [{"jq": {"key": ".a[", "operator": "Exists"}}]}),
            ["spec.selector.matchExpressions[0].jq.key", "cannot be compiled"],
        ),
        (
            spec(steps=[{"patch": {"template": "{{ if }}"}}]),
            ["spec.steps[0].patch.template", "cannot be compiled"],
        ),
        (
            spec(steps=[{"patch": {"template": "a: {{ Nwo }} {{ PodIP }}"}}]),
            ["spec.steps[0].patch.template", "not a function for a Pod: Nwo (line 1, column 7)"],
        ),
        (
            spec("Node", steps=[{"apply": {"template": "a: {{ PodIP }}"}}]),
            ["spec.steps[0].apply.template", "not a function for a Node: PodIP"],
        ),
        (
            spec(steps=[], next={"statusTemplate": "a: b\nc: {{ if }}"}),
            ["spec.next.statusTemplate", "line 2, column 10"],
        ),
        (
            spec(steps=[], next={"patches": [{"template": "a"}, {"template": "{{ if }}"}]}),
            ["spec.next.patches[1].template", "line 1, column 7"],
        ),
    ],
)
def test_a_wrong_stage_is_named_with_file_and_field(body: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        read(body)

    for word in ["f.yaml, document 1", "'s'", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize("word", ["..", "apps/", "/v1", "a/b/v1", "Apps/v1", "v1 "])
def test_an_api_group_that_cannot_be_one_is_refused(word: str) -> None:
    wrong = spec(resourceRef={"kind": "Widget", "apiGroup": word})

    with pytest.raises(
        ConfigError, match=r"'spec.resourceRef.apiGroup' is '.*', neither a version"
    ):
        read(wrong)


def test_what_is_nested_too_deeply_is_refused_by_its_place() -> None:
    deep = "{{" + "(" * 5000 + ".a" + ")" * 5000 + "}}"

    with pytest.raises(ConfigError, match=r"'spec.steps\[0\].patch.template' is nested too deeply"):
        read(spec(steps=[{"patch": {"template": deep}}]))

"""Expressions of CEL in Stages: where one is wrong, and what it is worth."""

from random import Random
from typing import Any

import pytest

from kwokctl.controller.stages.stage_choice import basis, seconds
from kwokctl.controller.stages.stage_places import FieldEvaluationError
from kwokctl.errors import ConfigError
from tests.support.stage_bodies import read, spec


def matching(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"selector": {"matchExpressions": list(conditions)}}


def cel(expression: str) -> dict[str, Any]:
    return {"cel": {"expression": expression}}


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"selector": {"matchExpressions": [cel("self.kind")]}}, "selector.matchExpressions[0]"),
        ({"weightFrom": cel("self.kind")}, "weightFrom"),
        ({"delay": {"durationFrom": cel("self.kind")}}, "delay.durationFrom"),
        ({"delay": {"jitterDurationFrom": cel("self.kind")}}, "delay.jitterDurationFrom"),
    ],
)
def test_a_wrong_expression_in_cel_is_named_with_its_place(
    fields: dict[str, Any], place: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read(spec(**fields))

    said = str(caught.value)
    assert said.startswith(f"f.yaml, document 1: stage 's': 'spec.{place}.cel.expression' cannot")
    assert said.endswith("a Pod has no field 'kind', at line 1, column 5")


@pytest.mark.parametrize(
    "fields",
    [
        {"selector": {"matchExpressions": [cel("self.metadata.name")]}},
        {"weightFrom": cel("'1'")},
        {"delay": {"durationFrom": cel("self.metadata.creationTimestamp")}},
        {"delay": {"jitterDurationFrom": cel("true")}},
    ],
)
def test_an_expression_in_cel_that_never_gives_what_is_wanted_is_refused(
    fields: dict[str, Any],
) -> None:
    with pytest.raises(
        ConfigError,
        match=r"stage 's': 'spec\..*cel.expression' cannot be compiled: it gives a value of",
    ):
        read(spec(**fields))


def test_self_has_types_for_nodes_and_pods_and_is_plain_data_for_other_kinds() -> None:
    kind = {"matchExpressions": [cel("self.kind == 'Job'")]}
    job = spec(selector=kind) | {"resourceRef": {"apiGroup": "batch/v1", "kind": "Job"}}
    node = {"matchExpressions": [cel("self.spec.providerID == ''")]}

    assert read(job).matches({"kind": "Job"})
    assert read(spec("Node", selector=node)).matches({})
    with pytest.raises(ConfigError, match="a Pod has no field"):
        read(spec(selector=kind))


def test_conditions_in_jq_and_in_cel_must_all_hold() -> None:
    jq = {"jq": {"key": ".metadata.name", "operator": "In", "values": ["a"]}}
    running = cel("self.status.phase == 'Running'")
    stage = read(spec(selector={"matchExpressions": [jq, running]}))

    assert stage.matches({"metadata": {"name": "a"}, "status": {"phase": "Running"}})
    assert not stage.matches({"metadata": {"name": "a"}})
    assert not stage.matches({"metadata": {"name": "b"}, "status": {"phase": "Running"}})


@pytest.mark.parametrize(
    ("expression", "weight"),
    [
        ("self.spec.containers.size() * 2", 2),
        ("7.9", 7),
        ("true", 1),
        ("3u", 3),
        ("duration('1s')", 10**9),
        ("int(self.metadata.annotations['w'])", 5),
    ],
)
def test_a_weight_in_cel_is_a_number(expression: str, weight: int) -> None:
    stage = read(spec(weightFrom=cel(expression)))
    pod = {"metadata": {"annotations": {"w": "5"}}, "spec": {"containers": [{}]}}

    assert basis([stage, stage], pod).weights == (weight, weight)


@pytest.mark.parametrize(
    ("fields", "delay"),
    [
        ({"durationFrom": cel("duration('1m30s')")}, 90.0),
        ({"durationFrom": cel("self.metadata.annotations['delay']")}, 5.0),
        ({"durationFrom": cel("2000000000")}, 2.0),
        ({"durationFrom": cel("1.5e9")}, 1.5),
        ({"durationFrom": cel("duration('-1s')")}, 0.0),
        ({"durationFrom": cel("'soon'"), "durationMilliseconds": 9000}, 0.0),
        (
            {"durationFrom": cel("self.metadata.annotations['x']"), "durationMilliseconds": 9000},
            0.0,
        ),
        ({"durationMilliseconds": 9000, "jitterDurationFrom": cel("duration('4s')")}, 4.0),
    ],
)
def test_a_delay_in_cel_is_a_duration_and_0_if_it_fails(
    fields: dict[str, Any], delay: float
) -> None:
    stage = read(spec(delay=fields))
    pod = {"metadata": {"annotations": {"delay": "5s"}}}

    assert seconds(stage.delay, pod, 0.0, Random(1)) == delay


def test_the_error_of_a_delay_in_cel_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    stage = read(spec(delay={"durationFrom": cel("self.metadata.annotations['x']")}))

    for _ in range(2):
        assert seconds(stage.delay, {}, 0.0, Random(1)) == 0.0

    [message] = caplog.messages
    assert message == (
        "stage 's' (f.yaml, document 1, spec.delay.durationFrom.cel.expression): "
        "CEL 'self.metadata.annotations['x']': there is no key 'x', at line 1, column 26; "
        "there is no delay then (logged once)"
    )


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("selector.matchExpressions[0]", matching(cel("self.metadata.labels.a == 'b'"))),
        ("selector.matchExpressions[0]", matching(cel("dyn(self.metadata.name)"))),
        ("weightFrom", {"weightFrom": cel("int(self.metadata.labels.a)")}),
        ("weightFrom", {"weightFrom": cel("dyn(self.metadata.name)")}),
        ("weightFrom", {"weightFrom": cel("1.0 / 0.0")}),
    ],
)
def test_no_stage_can_be_chosen_if_a_condition_or_a_weight_in_cel_fails(
    field: str, fields: dict[str, Any]
) -> None:
    stage = read(spec(**fields))

    with pytest.raises(FieldEvaluationError, match=r"^CEL '") as caught:
        basis([read(spec()), stage], {"metadata": {"name": "a"}})

    assert caught.value.field == f"spec.{field}.cel.expression"

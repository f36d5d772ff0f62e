"""Stages that follow each other without delay and without end."""

import pytest

from kwokctl.clusters.stage_tools.linting.circles import circles
from kwokctl.clusters.stage_tools.sources import stage_documents_of
from kwokctl.components.stage_sets import shipped_sets
from kwokctl.controller.stages.stage_reader import read_stages
from tests.support.options import cluster_options
from tests.support.stage_documents import Body, read, stage


def names(*bodies: Body) -> list[list[str]]:
    return [[stage.name for stage in circle] for circle in circles(read(bodies))]


THERE = stage("there", template="phase: Running")
BACK = stage("back", phase="Running", template="phase: Pending")


def test_stages_that_undo_each_other_are_a_circle() -> None:
    assert names(THERE, BACK) == [["there", "back"]]


def test_a_delay_or_an_end_breaks_a_circle() -> None:
    delay = {"durationMilliseconds": 100}
    slow = stage("back", phase="Running", template="phase: Pending", delay=delay)
    end = stage("end", phase="Running", template="phase: Failed")

    assert names(THERE, slow) == []
    assert names(THERE, end) == []
    assert names(THERE, {**BACK, "spec": {**BACK["spec"], "steps": [{"delete": True}]}}) == []


def test_a_delay_too_short_for_rest_breaks_no_circle() -> None:
    delay = {"durationMilliseconds": 1}
    brief = stage("back", phase="Running", template="phase: Pending", delay=delay)

    assert names(THERE, brief) == [["there", "back"]]


def test_a_stage_that_waits_besides_those_of_a_circle_is_its_way_out() -> None:
    delay = {"durationMilliseconds": 900}
    out = stage("out", phase="Running", template="phase: Failed", delay=delay)

    assert names(THERE, BACK, out) == []


def test_a_stage_without_weight_is_never_part_of_a_circle_that_others_leave() -> None:
    heavy = stage("heavy", phase="Running", template="phase: Failed", weight=1)

    assert names(THERE, BACK, heavy) == []


@pytest.mark.parametrize(
    "template",
    [
        "message: {{ Quote Now }}",
        "message: {{ uuidv4 }}",
        'message: {{ Quote (printf "%s+" .status.message) }}',
    ],
)
def test_a_stage_that_matches_its_own_result_is_a_circle(template: str) -> None:
    assert names(stage("self", template=template)) == [["self"]]


def test_a_stage_that_changes_nothing_the_second_time_is_no_circle() -> None:
    assert names(stage("self", template="message: the same")) == []
    again = stage(
        "self",
        template="message: the same",
        delay={"durationMilliseconds": 0},
        immediateNextStage=True,
    )
    assert names(again) == [["self"]]


def test_times_of_a_nodes_conditions_alone_are_no_change_of_them() -> None:
    selector = {
        "matchExpressions": [
            {
                "jq": {
                    "key": '.status.conditions.[] | select(.type == "Special") | .status',
                    "operator": "In",
                    "values": ["True"],
                }
            }
        ]
    }
    times = 'conditions: [{type: Special, status: "True", lastTransitionTime: {{ Quote Now }}}]'
    beats = "conditions: [{type: Special, lastHeartbeatTime: {{ Quote Now }}}]"

    found = stage("a", "Node", phase=None, selector=selector, template=times)
    assert names(found) == []
    assert names(stage("a", "Node", phase=None, selector=selector, template=beats)) == [["a"]]


def test_finalizers_and_custom_resources_can_go_in_circles() -> None:
    add, remove = (
        stage(
            name,
            "Widget",
            phase=None,
            selector={
                "matchExpressions": [
                    {"jq": {"key": ".metadata.finalizers.[]", "operator": operator}}
                ]
            },
            steps=[{"finalizers": steps}],
        )
        for name, operator, steps in (
            ("add", "DoesNotExist", {"add": [{"value": "a/b"}]}),
            ("remove", "Exists", {"empty": True}),
        )
    )

    assert names(add, remove) == [["add", "remove"]]
    assert names(add) == []


def test_a_template_that_fails_ends_the_search() -> None:
    assert names(stage("self", template="{{ fail `no` }}")) == []


def test_a_long_chain_without_delay_is_a_circle_only_if_it_repeats_a_stage() -> None:
    chain = [stage(f"s{n}", phase=f"p{n}", template=f"phase: p{n + 1}") for n in range(20)]

    assert names(*chain) == []


def test_the_shipped_sets_have_no_circle() -> None:
    stages = read_stages(stage_documents_of(list(shipped_sets()), cluster_options()))

    assert circles(stages) == []

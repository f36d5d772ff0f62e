from typing import Any

import pytest

from kwokctl.clusters.stage_tools.explain import StageVerdict, as_tested, explain
from kwokctl.clusters.stage_tools.functions import stub_functions
from kwokctl.clusters.stage_tools.sources import documents_from
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.expr import yaml

NOW = 1_767_225_600.0  # 2026-01-01


def verdicts(spec: str, value: dict[str, Any]) -> list[StageVerdict]:
    body = {"kind": "Stage", "metadata": {"name": "stage"}, "spec": yaml.load(spec)}
    stages = read_stages(documents_from([body], "stages.yaml"))
    return explain(stages, value, stub_functions(), NOW)


def pod(**metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default", **metadata},
        "spec": {"nodeName": "node-1"},
        "status": {"phase": "Running"},
    }


def broken(selector: str, value: dict[str, Any]) -> str:
    [found] = verdicts(
        f"{{resourceRef: {{kind: Pod}}, {selector} steps: [{{delete: true}}]}}", value
    )
    return found.broken_rule


def test_a_number_of_an_object_equals_no_text_and_the_remedy_is_shown() -> None:
    rule = "selector: {matchExpressions: [{jq: {key: '%s', operator: %s, values: ['0', '1']}}]},"
    value = pod() | {"status": {"containerStatuses": [{"restartCount": 0}]}}
    count = ".status.containerStatuses[0].restartCount"

    assert broken(rule % (count, "In"), value) == (
        f"{count} is the number 0, and must be one of 0, 1, which are texts; "
        "append '| tostring' to the expression"
    )
    assert broken(rule % (f"{count} | tostring", "In"), value) == ""
    assert "tostring" not in broken(rule % (".status.phase", "In"), value)
    assert "tostring" not in broken(rule % (f"[{count}, 7, 8] | length", "In"), value)


@pytest.mark.parametrize("text", ["120", "1d", "soon"])
def test_a_delay_that_an_object_gives_and_is_none_is_named(text: str) -> None:
    spec = (
        "{resourceRef: {kind: Pod}, selector: {}, steps: [{delete: true}], delay: "
        "{durationMilliseconds: 7000, durationFrom: {expressionFrom: .metadata.annotations.delay}}}"
    )

    [found] = verdicts(spec, pod(annotations={"delay": text}))
    assert found.delay == (7_000_000_000, 7_000_000_000)
    [remark] = found.remarks
    assert remark.startswith("stage 'stage' (")
    assert f"spec.delay.durationFrom) finds '{text}', which is neither a duration" in remark
    for sound in ("2m", "", "2026-01-01T00:00:00Z"):
        assert verdicts(spec, pod(annotations={"delay": sound}))[0].remarks == ()
    assert verdicts(spec, pod())[0].remarks == ()


def test_the_first_rule_that_does_not_hold_is_shown() -> None:
    def jq(rule: str) -> str:
        return broken(f"selector: {{matchExpressions: [{{jq: {{{rule}}}}}]}},", pod())

    assert broken("", pod()) == "it has no selector"
    assert (
        broken("selector: {matchLabels: {a: b}},", pod(labels={"a": "c"}))
        == "label 'a' is 'c', and must be 'b'"
    )
    assert (
        broken("selector: {matchAnnotations: {a: b}},", pod())
        == "annotation 'a' is not there, and must be 'b'"
    )
    assert (
        jq("key: .status.phase, operator: In, values: [Failed, Pending]")
        == ".status.phase is 'Running', and must be one of Failed, Pending"
    )
    assert (
        jq("key: .status.phase, operator: NotIn, values: [Running]")
        == ".status.phase is 'Running', and must be none of Running"
    )
    assert jq("key: .x, operator: Exists") == ".x is not there, and must be there"
    assert jq("key: .kind.x, operator: Exists") == (
        ".kind.x is not there (jq '.kind.x': cannot take the field 'x' of the text 'Pod'), "
        "and must be there"
    )
    assert (
        jq("key: .status.phase, operator: DoesNotExist")
        == ".status.phase is 'Running', and must not be there"
    )
    assert jq("key: .status.phase, operator: Exists") == ""


def test_a_condition_in_cel_is_shown_as_it_is_written() -> None:
    def cel(expression: str) -> str:
        return broken(
            f"selector: {{matchExpressions: [{{cel: {{expression: {expression}}}}}]}},", pod()
        )

    assert cel("self.status.phase == 'Running'") == ""
    assert cel("self.status.phase == 'Failed'") == "self.status.phase == 'Failed' is false"
    assert "self.metadata.labels['x']" in cel("\"self.metadata.labels['x'] == 'y'\"")


def test_a_stage_that_matches_is_shown_with_probability_delay_and_effect() -> None:
    spec = """
    resourceRef: {kind: Pod}
    selector: {matchLabels: {}}
    weight: 3
    weightFrom: {jq: {expression: '.metadata.annotations["weight"]'}}
    delay:
      durationMilliseconds: 1000
      jitterDurationFrom: {jq: {expression: '.metadata.annotations["until"]'}}
    immediateNextStage: true
    steps:
    - event: {type: Normal, reason: A, message: b}
    - finalizers: {add: [{value: x/y}], remove: [{value: a/b}]}
    - patch:
        subresource: status
        root: status
        impersonation: {username: me}
        template: |
          at: {{ Now }}
          node: {{ Quote (NodeIPWith .spec.nodeName) }}
          ips: {{ toJson (NodeIPsWith .spec.nodeName) }}
    - apply:
        template: |
          {apiVersion: v1, kind: ConfigMap, metadata: {name: {{ .metadata.name }}}}
    """
    value = pod(finalizers=["a/b"], annotations={"weight": "7", "until": "2026-01-01T00:00:05.5Z"})

    found = as_tested(value, verdicts(spec, value))

    stage = found["stages"][0]
    assert (found["kind"], found["name"], found["namespace"]) == ("Pod", "web", "default")
    assert (stage["stage"], stage["weight"]) == ("stage", 7)
    assert stage["delay"] == [1_000_000_000, 5_500_000_000]
    event, finalizers, patch, apply, immediate = stage["next"]
    assert event == {"kind": "event", "type": "Normal", "reason": "A", "message": "b"}
    assert finalizers["data"] == {"metadata": {"finalizers": ["x/y"]}}
    assert patch == {
        "kind": "patch",
        "type": "application/strategic-merge-patch+json",
        "subresource": "status",
        "impersonation": "me",
        "data": {
            "status": {
                "at": "<Now>",
                "node": '<NodeIPWith("node-1")>',
                "ips": ['<0 of NodeIPsWith("node-1")>', '<1 of NodeIPsWith("node-1")>'],
            }
        },
    }
    assert apply["data"]["kind"] == "ConfigMap"
    assert immediate == {"kind": "immediate"}


def test_a_weight_that_cannot_be_read_is_left_out() -> None:
    spec = """
    resourceRef: {kind: Pod}
    selector: {matchLabels: {}}
    weightFrom: {jq: {expression: '"much"'}}
    steps: [{delete: true}]
    """

    [stage] = as_tested(pod(), verdicts(spec, pod()))["stages"]

    assert "weight" not in stage
    assert stage["delay"] == [0, 0]


def test_a_template_that_fails_is_an_error_of_its_stage_alone() -> None:
    spec = """
    resourceRef: {kind: Pod}
    selector: {matchLabels: {}}
    weight: 3
    steps: [{patch: {template: "{{ fail `no` }}"}}]
    """

    found = verdicts(spec, pod())

    assert [(each.weight, each.next) for each in found] == [(3, ())]
    [stage] = as_tested(pod(), found)["stages"]
    assert stage["error"].startswith("template 'stage', line 1, column 4: no")
    assert "next" not in stage


def test_an_expression_that_takes_too_long_is_named() -> None:
    selecting = "selector: {matchExpressions: [{jq: {key: '[range(1e12)]', operator: Exists}}]},"
    [delayed] = verdicts(
        "{resourceRef: {kind: Pod}, selector: {}, delay: {durationFrom: {jq: {expression: 'range(1e12) | empty'}}},"
        " steps: [{delete: true}]}",
        pod(),
    )
    [rendered] = verdicts(
        "{resourceRef: {kind: Pod}, selector: {}, steps: [{patch: {subresource: status, root: status, template: "
        "'{{ range until 1000000 }}{{ range until 1000000 }}{{ end }}{{ end }}'}}]}",
        pod(),
    )

    too_much = "it takes more than 100,000 steps"
    assert broken(selecting, pod()) == f"jq '[range(1e12)]': {too_much}"
    assert delayed.broken_rule == f"jq 'range(1e12) | empty': {too_much}"
    assert rendered.error == f"template 'stage', line 1, column 10: {too_much}"

"""Findings of `stage lint`, with their lines."""

from pathlib import Path

import pytest

from kwokctl.clusters.stage_tools.linting.lint import lint
from kwokctl.errors import NotFoundError
from tests.support.linted_stages import HEAD, PHASE, findings, selecting


def test_a_stage_for_a_status_that_nothing_gives_is_reported(tmp_path: Path) -> None:
    waiting = "jq: {key: '.status.containerStatuses.[].state.waiting.reason', operator: In, values: [Lost]}"

    for rule in (
        PHASE % "Nirvana",
        waiting,
        """cel: {expression: "self.status.phase == 'Nirvana'"}""",
    ):
        [found] = findings(tmp_path, selecting(rule))

        assert found.startswith("5 s0 spec.selector matches a status that neither these Stages")


@pytest.mark.parametrize(
    "rule",
    [
        PHASE % "Unknown",
        "jq: {key: '.status.phase | length', operator: In, values: ['3']}",
        "jq: {key: '.status.conditions.[].type', operator: In, values: [Nirvana]}",
        "jq: {key: '.status.conditions.[].reason', operator: In, values: [NodeStatusUnknown]}",
        "jq: {key: '.status.containerStatuses.[].state.terminated.reason', operator: In, values: [Error]}",
        "jq: {key: .metadata.deletionTimestamp, operator: Exists}",
    ],
)
def test_what_other_clients_and_shipped_stages_give_is_reached(tmp_path: Path, rule: str) -> None:
    assert findings(tmp_path, selecting(rule)) == []


def test_a_status_that_another_stage_of_the_files_gives_is_reached(tmp_path: Path) -> None:
    there = selecting(PHASE % "Running").replace(
        "{delete: true}", "{patch: {subresource: status, root: status, template: 'phase: Nirvana'}}"
    )

    assert findings(tmp_path, there, selecting(PHASE % "Nirvana")) == []


def test_every_unknown_field_is_reported_with_its_line(tmp_path: Path) -> None:
    stage = "selecter: {}\nselector: {matchLabels: {}}\nsteps:\n- delete: true\n  patchh: {}"

    first, second = findings(tmp_path, stage)

    assert first == "5 s0 spec.selecter is not a field of a Stage; did you mean 'selector'?"
    assert second.startswith("9 s0 spec.steps[0].patchh is not a field of a Stage; did you mean")


def test_compile_errors_are_reported_for_each_stage(tmp_path: Path) -> None:
    wrong = selecting("jq: {key: '.a |', operator: Exists}")

    found = findings(tmp_path, wrong, "selector: {}\nsteps:\n- patch:\n    template: '{{ if }}'")

    assert [line.split(" cannot")[0] for line in found] == [
        "7 s0 spec.selector.matchExpressions[0].jq.key",
        "17 s1 spec.steps[0].patch.template",
    ]


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{ regexMatch `(?=a)` `b` }}", "line 1, column 4: '(?=a)' is not a regular expression"),
        ("a: b: c", "the output of template 's0' is not YAML"),
        ("- a", "a patch rendered something that is not a mapping"),
    ],
)
def test_a_template_that_fails_on_all_examples_is_a_warning(
    tmp_path: Path, template: str, problem: str
) -> None:
    [found] = findings(tmp_path, f'selector: {{}}\nsteps:\n- patch:\n    template: "{template}"')

    assert found.startswith("8 s0 spec.steps[0].patch.template fails on an example: ")
    assert problem in found


def test_a_template_that_can_be_rendered_for_some_object_is_not_reported(tmp_path: Path) -> None:
    template = "{{ if not .spec.initContainers }}{{ fail `no` }}{{ end }}ip: {{ PodIP }}"

    assert findings(tmp_path, f'selector: {{}}\nsteps:\n- patch:\n    template: "{template}"') == []


def patching(template: str, **fields: str) -> str:
    more = "".join(f"    {name}: {value}\n" for name, value in fields.items())
    return f'selector: {{}}\nsteps:\n- patch:\n    subresource: status\n{more}    template: "{template}"'


ADD = "[{op: add, path: /%sreason, value: a}]"


@pytest.mark.parametrize(
    ("template", "fields", "problem"),
    [
        ("conditions: []", {}, "changes nothing: its result has no 'status'; 'root: status'"),
        ("conditions: []", {"type": "merge"}, "changes nothing: its result has no 'status'"),
        (ADD % "", {"type": "json"}, "changes nothing: its result has no path in '/status'"),
        ("status: {phase: a}", {"root": "status"}, "renders a 'status' within the status"),
        (
            "phse: a",
            {"root": "status"},
            "renders 'phse', which the status of a Pod does not have; did you",
        ),
        ("status: {phse: a}", {}, "renders 'phse', which the status of a Pod does not have"),
    ],
)
def test_a_patch_of_a_status_that_changes_none_is_a_warning(
    tmp_path: Path, template: str, fields: dict[str, str], problem: str
) -> None:
    [found] = findings(tmp_path, patching(template, **fields))

    assert found.partition(" s0 ")[2].startswith(f"spec.steps[0].patch.template {problem}")


@pytest.mark.parametrize(
    ("template", "fields"),
    [
        ("status: {phase: a}", {}),
        ("phase: a", {"root": "status"}),
        ("phase: a", {"root": "status", "type": "merge"}),
        ("", {"root": "status"}),
        (ADD % "status/", {"type": "json"}),
        (ADD % "", {"type": "json", "root": "status"}),
        ("{{ if .spec.initContainers }}status: {}{{ else }}phase: a{{ end }}", {}),
    ],
)
def test_a_patch_of_a_status_that_may_change_it_is_not_reported(
    tmp_path: Path, template: str, fields: dict[str, str]
) -> None:
    assert findings(tmp_path, patching(template, **fields)) == []


def test_the_status_of_a_kind_that_is_not_known_may_have_any_field(tmp_path: Path) -> None:
    head = HEAD.replace("{kind: Pod}", "{apiGroup: example.com/v1, kind: Widget}") % "s0"
    body = patching("spinning: true", root="status").splitlines()
    file = tmp_path / "stages.yaml"
    file.write_text(head + "".join(f"  {line}\n" for line in body))

    assert lint([str(file)]) == []


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("'\"1d\"'", "'1d'"),
        ("'\"120\"'", "'120'"),
        (".spec.containers | length", "the value 1"),
        (".spec", "the value {"),
    ],
)
def test_a_delay_that_is_none_is_a_warning(tmp_path: Path, expression: str, what: str) -> None:
    delay = f"delay: {{durationFrom: {{expressionFrom: {expression}}}}}"

    [found] = findings(tmp_path, f"selector: {{}}\n{delay}\nsteps: [{{delete: true}}]")
    assert found.startswith(f"6 s0 spec.delay.durationFrom finds {what}")
    assert "neither a duration" in found


@pytest.mark.parametrize(
    "expression",
    [".metadata.annotations.delay", ".metadata.deletionTimestamp", "'\"90s\"'", ".metadata.name"],
)
def test_a_delay_that_may_be_one_is_not_reported(tmp_path: Path, expression: str) -> None:
    delay = f"delay: {{durationFrom: {{expressionFrom: {expression}}}}}"

    assert findings(tmp_path, f"selector: {{}}\n{delay}\nsteps: [{{delete: true}}]") == []


def test_stages_in_a_list_are_reported_with_their_lines(tmp_path: Path) -> None:
    def item(name: str, weight: int) -> str:
        return (
            f"- kind: Stage\n  metadata: {{name: {name}}}\n  spec:\n    resourceRef: {{kind: Pod}}\n"
            f"    selector: {{}}\n    weight: {weight}\n    steps: [{{delete: true}}]\n"
        )

    file = tmp_path / "stages7.yaml"
    file.write_text("kind: List\nitems:\n" + item("a", 1) + item("b", -1))

    assert {(each.stage, each.field, each.line) for each in lint([str(file)])} == {
        ("b", "spec.weight", 15)
    }


def test_a_circle_is_a_warning_at_its_first_stage(tmp_path: Path) -> None:
    def turning(phase: str, into: str) -> str:
        step = f'steps:\n- patch: {{subresource: status, root: status, template: "phase: {into}"}}'
        return selecting(PHASE % phase).replace("steps: [{delete: true}]", step)

    file = tmp_path / "stages.yaml"
    findings(tmp_path, turning("Running", "Failed"), turning("Failed", "Running"))

    [found] = lint([str(file)])
    assert (found.severity, found.line, found.stage) == ("warning", 5, "s0")
    assert "completes a cycle without delay, which is played endlessly: s0, s1" in found.problem


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (
            ".status.phaze",
            "reads 'phaze', which a Pod does not have at this place; did you mean 'phase'?",
        ),
        (".status.conditions.[].tipe", "reads 'tipe'"),
        (".spec.activeDeadlineSeconds", "never equals a value"),
    ],
)
def test_a_field_that_objects_do_not_have_is_reported(
    tmp_path: Path, key: str, problem: str
) -> None:
    [found] = findings(tmp_path, selecting(f"jq: {{key: '{key}', operator: In, values: ['1']}}"))

    assert found.startswith("7 s0 spec.selector.matchExpressions[0]")
    assert problem in found


@pytest.mark.parametrize(
    "key",
    [
        ".kind",
        ".metadata.ownerReferences.[].kind",
        ".metadata.labels.a",
        ".status.podIP",
        ".spec | .x",
    ],
)
def test_a_field_that_objects_have_or_may_have_is_not_reported(tmp_path: Path, key: str) -> None:
    assert findings(tmp_path, selecting(f"jq: {{key: '{key}', operator: In, values: [a]}}")) == []


def test_a_stage_for_no_object_is_reported(tmp_path: Path) -> None:
    assert "spec.selector is missing" in findings(tmp_path, "steps: [{delete: true}]")[0]


def test_a_stage_that_is_never_chosen_is_reported(tmp_path: Path) -> None:
    wide, narrow = (
        selecting(PHASE % "Running"),
        selecting(PHASE % "Running", "key: .spec.hostname\n    operator: Exists"),
    )

    [found] = findings(tmp_path, f"weight: 1\n{wide}", narrow)

    assert "s1 spec.weight is 0, so that 's0'" in found
    assert findings(tmp_path, wide, narrow) == []
    assert findings(tmp_path, f"weight: 1\n{narrow}", wide) == []


def test_a_bound_below_the_delay_and_a_negative_weight_are_reported(tmp_path: Path) -> None:
    delay = "delay: {durationMilliseconds: 5, jitterDurationMilliseconds: 3}\n"

    first, second = findings(tmp_path, f"weight: -1\n{delay}{selecting(PHASE % 'Running')}")

    assert first.startswith("5 s0 spec.weight is below 0")
    assert first < second
    assert "jitterDurationMilliseconds is below" in second


def test_a_stage_that_is_replaced_by_a_later_one_is_reported(tmp_path: Path) -> None:
    stage = HEAD % "same" + "  selector: {}\n  steps: [{delete: true}]\n"
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(stage)

    [found] = lint([str(tmp_path)])

    assert found.file.endswith("a.yaml")
    assert "which replaces this one" in found.problem


def test_files_without_stages_are_no_files_to_lint(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kind: KwokctlConfiguration\n")

    with pytest.raises(NotFoundError):
        lint([str(tmp_path)])


def test_expressions_that_take_too_long_on_an_example_are_reported(tmp_path: Path) -> None:
    digits = "[0,1,2,3,4,5,6,7,8,9]"
    loops = "".join(f"{digits}.all(v{n}, " for n in range(9)) + "true" + ")" * 9
    # All steps at once: every check of a Stage evaluates it.
    endless = '"x" * 99999999'
    stage = selecting(
        f"jq: {{key: '{endless}', operator: Exists}}", f'cel: {{expression: "{loops}"}}'
    )
    delay = f"\ndelay: {{durationFrom: {{jq: {{expression: '{endless} | empty'}}}}}}"

    found = findings(tmp_path, stage + delay)

    fields = [line.split()[2] for line in found if "it takes more than 100,000 steps" in line]
    assert fields == [
        "spec.selector.matchExpressions[0]",
        "spec.selector.matchExpressions[1]",
        "spec.delay.durationFrom",
    ]

"""Conditions of Stages that never hold, or exclude each other."""

from pathlib import Path

import pytest

from tests.support.linted_stages import PHASE, findings, selecting


@pytest.mark.parametrize(
    "rule",
    [
        PHASE % "Failed",
        "jq: {key: .status.phase, operator: DoesNotExist}",
        "jq: {key: .status.phase, operator: NotIn, values: [Running, Failed]}",
    ],
)
def test_conditions_that_exclude_each_other_are_reported(tmp_path: Path, rule: str) -> None:
    [found] = findings(tmp_path, selecting(PHASE % "Running", rule))

    assert found.startswith("8 s0 spec.selector.matchExpressions[1] cannot hold")


@pytest.mark.parametrize(
    ("rules", "at", "problem"),
    [
        (["cel: {expression: 'false && self.metadata.name == \"a\"'}"], 0, "is false for every"),
        (["cel: {expression: '!(1 < 2 || self.metadata.name == \"a\")'}"], 0, "is false for every"),
        (["cel: {expression: '[1, 2].exists(x, x > 2)'}"], 0, "is false for every object"),
        (
            ["jq: {key: '\"a\"', operator: In, values: [b]}"],
            0,
            "never holds: its expression returns",
        ),
        (["jq: {key: 'null', operator: Exists}"], 0, "never holds"),
        (
            ["jq: {key: '.status.phase | length', operator: In, values: [abc]}"],
            0,
            "never holds: its expression returns a number",
        ),
        (
            ["cel: {expression: 'self.status.phase == \"Failed\"'}", PHASE % "Running"],
            1,
            "cannot hold: it contradicts another condition, '== 'Failed''",
        ),
        (
            [
                "cel: {expression: '\"a\" == self.metadata.name'}",
                "cel: {expression: 'self.metadata.name == \"b\" && true'}",
            ],
            1,
            "cannot hold: it contradicts another condition, '== 'a''",
        ),
        (
            [
                PHASE % "Running",
                "cel: {expression: 'true'}",
                "jq: {key: .status.phase, operator: In, values: [Failed]}",
            ],
            2,
            "cannot hold: it contradicts another condition, 'In Running'",
        ),
        (
            ["jq: {key: .spec.hostNetwork, operator: In, values: ['True']}"],
            0,
            "never equals a value: it returns true or false",
        ),
    ],
)
def test_a_condition_that_never_holds_is_reported_with_its_place(
    tmp_path: Path, rules: list[str], at: int, problem: str
) -> None:
    [found] = findings(tmp_path, selecting(*rules))

    assert found.startswith(f"{7 + at} s0 spec.selector.matchExpressions[{at}] {problem}")


def test_a_label_that_must_be_two_things_is_reported(tmp_path: Path) -> None:
    rules = "  - jq: {key: '.metadata.labels[\"a/b\"]', operator: In, values: [c]}\n"
    text = f"selector:\n  matchLabels: {{a/b: d}}\n  matchExpressions:\n{rules}steps: [{{delete: true}}]"

    [found] = findings(tmp_path, text)

    assert found.startswith("8 s0 spec.selector.matchExpressions[0] cannot hold")


@pytest.mark.parametrize(
    "rule",
    [
        "cel: {expression: 'Rand() > 2.0'}",
        "cel: {expression: 'false || self.metadata.name == \"a\"'}",
        "cel: {expression: 'self.spec.nodeName == \"\"'}\n  - jq: {key: .spec.nodeName, operator: DoesNotExist}",
        "cel: {expression: '[self].all(s, s.metadata.name == \"a\")'}",
        "cel: {expression: '1 / 0 > 1'}",
    ],
)
def test_a_condition_that_may_hold_is_not_reported(tmp_path: Path, rule: str) -> None:
    assert findings(tmp_path, selecting(rule)) == []


def test_conditions_that_can_hold_together_are_not_reported(tmp_path: Path) -> None:
    several = "jq: {key: '.status.conditions.[].type', operator: In, values: [%s]}"
    rules = [PHASE % "Running, Failed", PHASE % "Running", several % "Ready", several % "Other"]

    assert findings(tmp_path, selecting(*rules)) == []

"""Assertions: what they mean, and where one is wrong."""

import re
from pathlib import Path

import pytest

from kwokctl.errors import ConfigError, UsageError
from kwokctl.measure.figures.figure_catalogue import FIGURES, whole_run
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.assertion_file import read_assertions
from kwokctl.measure.judging.assertions import AssertionReader, judge
from tests.support.measured import MS, history, job, life, sent

READER = AssertionReader(FIGURES)
RUN = history(
    [
        *life(1, 0, 100 * MS, 300 * MS),
        *life(2, 0, 200 * MS, namespace="other"),
        sent(0, 0),
        job(1, 0),
    ]
)


def passed(text: str, found: History = RUN) -> bool:
    return judge([READER.read(text)], whole_run(found))[0].passed


@pytest.mark.parametrize(
    "text",
    [
        "pods.created == 2",
        "pods.created_to_bound.p99 < 250ms",
        "pods.created_to_bound.p99<0.25",
        "pods.created_to_bound.p50 >= 0.1s",
        "pods.created_to_bound[namespace=other].max > 199 ms".replace(" ms", "ms"),
        "pods.created_to_bound[namespace=default].count != 2",
        "pods.created_to_bound.max <= 200000us",
        "pods.created_to_bound.max < 1m",
        "pods.created_to_bound.max < 1h",
        "rates.bound.peak == 2/s",
        "rates.bound.peak == 2",
        "refusals == 0",
        "arrivals.late == 0",
        "  refusals  ==  0  ",
    ],
)
def test_an_assertion_that_holds_passes(text: str) -> None:
    assert passed(text)


@pytest.mark.parametrize(
    ("text", "actual", "why"),
    [
        ("pods.created_to_bound.p99 < 200ms", 0.2, ""),
        ("pods.created == 3", 2.0, ""),
        ("jobs.jct.mean < 80s", None, "no Job came so far"),
        ("jobs.jct.mean >= 0", None, "no Job came so far"),
        ("rates.bound.sustained > 0", None, "it went on for less than 10 s"),
        ("pods.created[namespace=none].x".replace(".x", " == 0"), None, "there is no pod with namespace=none"),
    ],
)  # fmt: skip
def test_an_assertion_fails_also_where_nothing_could_be_measured(
    text: str, actual: float | None, why: str
) -> None:
    judged = judge([READER.read(text)], whole_run(RUN))[0]

    assert (judged.passed, judged.actual, judged.why) == (False, actual, why)


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("", "not an assertion", "for example"),
        ("?", "not an assertion", "for example"),
        ("pods.craeted == 1", "column 1: there is no figure 'pods.craeted'", "did you mean 'pods.created'?"),
        ("nonsense == 1", "column 1: there is no figure 'nonsense'", "kwokctl measure fields"),
        ("pods.created_to_bound < 5s", "column 22: it is not one number", "such as 'pods.created_to_bound.p99'"),
        ("pods.created_to_bound.p98 < 5s", "column 22: 'pods.created_to_bound' has no 'p98'", "choose from: count, mean"),
        ("rates.bound < 5", "column 12: it is not one number", "'rates.bound.peak'"),
        ("pods.waiting < 5", "column 13: it is not one number", "'pods.waiting.max'"),
        ("pods.created.p99 == 1", "column 13: 'pods.created' is one number", None),
        ("pods.created", "column 13: there must be one of <", "for example"),
        ("pods.created = 1", "column 14: there must be one of <", "for example"),
        ("pods.created ==", "column 16: the value to compare with is missing", "for example"),
        ("pods.created == 1 s", "column 19: 's' is too much", None),
        ("pods.created == 1s", "column 17: '1s' is not a value of 'pods.created'", "such as 0"),
        ("pods.created_to_bound.p99 < 5x", "column 29: '5x' is not a value of", "such as 5s or 250ms"),
        ("api.availability > many", "column 20: 'many' is not a value of", "such as 99.5%"),
        ("rates.bound.peak > 5s", "column 20: '5s' is not a value of", "such as 300"),
        ("pods.created[team=x] == 1", "column 13: '[team=x]' is not a group", "write KEY=VALUE"),
        ("pods.created[load] == 1", "column 13: '[load]' is not a group", "write KEY=VALUE"),
    ],
)  # fmt: skip
def test_an_assertion_that_cannot_be_understood_is_refused_with_its_place(
    text: str, problem: str, hint: str | None
) -> None:
    with pytest.raises(UsageError, match=re.escape(problem)) as raised:
        READER.read(text)

    assert str(raised.value).startswith(f"'--assert' is '{text}'")
    assert (hint or "") in (raised.value.hint or "")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "limits.yaml"
    path.write_text(text)
    return path


def test_a_file_gives_the_least_and_the_most_also_of_one_load(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
- figure: pods.created_to_bound.p99
  min: 1ms
  max: 5s
- figure: refusals
  max: 0
- figure: jobs.jct.mean
  load: short
  max: 80s
- figure: pods.created
  group: label:team=blue
  min: 4
""",
    )

    assert [each.text for each in read_assertions(path, READER)] == [
        "pods.created_to_bound.p99 >= 1ms",
        "pods.created_to_bound.p99 <= 5s",
        "refusals <= 0",
        "jobs.jct[load=short].mean <= 80s",
        "pods.created[label:team=blue] >= 4",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("figure: x", "is not a list of assertions"),
        ("- figure: pods.created", "entry 1 of .* has neither 'min' nor 'max'"),
        ("- figure: refusals\n  max: 0\n- max: 1", "entry 2 of .*: .*missing required field 'figure'"),
        ("- figure: pods.created\n  most: 1", "entry 1 of .*: .*unknown field 'most'"),
        ("- figure: pods.x\n  max: 1", "entry 1 of .* is 'pods.x <= 1', column 1: there is no figure"),
        ("- figure: pods.created\n  max: 5s", "entry 1 of .*'5s' is not a value of 'pods.created'"),
        ("- figure: [\n", "is not YAML"),
    ],
)  # fmt: skip
def test_an_entry_of_a_file_that_cannot_be_understood_is_named(
    tmp_path: Path, text: str, problem: str
) -> None:
    with pytest.raises(ConfigError, match=f"(?i){problem}"):
        read_assertions(written(tmp_path, text), READER)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_assertions(tmp_path / "nothing.yaml", READER)


def test_all_assertions_are_tried() -> None:
    texts = ["pods.created == 1", "pods.created == 2", "pods.bound == 1"]

    judged = judge([READER.read(text) for text in texts], whole_run(RUN))

    assert [each.passed for each in judged] == [False, True, False]


def test_a_run_does_not_wait_for_a_figure_that_is_known_in_its_end() -> None:
    reader = AssertionReader(FIGURES)

    assert reader.condition("pods.running >= 5").limit == 5
    with pytest.raises(
        UsageError, match=r"'fleet.requested.cpu' is computed when the run has ended"
    ):
        reader.condition("fleet.requested.cpu.max > 90%")

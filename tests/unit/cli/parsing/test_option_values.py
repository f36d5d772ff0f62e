""""""

import pytest

from kwokctl.cli.parsing.option_values import duration, one_of, read_switch, whole_number
from kwokctl.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("90", 90.0),
        ("1.5", 1.5),
        ("90s", 90.0),
        ("15m", 900.0),
        ("1h15m30.5s", 4530.5),
        ("300ms", 0.3),
        (".5s", 0.5),
        ("2µs", 2e-6),
    ],
)
def test_a_duration_is_read_as_go_reads_it_and_a_bare_number_as_seconds(
    text: str, seconds: float
) -> None:
    assert duration("--wait")(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "-5s", "5 m", "5d", "5m3", "s", "1h-3m"])
def test_what_is_no_duration_is_refused_with_the_name_of_its_flag(text: str) -> None:
    with pytest.raises(UsageError, match="not a duration"):
        duration("--wait")(text)


@pytest.mark.parametrize(("text", "value"), [("true", True), ("T", True), ("1", True), ("False", False), ("f", False), ("0", False)])  # fmt: skip
def test_a_switch_takes_the_words_that_go_takes(text: str, value: bool) -> None:
    assert read_switch("--force", text) is value


def test_a_switch_refuses_other_words() -> None:
    with pytest.raises(UsageError, match="'maybe' is neither"):
        read_switch("--force", "maybe")


def test_a_whole_number_is_checked_against_its_least_value() -> None:
    assert whole_number("--replicas", least=0)("5") == 5
    with pytest.raises(UsageError, match="'--replicas' is -1, less than 0"):
        whole_number("--replicas", least=0)("-1")
    with pytest.raises(UsageError, match="'--replicas' is 'five', not a whole number"):
        whole_number("--replicas")("five")


def test_a_word_out_of_a_choice_is_refused_with_the_choice() -> None:
    assert one_of("--output", "json", "yaml")("json") == "json"
    with pytest.raises(UsageError) as caught:
        one_of("--output", "json", "yaml")("xml")
    assert caught.value.hint == "choose from: json, yaml"

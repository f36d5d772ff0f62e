""""""

import pytest

from kwokctl.config.flag_words import read_switch, read_whole


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("+5", 5), ("-1", -1)])
def test_a_whole_number_is_read(text: str, number: int) -> None:
    assert read_whole(text) == number


@pytest.mark.parametrize("text", ["", " 5", "٣", "\uff15", "1_000", "1e3", "1.0", "0x10", "NaN", "9" * 26, "1\n"])  # fmt: skip
def test_what_only_python_takes_for_a_whole_number_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        read_whole(text)


def test_a_switch_is_read_as_go_reads_it() -> None:
    assert read_switch("T") is True
    assert read_switch("0") is False
    with pytest.raises(ValueError, match="yes"):
        read_switch("yes")

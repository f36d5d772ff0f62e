import pytest

from kwokctl.clusters.scaling.ranges import Ranges


@pytest.mark.parametrize("text", ["", "7", "0-99", "5-9,0,20-21"])
def test_ranges_are_read_as_they_are_written(text: str) -> None:
    assert str(Ranges.read(text)) == text


@pytest.mark.parametrize("text", ["a", "1-", "-1", "1-2-3", "1 2"])
def test_what_are_no_ranges_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a range"):
        Ranges.read(text)


def test_numbers_keep_their_places() -> None:
    ranges = Ranges.read("5-7,0,20-21")

    assert [ranges[place] for place in range(len(ranges))] == [5, 6, 7, 0, 20, 21]
    with pytest.raises(IndexError):
        ranges[6]


def test_ranges_grow_by_the_lowest_numbers_that_are_free() -> None:
    others = [Ranges.read("0-2,10-11"), Ranges.read("1-4")]

    grown = Ranges.read("7").grown(6, others)

    assert str(grown) == "7,5-6,8-9,12"
    assert str(grown.grown(7, others)) == "7,5-6,8-9,12-13"


def test_ranges_that_are_long_enough_stay() -> None:
    assert str(Ranges.read("3-9").grown(2, [])) == "3-9"
    assert str(Ranges().grown(100, [])) == "0-99"


def test_the_first_numbers_are_kept() -> None:
    assert str(Ranges.read("5-7,0,20-21").first(4)) == "5-7,0"
    assert str(Ranges.read("5-7").first(0)) == ""

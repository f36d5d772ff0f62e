from random import Random

import pytest

from kwokctl.clusters.scaling.changes import Names, Ranges, Serials, changes_for
from kwokctl.clusters.scaling.cluster_reader import Existing
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.replacing import replace

ASKED = ("pod-7", "pod-0", "pod-899999999", "pod-900000000", "other-1", "pod-01")


def known(name: str, created: str = "2026-01-01T00:00:00Z", *, is_going: bool = False) -> Existing:
    return Existing(
        name=name, uid=f"uid-{name}", created=created, set_name="pod", is_going=is_going
    )


def request(replicas: int, *, serial_length: int = 1) -> ScaleRequest:
    return ScaleRequest(kind="pod", replicas=replicas, serial_length=serial_length)


def test_missing_serials_start_from_zero() -> None:
    changes = changes_for(request(3), [])

    assert (changes.kept, changes.surplus, tuple(changes.missing)) == ((), (), (0, 1, 2))


def test_names_in_use_are_skipped() -> None:
    changes = changes_for(request(4), [known("pod-1"), known("pod-3")])

    assert sorted(changes.kept) == ["pod-1", "pod-3"]
    assert tuple(changes.missing) == (0, 2)


def test_a_set_of_the_right_size_needs_nothing() -> None:
    changes = changes_for(request(2), [known("pod-5"), known("other-name")])

    assert changes.surplus == ()
    assert not changes.missing


def test_a_set_that_must_not_shrink_keeps_all_objects() -> None:
    growing = replace(request(1), may_shrink=False)
    members = [known("pod-0"), known("pod-1")]

    assert changes_for(growing, members).kept == ("pod-0", "pod-1")
    assert changes_for(growing, members).surplus == ()
    assert not changes_for(growing, members).missing
    assert tuple(changes_for(replace(growing, replicas=3), members).missing) == (2,)


def test_the_oldest_are_kept_and_names_settle_ties() -> None:
    members = [
        known("pod-0", "2026-01-01T00:00:09Z"),
        known("pod-4", "2026-01-01T00:00:01Z"),
        known("pod-3", "2026-01-01T00:00:05Z"),
        known("pod-2", "2026-01-01T00:00:05Z"),
    ]

    changes = changes_for(request(2), members)

    assert changes.kept == ("pod-4", "pod-2")
    assert [each.name for each in changes.surplus] == ["pod-3", "pod-0"]


def test_what_is_being_deleted_counts_no_longer_but_its_name_is_taken() -> None:
    changes = changes_for(request(1), [known("pod-0", is_going=True)])

    assert (changes.kept, changes.surplus, tuple(changes.missing)) == ((), (), (1,))


def test_a_bare_name_has_no_serial_to_go_on_with() -> None:
    assert tuple(changes_for(request(1, serial_length=0), []).missing) == (0,)
    assert not changes_for(request(1, serial_length=0), [known("pod")]).missing
    assert len(changes_for(request(0, serial_length=0), [known("pod")]).surplus) == 1


def test_a_set_of_hundreds_of_millions_is_not_written_out() -> None:
    changes = changes_for(request(900_000_000), [known("pod-7")])
    names = Names(request(1), changes.missing, changes.kept)

    assert len(changes.missing) == 899_999_999
    assert (changes.missing[7], changes.missing[-1]) == (8, 899_999_999)
    assert len(names) == 900_000_000
    assert {"pod-7", "pod-0", "pod-899999999"} <= {name for name in ASKED if name in names}
    assert not {"pod-900000000", "other-1", "pod-01"} & {name for name in ASKED if name in names}


def test_the_lowest_free_numbers_are_taken() -> None:
    assert list(Serials.lowest_free(4, [])) == [0, 1, 2, 3]
    assert list(Serials.lowest_free(4, [1, 2, 9])) == [0, 3, 4, 5]
    assert list(Serials.lowest_free(0, [1])) == []


def test_numbers_behave_like_a_tuple() -> None:
    random = Random(1)
    for _ in range(300):
        taken = {random.randrange(30) for _ in range(random.randrange(20))}
        number = random.randrange(25)
        serials = Serials.lowest_free(number, taken)
        plain = tuple(n for n in range(100) if n not in taken)[:number]

        assert tuple(serials) == plain
        assert len(serials) == number
        start, stop = sorted(random.randrange(30) for _ in range(2))
        assert tuple(serials[start:stop]) == plain[start:stop]
        assert tuple(serials[start:]) == plain[start:]
        assert [serials[n] for n in range(-number, number)] == [*plain, *plain]
        assert [serials.index(n) for n in plain] == list(range(number))
        assert [n for n in range(-5, 60) if n in serials] == list(plain)


@pytest.mark.parametrize("wrong", [-1, 2, 100])
def test_a_number_that_is_not_there_has_no_place(wrong: int) -> None:
    with pytest.raises(ValueError, match=str(wrong)):
        Serials.lowest_free(5, [2]).index(wrong)


@pytest.mark.parametrize("gone", [[], [0], [4], [2, 3], [0, 2, 4], [0, 1, 2, 3, 4], [9]])
def test_numbers_are_left_out(gone: list[int]) -> None:
    serials = Serials.lowest_free(5, [])

    left = serials.without(gone)

    assert list(left) == [each for each in range(5) if each not in gone]
    assert [left.index(each) for each in left] == list(range(len(left)))


def test_some_numbers_are_put_in_order() -> None:
    serials = Serials.of([7, 2, 3])

    assert list(serials) == [2, 3, 7]
    assert 4 not in serials


def test_hundreds_of_millions_are_ranges() -> None:
    serials = Serials.lowest_free(10**9, [5])

    assert serials[10**9 - 1] == 10**9
    assert serials.index(10**9) == 10**9 - 1
    assert len(serials[2:]) == 10**9 - 2


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

from random import Random

import pytest

from kwokctl.clusters.scaling.serials import Serials


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


def test_hundreds_of_millions_are_ranges() -> None:
    serials = Serials.lowest_free(10**9, [5])

    assert serials[10**9 - 1] == 10**9
    assert serials.index(10**9) == 10**9 - 1
    assert len(serials[2:]) == 10**9 - 2

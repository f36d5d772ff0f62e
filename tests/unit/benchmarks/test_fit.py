import pytest

from benchmarks.fit import fit


def test_points_on_a_line_give_that_line() -> None:
    line = fit([(1_000, 2.5), (2_000, 4.5), (10_000, 20.5)])

    assert line is not None
    assert line.slope == pytest.approx(0.002)
    assert line.intercept == pytest.approx(0.5)
    assert line.determination == pytest.approx(1.0)


def test_quadratic_times_are_distinguished_from_linear_ones() -> None:
    line = fit([(n, float(n * n)) for n in (1, 2, 5, 10, 20)])

    assert line is not None
    assert line.determination < 0.95


def test_times_that_do_not_grow_lie_on_a_level_line() -> None:
    line = fit([(1, 3.0), (2, 3.0), (5, 3.0)])

    assert line is not None
    assert (line.slope, line.at(100), line.determination) == (0.0, 3.0, 1.0)


@pytest.mark.parametrize("points", [[], [(1, 1.0)], [(1, 1.0), (2, 2.0)], [(1, 1.0)] * 3])
def test_fewer_than_three_numbers_say_nothing_about_growth(
    points: list[tuple[float, float]],
) -> None:
    assert fit(points) is None

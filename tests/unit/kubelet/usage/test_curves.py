from itertools import pairwise

import pytest

from kwokctl.kubelet.usage.curves import (
    ConstantCurve,
    Curve,
    RampCurve,
    SineCurve,
    StepCurve,
    SumCurve,
    TrainingCurve,
    WalkCurve,
    read_amount,
)

STEPS = StepCurve([(0, 1.0), (10, 3.0), (25, 0.5)])
CURVES: tuple[Curve, ...] = (
    ConstantCurve(0.25),
    RampCurve(1.0, 3.0, 20.0),
    RampCurve(3.0, 0.0, 45.0),
    SineCurve(1.0, 0.5, 30.0),
    SineCurve(1.0, 1.0, 7.0, 0.25),
    STEPS,
    WalkCurve(0.1, 0.9, 1.5, seed=3, begin=1020),
    TrainingCurve(0.98, 0.2, step=4.0, exchange=0.7),
    SumCurve((SineCurve(1.0, 0.5, 30.0), WalkCurve(-0.2, 0.2, 1.5, seed=3))),
)


def summed(curve: Curve, start: float, end: float, parts: int = 40_000) -> float:
    width = (end - start) / parts
    return width * sum(curve.at(start + (n + 0.5) * width) for n in range(parts))


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
def test_the_integral_is_that_of_the_curve(curve: Curve) -> None:
    for start, end in ((0.0, 5.0), (5.0, 31.0), (0.0, 60.0)):
        assert curve.between(start, end) == pytest.approx(summed(curve, start, end), rel=1e-3)


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
def test_an_integral_is_the_same_in_parts_and_as_a_whole(curve: Curve) -> None:
    ages = [0.0, 0.3, 9.99, 10.0, 29.0, 1600.0, 5000.5]
    parts = sum(curve.between(start, end) for start, end in pairwise(ages))
    assert parts == pytest.approx(curve.between(0.0, 5000.5))


def test_a_training_works_and_then_exchanges_in_each_step() -> None:
    training = TrainingCurve(0.9, 0.2, step=4.0, exchange=1.0)
    assert [training.at(age) for age in (0, 2.9, 3.0, 3.9, 4.0, 7.5)] == [
        0.9,
        0.9,
        0.2,
        0.2,
        0.9,
        0.2,
    ]
    assert training.between(0, 8) == pytest.approx(2 * (3 * 0.9 + 0.2))


def test_a_ramp_stays_where_it_ends() -> None:
    ramp = RampCurve(1.0, 3.0, 20.0)
    assert [ramp.at(age) for age in (0, 10, 20, 500)] == [1.0, 2.0, 3.0, 3.0]


def test_of_steps_that_were_before_the_start_the_last_counts() -> None:
    steps = StepCurve([(-50, 7.0), (-10, 2.0), (5, 4.0)])
    assert [steps.at(age) for age in (0, 4.9, 5, 100)] == [2.0, 2.0, 4.0, 4.0]
    assert steps.between(0, 10) == pytest.approx(2.0 * 5 + 4.0 * 5)


def test_the_first_step_counts_from_the_beginning() -> None:
    assert StepCurve([(60, 4.0)]).at(0) == 4.0


def test_a_walk_stays_within_its_bounds_and_goes_up_and_down() -> None:
    walk = WalkCurve(0.1, 0.9, 1.0, seed=3)
    values = [walk.at(age) for age in range(3000)]
    assert min(values) == pytest.approx(0.1)
    assert max(values) == pytest.approx(0.9)
    assert len(set(values)) > 1000


def test_a_walk_is_the_same_for_the_same_seed_alone() -> None:
    values = [[WalkCurve(0, 1, 1.0, seed).at(age) for age in range(50)] for seed in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


def test_a_walk_repeats_without_a_jump() -> None:
    walk = WalkCurve(0, 1, 1.0, seed=5)
    steps = [abs(walk.at(age + 1) - walk.at(age)) for age in range(1023)]
    assert walk.at(0) == walk.at(1024)
    assert abs(walk.at(1024) - walk.at(1023)) <= max(steps)


@pytest.mark.parametrize(
    ("text", "amount"),
    [("250m", 0.25), ("1.5", 1.5), (2, 2.0), ("64Mi", 64 * 2**20), ("0", 0), ("80%", 3.2)],
)
def test_an_amount_is_a_quantity_or_a_share_of_the_request(text: str, amount: float) -> None:
    assert read_amount(text).of(4.0) == pytest.approx(amount)


@pytest.mark.parametrize("text", ["", "much", "-1", "-5%", "nan%", "%", "1e400%"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"amount|quantity"):
        read_amount(text)

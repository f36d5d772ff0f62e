"""When arrivals are due: each rhythm by hand, and where it ends."""

import math
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import msgspec
import pytest

from kwokctl.draws.streams import DrawStream
from kwokctl.load.description.rhythms import Poisson, due_times
from kwokctl.load.description.schema import ArrivalsShape

_STREAM = DrawStream.of(0, "test")


def times(shape: Any, *, number: int | None = None, lasts: float | None = None) -> Sequence[float]:
    rhythm = msgspec.convert(shape, ArrivalsShape).rhythm
    assert rhythm is not None
    return list(islice(due_times(rhythm, _STREAM, number=number, lasts=lasts), 10_000))


def test_arrivals_with_a_fixed_gap_begin_at_once() -> None:
    assert times({"every": "20s"}, number=4) == [0, 20, 40, 60]


def test_what_is_due_at_the_end_of_the_time_is_left_out() -> None:
    assert times({"every": "20s"}, lasts=60) == [0, 20, 40]
    assert times({"every": "20s"}, lasts=60, number=2) == [0, 20]
    assert times({"every": "20s"}, lasts=60, number=9) == [0, 20, 40]


def test_the_times_do_not_add_up_errors_of_rounding() -> None:
    assert times({"every": "100ms"}, number=10_000)[-1] == 9_999 * 0.1


def test_a_burst_is_due_as_a_whole() -> None:
    burst = {"burst": {"size": 3, "every": "1m"}}
    assert times(burst, number=7) == [0, 0, 0, 60, 60, 60, 120]


def test_given_times_are_sorted_and_end_by_themselves() -> None:
    assert times({"at": ["5s", "0s", "1m"]}) == [0, 5, 60]
    assert times({"at": ["5s", "0s", "1m"]}, number=2) == [0, 5]
    assert times({"at": ["5s", "0s", "1m"]}, lasts=60) == [0, 5]


def test_a_ramp_reaches_each_arrival_when_the_rate_so_far_adds_up_to_it() -> None:
    # From 0.5/s to 1.5/s in 10 s: 10 arrivals, and the k-th when 0.5 t + 0.05 t² = k.
    found = times({"ramp": {"from": "30/min", "to": "1.5/s", "over": "10s"}})
    by_hand = [-5 + math.sqrt(25 + 20 * k) for k in range(10)]
    assert found == pytest.approx(by_hand)


def test_a_ramp_may_go_down_and_may_be_flat() -> None:
    # From 2/s to 1/s in 4 s: 6 arrivals, and the k-th when 2 t - t²/8 = k.
    down = times({"ramp": {"from": "2/s", "to": "1/s", "over": "4s"}})
    assert down == pytest.approx([8 - math.sqrt(64 - 8 * k) for k in range(6)])
    flat = times({"ramp": {"from": "2/s", "to": "2/s", "over": "2s"}})
    assert flat == pytest.approx([0, 0.5, 1, 1.5])


def test_a_rate_stays_at_the_end_of_its_ramp() -> None:
    found = times({"ramp": {"from": "1/s", "to": "3/s", "over": "2s"}}, number=8)
    assert found[4:] == pytest.approx([2, 2 + 1 / 3, 2 + 2 / 3, 3])
    longer = times({"ramp": {"from": "1/s", "to": "3/s", "over": "2s"}}, lasts=3.1)
    assert longer == pytest.approx(found)


def test_arrivals_at_random_have_exponential_gaps_of_the_mean_rate() -> None:
    found = times({"poisson": "600/min"}, number=10_000)
    gaps = [after - before for before, after in pairwise([0.0, *found])]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(1000, rel=0.03)
    furthest = max(
        abs(1 - math.exp(-gap / 0.1) - rank / 10_000) for rank, gap in enumerate(sorted(gaps))
    )
    assert furthest < 1.95 / 100


def test_arrivals_at_random_are_the_same_for_the_same_stream_only() -> None:
    rhythm = Poisson(1.0)
    one, again, other = (
        list(due_times(rhythm, stream, number=3, lasts=None))
        for stream in (_STREAM, _STREAM, DrawStream.of(1, "test"))
    )
    assert one == again
    assert one != other


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({}, "one of 'every', 'poisson', 'burst', 'at', 'ramp', 'trace', 'concurrency' is needed"),
        ({"every": "1s", "poisson": "1/s"}, "'every', 'poisson': only one may be given"),
        ({"every": "often"}, "'every': 'often' is not a duration"),
        ({"every": "0s"}, "'every' must be more than 0"),
        ({"every": "-5s"}, "'every' is -5s, which is negative"),
        ({"poisson": "-3/min"}, "'poisson' is '-3/min', not a rate above 0"),
        ({"poisson": "0/s"}, "not a rate above 0"),
        ({"poisson": "3"}, "not a rate above 0"),
        ({"burst": {"size": 0, "every": "1s"}}, r"Expected `int` >= 1 - at `\$.burst.size`"),
        ({"burst": {"size": 2}}, r"missing required field `every` - at `\$.burst`"),
        ({"at": []}, "length >= 1"),
        ({"at": ["-1s"]}, "'at' is -1s, which is negative"),
        ({"ramp": {"from": "0/s", "to": "1/s", "over": "1m"}}, "'from' is '0/s', not a rate"),
        ({"ramp": {"from": "1/s", "to": "2/s", "over": "0s"}}, "'over' must be more than 0"),
        ({"hourly": "1"}, "unknown field `hourly`"),
    ],
)
def test_what_is_no_rhythm_is_refused(shape: Any, said: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=said):
        msgspec.convert(shape, ArrivalsShape)

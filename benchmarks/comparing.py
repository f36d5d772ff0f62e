"""How often an interval for the ratio of two samples contains the true ratio, by simulation: `python -m benchmarks.comparing`.

Prints a row for each number of runs and each shape of their distribution: the coverage of three kinds of interval, how
often each calls equal samples worse, and how often the interval of ranks finds a difference of 30 %. `FILE …` takes the
values of a figure in real runs in place of made-up ones, one on each line of a file; they are drawn with replacement.
"""

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from statistics import NormalDist, median

from kwokctl.measure.comparing.rank_interval import rank_interval

_PAIRS = 2000
_RESAMPLES = 400
_SLOWER = 1.3
_STANDARD = NormalDist()
Interval = Callable[[Sequence[float], Sequence[float], Random], tuple[float, float] | None]
Draw = Callable[[Random], float]


def percentile_bootstrap(
    a: Sequence[float], b: Sequence[float], random: Random
) -> tuple[float, float]:
    """Return the middle 95 % of the ratios of medians of resampled runs."""
    ratios = _resampled(a, b, random)
    return ratios[_RESAMPLES * 25 // 1000], ratios[_RESAMPLES * 975 // 1000 - 1]


def bias_corrected_bootstrap(
    a: Sequence[float], b: Sequence[float], random: Random
) -> tuple[float, float]:
    """Return the BCa interval (Efron 1987) of the ratio of medians."""
    ratios, seen = _resampled(a, b, random), median(b) / median(a)
    below = sum(each < seen for each in ratios) + sum(each == seen for each in ratios) / 2
    bias = _STANDARD.inv_cdf(min(max(below / len(ratios), 0.001), 0.999))
    left_out = [median(b) / median([*a[:place], *a[place + 1 :]]) for place in range(len(a))]
    left_out += [median([*b[:place], *b[place + 1 :]]) / median(a) for place in range(len(b))]
    mean = sum(left_out) / len(left_out)
    squares = sum((mean - each) ** 2 for each in left_out)
    skew = sum((mean - each) ** 3 for each in left_out) / (6 * squares**1.5) if squares else 0.0

    def place(share: float) -> int:
        shifted = bias + _STANDARD.inv_cdf(share)
        at = _STANDARD.cdf(bias + shifted / (1 - skew * shifted))
        return min(max(int(at * len(ratios)), 0), len(ratios) - 1)

    return ratios[place(0.025)], ratios[place(0.975)]


def of_ranks(a: Sequence[float], b: Sequence[float], _random: Random) -> tuple[float, float] | None:
    """Return the interval that `measure compare` uses."""
    found = rank_interval(a, b)
    return (found.low, found.high) if found else None


INTERVALS: dict[str, Interval] = {
    "percentile bootstrap": percentile_bootstrap,
    "BCa bootstrap": bias_corrected_bootstrap,
    "ranks": of_ranks,
}


def _resampled(a: Sequence[float], b: Sequence[float], random: Random) -> list[float]:
    return sorted(
        median(random.choices(b, k=len(b))) / median(random.choices(a, k=len(a)))
        for _ in range(_RESAMPLES)
    )


def _with_outliers(random: Random) -> float:
    """Return a value as of runs of which one in ten meets a busy machine."""
    return math.exp(random.gauss(0, 0.08)) * (1.4 if random.random() < 0.1 else 1.0)


DRAWS: dict[str, Draw] = {
    "normal, 10 %": lambda random: random.gauss(1, 0.1),
    "log-normal, 10 %": lambda random: math.exp(random.gauss(0, 0.1)),
    "with outliers": _with_outliers,
    "exponential above 1": lambda random: 1 + random.expovariate(5),
}


def main() -> None:
    """Print the table."""
    draws = DRAWS
    if files := sys.argv[1:]:
        draws = {Path(file).name: _of_file(Path(file)) for file in files}
    print(
        f"{'runs':>5} {'distribution':24} {'interval':22} {'coverage':>9} {'worse':>6} {'finds 30 %':>10}"
    )
    for runs in (4, 5, 7, 10):
        for name, draw in draws.items():
            for kind, interval in INTERVALS.items():
                _row(runs, name, draw, kind, interval)


def _row(runs: int, name: str, draw: Draw, kind: str, interval: Interval) -> None:
    random = Random(f"{runs} {name}")
    contains = worse = finds = 0
    for _ in range(_PAIRS):
        a, b = ([draw(random) for _ in range(runs)] for _ in "ab")
        found = interval(a, b, random)
        if found is None:
            continue
        low, high = found
        contains += low <= 1 <= high
        worse += low > 1
        # The interval of a stretched sample is the stretched interval.
        finds += low * _SLOWER > 1
    shares = (contains / _PAIRS, worse / _PAIRS, finds / _PAIRS)
    print(
        f"{runs:5} {name:24} {kind:22} {shares[0]:9.1%} {shares[1]:6.1%} {shares[2]:10.1%}",
        flush=True,
    )


def _of_file(file: Path) -> Draw:
    values = [float(line) for line in file.read_text().split()]
    return lambda random: random.choice(values)


if __name__ == "__main__":
    main()

"""Lines of records with gangs, and the figures of them."""

from typing import Any

from kwokctl.measure.figures.values import Durations, SingleNumber
from kwokctl.measure.histories.history import History
from kwokctl.measure.record.record_lines import Lines, PodShape
from tests.support.measured import (
    MS,
    SECOND,
    figure,
    life,
)


def shape(number: int, gang: str = "", job: int = 0, **labels: str) -> PodShape:
    owner = ("Job", f"job-{job}", f"uid-of-job-{job}") if job else ("", "", "")
    return PodShape(number, *owner, 0, "cpu=1", labels, gang)


def number(name: str, found: History) -> float:
    value = figure(f"gangs{name}", found)
    assert isinstance(value, SingleNumber), value
    return value.value


def latency(name: str, found: History) -> Durations:
    value = figure(f"gangs.{name}", found)
    assert isinstance(value, Durations), value
    return value


def seconds(found: History, *figures: str) -> dict[str, float]:
    """Return the only duration of each of these figures."""
    found_by_name = {name: latency(name, found) for name in figures}
    assert {each.count for each in found_by_name.values()} == {1}
    return {name: each.max for name, each in found_by_name.items()}


def two_pods(of: int, *, ends: tuple[int, int] = (20, 22)) -> list[Lines]:
    """Return two pods, bound at 5 and 8 s, Running at 6 and 10 s, which end then."""
    first = life(1, 4 * SECOND, 5 * SECOND, 6 * SECOND, ends[0] * SECOND, shape=of)
    return [
        *first,
        *life(2, 4 * SECOND, 8 * SECOND, 10 * SECOND, ends[1] * SECOND, shape=of),
    ]


def in_steps(*times: int, size: int = 3, **fields: Any) -> list[Lines]:
    """Return a gang of which a pod is bound at each of these times, in milliseconds."""
    pods = [line for n, time in enumerate(times) for line in life(n, 0, time * MS, shape=2)]
    return [shape(2, f"kwokctl.dev/gang=ring:{size}"), *pods]

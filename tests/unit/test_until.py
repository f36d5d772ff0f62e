"""Tests that wait ask less often the longer they have waited."""

from itertools import pairwise
from types import SimpleNamespace

import pytest

from tests.support import installed


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    own = SimpleNamespace(monotonic=clock.monotonic, sleep=clock.sleep)
    monkeypatch.setattr(installed, "time", own)
    return clock


def test_the_end_of_a_wait_is_seen_soon_with_few_questions(clock: Clock) -> None:
    asked: list[float] = []

    def holds() -> bool:
        asked.append(clock.now)
        return clock.now > 60

    installed.until("a minute is over", holds)

    pauses = [later - earlier for earlier, later in pairwise(asked)]
    assert pauses[0] == pytest.approx(0.05)
    assert all(pause <= max(0.051, at / 9.9) for pause, at in zip(pauses, asked, strict=False))
    assert max(pauses) == pytest.approx(0.5)
    assert len(asked) < 200


def test_a_question_that_takes_long_leaves_three_quarters_of_the_time_to_others(
    clock: Clock,
) -> None:
    asked: list[float] = []

    def holds() -> bool:
        asked.append(clock.now)
        clock.sleep(2)
        return clock.now > 60

    installed.until("a minute is over", holds)

    assert [later - earlier for earlier, later in pairwise(asked)] == [8.0] * (len(asked) - 1)


def test_what_never_holds_fails_when_patience_is_at_an_end(clock: Clock) -> None:
    with pytest.raises(AssertionError, match="timed out waiting until it never holds"):
        installed.until("it never holds", lambda: False, patience=10)

    assert 10 <= clock.now < 11

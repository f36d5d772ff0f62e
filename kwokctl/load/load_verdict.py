"""The verdict on loads: whether the cluster received the load that was requested."""

import math
from collections import Counter
from collections.abc import Mapping

import msgspec

from kwokctl.load.arrival import Arrival

LATE = 100_000_000
"""Nanoseconds after which an arrival counts as late."""
_ENOUGH = 10
"""Arrivals from which a rate says something."""
_WHOLE = 100
"""A rate from which on decimals say nothing."""
_SHORT = 0.95
"""The share of the rate asked for, and of arrivals that were in time, below which a load was not what was asked."""


class LoadVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one load."""

    load: str
    phase: str
    arrivals: int
    """Those that were sent."""
    accepted: int
    refused: Mapping[str, int]
    """Refusals by their reasons."""
    examples: Mapping[str, str]
    """The first message of the API server for each reason."""
    retries: int
    """Refusals after which an arrival was tried again."""
    objects: int
    past_api: int
    """The number of these that were written past the API server."""
    late: int
    """Arrivals that were sent over 0.1 s after they were due."""
    latest: float
    """By how many seconds the latest was sent too late."""
    asked_rate: float | None
    """Arrivals a second that were asked for; None if all were due at once, or few."""
    reached_rate: float | None
    """Arrivals a second that were answered."""
    problem: str
    """Why it was not what was asked; empty if it was."""


class RunVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of all loads of a run."""

    run: str
    seed: int
    loads: tuple[LoadVerdict, ...]
    is_stopped: bool = False
    """Whether a refusal ended the arrivals."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Why loads were not what was asked, with their names."""
        return tuple(f"{each.load}: {each.problem}" for each in self.loads if each.problem)

    @property
    def refusals(self) -> tuple[str, ...]:
        """The first message for each reason of a refusal."""
        return tuple(
            f"{each.load}: {reason}: {said}"
            for each in self.loads
            for reason, said in each.examples.items()
        )


class Tally:
    """Counts the arrivals of one load."""

    def __init__(self, load: str, phase: str) -> None:
        self.load, self.phase = load, phase
        self.sent = self.accepted = self.objects = self.past_api = self.late = 0
        self.refused: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._dues, self._answers = _Span(), _Span()
        self._latest = 0
        self.waited_for_server = self.waited_for_qps = 0
        """Nanoseconds for which arrivals were held up, by what."""
        self.retries = 0
        """Refusals after which an arrival was tried again."""

    def note(self, arrival: Arrival) -> None:
        """Count an arrival."""
        self.sent += 1
        self.objects += len(arrival.made)
        self.past_api += arrival.past_api
        behind = arrival.sent - arrival.due
        self._latest = max(self._latest, behind)
        self.late += behind > LATE
        self._dues.add(arrival.due)
        if arrival.accepted is not None:
            self.accepted += 1
            self._answers.add(arrival.accepted)
        if arrival.refusal is not None:
            self.refused[arrival.refusal] += 1
            self._examples.setdefault(arrival.refusal, arrival.message)

    def verdict(self, problem: str = "") -> LoadVerdict:
        """Return the outcome; `problem` is a reason that the figures do not show."""
        asked, reached = self._dues.rate, self._answers.rate
        return LoadVerdict(
            load=self.load,
            phase=self.phase,
            arrivals=self.sent,
            accepted=self.accepted,
            refused=dict(self.refused),
            examples=self._examples,
            retries=self.retries,
            objects=self.objects,
            past_api=self.past_api,
            late=self.late,
            latest=self._latest / 1e9,
            asked_rate=asked,
            reached_rate=reached,
            problem=problem or self._slowness(asked, reached),
        )

    def _slowness(self, asked: float | None, reached: float | None) -> str:
        if asked is None or reached is None or reached >= _SHORT * asked:
            return ""
        if self.sent - self.late >= _SHORT * self.sent:
            return ""  # few were late: only some answers took longer
        rates = f"{_shown(reached)} of {_shown(asked)} a second"
        return f"{rates}: {self._culprit()} slower than the load"

    def _culprit(self) -> str:
        """Name what held arrivals up most."""
        if max(self.waited_for_server, self.waited_for_qps) < self._latest / 2:
            return "this machine was"
        if self.waited_for_qps > self.waited_for_server:
            return "its own 'qps' was"
        return "watchers of the cluster were" if self.past_api else "the API server was"


class _Span:
    """The number of moments, and the first and the last of them."""

    def __init__(self) -> None:
        self._number = 0
        self._first, self._last = math.inf, -math.inf

    def add(self, moment: int) -> None:
        self._number += 1
        self._first, self._last = min(self._first, moment), max(self._last, moment)

    @property
    def rate(self) -> float | None:
        """The number of moments a second; None if they were few, or all at once."""
        if self._number < _ENOUGH or self._last == self._first:
            return None
        return (self._number - 1) / (self._last - self._first) * 1e9


def _shown(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= _WHOLE else f"{rate:.3g}"

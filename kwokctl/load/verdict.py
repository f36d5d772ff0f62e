"""What became of loads: whether the cluster was given what was asked for."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from kwokctl.load.arrival import Arrival

LATE = 100_000_000
"""Nanoseconds after which an arrival counts as late."""
_ENOUGH = 10
"""Arrivals from which a rate says something."""
_SHORT = 0.95
"""The share of the rate asked for below which a load was not what was asked."""


class LoadVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one load."""

    load: str
    phase: str
    arrivals: int
    """Those that were sent."""
    accepted: int
    refused: Mapping[str, int]
    """Refusals by their reasons."""
    examples: Mapping[str, str]
    """What the API server said first, by reason."""
    retries: int
    """Refusals after which an arrival was tried again."""
    objects: int
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
    """What became of all loads of a run."""

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
        """What was said first of each reason for which arrivals were refused."""
        return tuple(
            f"{each.load}: {reason}: {said}"
            for each in self.loads
            for reason, said in each.examples.items()
        )


class Tally:
    """Counts the arrivals of one load."""

    def __init__(self, load: str, phase: str) -> None:
        self.load, self.phase = load, phase
        self.sent = self.accepted = self.objects = self.late = 0
        self.refused: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._dues: list[int] = []
        self._answers: list[int] = []
        self._latest = 0
        self.waited_for_server = self.waited_for_qps = 0
        """Nanoseconds for which arrivals were held up, by what."""
        self.retries = 0
        """Refusals after which an arrival was tried again."""

    def note(self, arrival: Arrival) -> None:
        """Count an arrival."""
        self.sent += 1
        self.objects += len(arrival.made)
        behind = arrival.sent - arrival.due
        self._latest = max(self._latest, behind)
        self.late += behind > LATE
        self._dues.append(arrival.due)
        if arrival.accepted is not None:
            self.accepted += 1
            self._answers.append(arrival.accepted)
        if arrival.refusal is not None:
            self.refused[arrival.refusal] += 1
            self._examples.setdefault(arrival.refusal, arrival.message)

    def verdict(self, problem: str = "") -> LoadVerdict:
        """Say what became of it; `problem` is what is known beside the figures."""
        asked, reached = _rate(self._dues), _rate(self._answers)
        return LoadVerdict(
            load=self.load,
            phase=self.phase,
            arrivals=self.sent,
            accepted=self.accepted,
            refused=dict(self.refused),
            examples=self._examples,
            retries=self.retries,
            objects=self.objects,
            late=self.late,
            latest=self._latest / 1e9,
            asked_rate=asked,
            reached_rate=reached,
            problem=problem or self._slowness(asked, reached),
        )

    def _slowness(self, asked: float | None, reached: float | None) -> str:
        if asked is None or reached is None or not self.late or reached >= _SHORT * asked:
            return ""
        return f"{reached:,.3g} of {asked:,.3g} a second: {self._culprit()} slower than the load"

    def _culprit(self) -> str:
        """Name what held arrivals up most."""
        if max(self.waited_for_server, self.waited_for_qps) < self._latest / 2:
            return "this machine was"
        by_qps = self.waited_for_qps > self.waited_for_server
        return "its own 'qps' was" if by_qps else "the API server was"


def _rate(times: list[int]) -> float | None:
    """Return how many there are a second; None if that is unknown."""
    if len(times) < _ENOUGH:
        return None
    spread = max(times) - min(times)
    return (len(times) - 1) / spread * 1e9 if spread else None

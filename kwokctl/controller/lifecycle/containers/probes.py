"""Computes the results of a container's probes, in seconds from its start.

A probe is made when its delay is over and once a period from then on, as pkg/kubelet/prober does, with
the first one at once. What it finds the container's program says.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram

_NEVER = math.inf
_KINDS = ("startup", "readiness", "liveness")
_PROBES = frozenset(f"{kind}Probe" for kind in _KINDS)
_PERIOD, _FAILURES = 10.0, 3
"""The values that the API server sets for a probe without them."""
_REPORTED = 25
"""Failures of a probe that are reported one by one: a kubelet's Events come in bursts of no more."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """A probe as a container's spec has it."""

    kind: str
    delay: float
    period: float
    failures: int
    successes: int
    finding: str
    """The message of its failures."""
    grace: float | None = None
    """Seconds that the container has to end if it is killed for it; None for those of its pod."""

    def first(self, at: float) -> float:
        """Return when it is made first, at a moment or after it."""
        if at <= self.delay or at == _NEVER:
            return max(at, self.delay)
        return self.delay + self.period * math.ceil((at - self.delay) / self.period)

    def fails_for_good(self, at: float) -> float:
        """Return when it has failed often enough, if it fails from a moment on."""
        return self.first(at) + self.period * (self.failures - 1)

    def succeeds_for_good(self, at: float) -> float:
        """Return when it has succeeded often enough, if it succeeds from a moment on."""
        return self.first(at) + self.period * (self.successes - 1)

    @property
    def message(self) -> str:
        """The message of the Event of a failure."""
        return f"{self.kind.capitalize()} probe failed: {self.finding}"


class ProbeFindings(msgspec.Struct, frozen=True, kw_only=True):
    """The times at which a container counts as started and ready, and is killed for its probes."""

    started: float = 0.0
    ready: float = 0.0
    unready: float = _NEVER
    flap: float = 0.0
    """The seconds for which it is alternately ready and unready; 0 if it does not change."""
    killed: float = _NEVER
    killer: str = ""
    """The kind of the probe for which it is killed."""
    grace: float | None = None
    """The seconds within which it must end then; None for the grace period of its pod."""
    failing: tuple[tuple[Probe, float, float], ...] = ()
    """Probes that fail, from when and until when."""

    def is_ready(self, after: float) -> bool:
        """Return whether it is ready at an age in seconds."""
        if not self.ready <= after < self.unready:
            return False
        return not self.flap or int((after - self.ready) / self.flap + 1e-6) % 2 == 0

    def next_change(self, after: float) -> float:
        """Return the next age, after the given one, at which something changes or is to be reported."""
        moments = [self.started, self.ready, self.unready, self.killed]
        if self.flap and self.ready <= after < self.unready:
            turns = int((after - self.ready) / self.flap + 1e-6) + 1
            moments.append(self.ready + turns * self.flap)
        moments += [
            next((at for at in _made(*each) if at > after), _NEVER) for each in self.failing
        ]
        return min((moment for moment in moments if moment > after), default=_NEVER)

    def failures(self, after: float, until: float) -> Iterator[str]:
        """Yield the messages of the probes that fail after one moment, up to another."""
        for each in self.failing:
            for at in _made(*each):
                if after < at <= until:
                    yield each[0].message


ALL_WELL = ProbeFindings()


def findings_of(spec: Mapping[str, Any], program: ContainerProgram) -> ProbeFindings:
    """Return what the probes of a container find."""
    if program.is_healthy and spec.keys().isdisjoint(_PROBES):
        return ALL_WELL
    startup, readiness, liveness = (_probe(spec, kind) for kind in _KINDS)
    started, given_up = _startup(startup, program)
    ready = _from(readiness, max(started, program.ready))
    unready = _until(readiness, program.unready)
    sick = _until(liveness or _usual("liveness"), max(program.sick, started))
    killer = startup if given_up <= sick else liveness
    return ProbeFindings(
        started=started,
        ready=ready,
        unready=unready,
        flap=program.flap,
        killed=min(given_up, sick),
        killer="startup" if given_up <= sick else "liveness",
        grace=killer.grace if killer is not None else None,
        failing=tuple(_failing(startup, readiness, liveness, program, started)),
    )


def _startup(probe: Probe | None, program: ContainerProgram) -> tuple[float, float]:
    """Return when a container has started, and when it is killed since it has not."""
    if probe is None:
        return program.started, _NEVER
    started, given_up = probe.first(program.started), probe.fails_for_good(0.0)
    return (started, _NEVER) if started <= given_up else (_NEVER, given_up)


def _from(probe: Probe | None, moment: float) -> float:
    return moment if probe is None or moment == _NEVER else probe.succeeds_for_good(moment)


def _until(probe: Probe | None, moment: float) -> float:
    return moment if probe is None or moment == _NEVER else probe.fails_for_good(moment)


def _failing(
    startup: Probe | None,
    readiness: Probe | None,
    liveness: Probe | None,
    program: ContainerProgram,
    started: float,
) -> Iterator[tuple[Probe, float, float]]:
    if startup is not None and program.started > startup.delay:
        yield startup, 0.0, program.started
    if readiness is not None and program.ready > started:
        yield readiness, started, program.ready
    if readiness is not None and program.unready < _NEVER:
        yield readiness, program.unready, _NEVER
    if program.sick < _NEVER:
        yield liveness or _usual("liveness"), max(program.sick, started), _NEVER


def _made(probe: Probe, begin: float, end: float) -> Iterator[float]:
    """Yield when a probe is made in a span, as far as that is reported."""
    first = probe.first(begin)
    for number in range(_REPORTED):
        at = first + number * probe.period
        if at >= end:
            return
        yield at


def _probe(spec: Mapping[str, Any], kind: str) -> Probe | None:
    given = spec.get(f"{kind}Probe")
    if given is None:
        return None
    grace = given.get("terminationGracePeriodSeconds")
    return Probe(
        kind=kind,
        grace=None if grace is None else float(grace),
        delay=float(given.get("initialDelaySeconds") or 0),
        period=float(given.get("periodSeconds") or _PERIOD),
        failures=int(given.get("failureThreshold") or _FAILURES),
        successes=int(given.get("successThreshold") or 1),
        finding="HTTP probe failed with statuscode: 503" if "httpGet" in given else "",
    )


def _usual(kind: str) -> Probe:
    return Probe(kind=kind, delay=0.0, period=_PERIOD, failures=_FAILURES, successes=1, finding="")

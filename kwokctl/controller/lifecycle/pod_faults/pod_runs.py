"""The faults of all containers of a pod while it is looked at, and what the pod says of them."""

from collections.abc import Mapping
from typing import Any

from kwokctl.controller.lifecycle.containers.find_program import ProgramRules, is_told
from kwokctl.controller.lifecycle.containers.pulling import PullBlock
from kwokctl.controller.lifecycle.pod_faults.hit_run import WATCHDOG, HitRun
from kwokctl.controller.lifecycle.pod_faults.hits import NO_HITS, PodHits, WorkloadHit
from kwokctl.expr.duration import seconds_or_zero
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.training.pace import PROGRESS, paces_in, paces_text
from kwokctl.training.plan import STEPS


class PodRuns:
    """The faults of the containers that have some, or have had some."""

    def __init__(
        self, pod: ObjectInJson, hits: PodHits, programs: ProgramRules, now: float
    ) -> None:
        """Read from the annotations of a pod how far its programs have come."""
        self._meta, self._programs, self._now = pod["metadata"], programs, now
        self._hits = hits.containers
        self._before = paces_in(self._meta)
        self._runs: dict[str, HitRun] = {}

    def of(self, container: Mapping[str, Any]) -> HitRun | None:
        """Return the faults of a container; None without any."""
        name = container["name"]
        hits, pace = self._hits.get(name, ()), self._before.get(name)
        if not hits and pace is None:
            return None
        run = self._runs[name] = HitRun(
            hits=hits,
            now=self._now,
            has_progress=has_progress(container, self._meta, self._programs),
            watchdog=watchdog_of(self._meta),
            pace=pace,
        )
        return run

    def annotations(self) -> Mapping[str, str]:
        """Return the annotation that has changed; empty if none has."""
        paces = {name: run.pace for name, run in self._runs.items() if run.pace is not None}
        known = {**self._before, **paces}
        return {} if known == self._before else {PROGRESS: paces_text(known)}

    def strikes(self) -> tuple[tuple[WorkloadHit, float], ...]:
        """Return the hits that the other pods of the gang get."""
        return tuple(dict.fromkeys(each for run in self._runs.values() for each in run.strikes))


NO_RUNS = PodRuns({"metadata": {}}, NO_HITS, (), 0.0)
"""Those of a pod that no fault has met."""


def runs_of(pod: ObjectInJson, hits: PodHits, programs: ProgramRules, now: float) -> PodRuns:
    """Return the faults of the containers of a pod; NO_RUNS without any."""
    if hits is NO_HITS and PROGRESS not in (pod["metadata"].get("annotations") or ()):
        return NO_RUNS
    return PodRuns(pod, hits, programs, now)


def watchdog_of(meta: Mapping[str, Any]) -> float | None:
    """Return the seconds after which a watchdog ends a program of a pod that hangs; None without one."""
    text = (meta.get("annotations") or {}).get(WATCHDOG)
    return seconds_or_zero(text) if text else None


def has_progress(
    container: Mapping[str, Any], meta: Mapping[str, Any], programs: ProgramRules
) -> bool:
    """Return whether a program can be slowed and stopped: it is known, it trains, or a watchdog waits for what it does."""
    annotations = meta.get("annotations") or {}
    return bool(annotations.get(WATCHDOG) or annotations.get(STEPS)) or is_told(
        container, meta, programs
    )


def block_of(hits: PodHits, blocked: float) -> PullBlock | None:
    """Return when images could not, or cannot, be pulled; `blocked` is until when a fault was seen that is over."""
    if hits.pull is not None:
        return hits.pull
    return PullBlock(until=blocked) if blocked else None

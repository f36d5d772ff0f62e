"""The containers of a pod by their roles, and what follows from all of them together."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kwokctl.controller.lifecycle.containers.container import PodContainer
from kwokctl.controller.lifecycle.containers.container_states import (
    EPHEMERAL,
    INIT,
    REGULAR,
    Part,
    fresh_status,
    restored_status,
)
from kwokctl.controller.lifecycle.containers.find_program import program_of
from kwokctl.controller.lifecycle.containers.probes import findings_of
from kwokctl.controller.lifecycle.containers.spoilt_program import ProgramSpoiler
from kwokctl.controller.lifecycle.moments import read_moment
from kwokctl.controller.lifecycle.outcome import NOWHERE, NodeOffer, PodMemory
from kwokctl.controller.lifecycle.pod_faults.pod_runs import NO_RUNS, block_of, runs_of, watchdog_of
from kwokctl.controller.lifecycle.training_run import TrainingRun
from kwokctl.json_value import Json
from kwokctl.kube.pod_requests import is_sidecar
from kwokctl.kube.stored_json import ObjectInJson


class PodContainers:
    """All containers of a pod, while it is looked at."""

    def __init__(
        self,
        pod: ObjectInJson,
        memory: PodMemory,
        now: float,
        awake: float = 0.0,
        place: NodeOffer = NOWHERE,
    ) -> None:
        """Read them from the spec and the status of a pod, whose kubelet was away until `awake`."""
        self.runs = runs_of(pod, place.hits, place.programs, now)
        self.block = block_of(place.hits, memory.blocked)
        read = _reader(pod, memory, (now, awake), place, self)
        self.init = read(INIT)
        self.regular = read(REGULAR)
        self.debuggers = read(EPHEMERAL)
        """Ephemeral containers: they decide nothing about the pod, but end with it."""
        self.all = [*self.init, *self.regular]
        self.arrived = {each.name: memory.arrived.get(each.name, now) for each in self.debuggers}
        self.every = [*self.all, *self.debuggers] if self.debuggers else self.all

    def any_running(self) -> bool:
        """Return whether one runs."""
        return any(each.running for each in self.every)

    def has_begun(self) -> bool:
        """Return whether a regular one has been started."""
        return any(each.running or each.last_end for each in self.regular)

    def any_begun(self) -> bool:
        """Return whether one has been started."""
        return any(each.running or each.last_end for each in self.all)

    def is_initialized(self) -> bool:
        """Return whether nothing is left to be done before the regular ones."""
        return all(each.is_done or (each.is_sidecar and each.last_end) for each in self.init)

    def over_at(self, now: float) -> float:
        """Return when the last regular one has ended."""
        ends = [each.ended.get("finishedAt") for each in self.regular if each.ended]
        return max((read_moment(end) for end in ends if end), default=now)

    def memory(self, now: float) -> PodMemory:
        """Return what the status does not say of them."""
        counts = ((each, each.status["restartCount"]) for each in self.every)
        levels = {each.name: each.level for each, count in counts if each.level != count}
        waiting = [each.name for each in self.debuggers if not (each.running or each.last_end)]
        arrived = {name: self.arrived[name] for name in waiting}
        return PodMemory(now, levels, arrived, self._blocked_until(now))

    def _blocked_until(self, now: float) -> float:
        """Return until when a fault has kept images from being pulled; 0 if none waits for that."""
        if self.block is None or not any(each.awaits_image for each in self.all):
            return 0.0
        return min(self.block.until, now)


def _reader(
    pod: ObjectInJson,
    memory: PodMemory,
    times: tuple[float, float],
    place: NodeOffer,
    owner: "PodContainers",
) -> Callable[[Part], list[PodContainer]]:
    spec, meta, before = pod["spec"], pod["metadata"], pod["status"]
    now, awake = times
    policy = spec.get("restartPolicy") or "Always"
    grace = float(spec.get("terminationGracePeriodSeconds", 30))
    has_init = bool(spec.get("initContainers"))

    def read(part: Part) -> list[PodContainer]:
        bodies: Iterable[Mapping[str, Any]] = spec.get(part.spec) or ()
        known = {each["name"]: each for each in before.get(part.statuses) or ()} if bodies else {}
        return [made(part, body, known.get(body["name"])) for body in bodies]

    def spoiler(part: Part, body: Mapping[str, Any]) -> ProgramSpoiler | None:
        hit = None if owner.runs is NO_RUNS or part is EPHEMERAL else owner.runs.of(body)
        if place.preflight is not None and part is INIT:
            return place.preflight.run_of(body["name"], now, hit) or hit
        if place.training is None or part is not REGULAR or body is not spec["containers"][0]:
            return hit
        watchdog = watchdog_of(meta)
        return TrainingRun(state=place.training.state, now=now, faults=hit, watchdog=watchdog)

    def made(part: Part, body: Mapping[str, Any], known: Json) -> PodContainer:
        is_lost = known is not None and not known.get("state")
        if is_lost:
            status = restored_status(known, body, has_init=has_init)
        else:
            status = dict(known or fresh_status(body, has_init=has_init))
        program = program_of(body, meta, ends=_ends(part, body, policy), rules=place.programs)
        return PodContainer(
            spec=body,
            part=part,
            program=program,
            probes=findings_of(body, program),
            grace=grace,
            awake=awake,
            reported=memory.at,
            is_restored=is_lost,
            pod=meta,
            spoiler=spoiler(part, body),
            block=owner.block,
            policy="Never" if part is EPHEMERAL else policy,
            status=status,
            level=memory.levels.get(body["name"], status["restartCount"]),
        )

    return read


def _ends(part: Part, body: Mapping[str, Any], policy: str) -> bool:
    """Return whether an unknown program ends by itself."""
    if part is INIT:
        return not is_sidecar(body)
    return part is REGULAR and policy != "Always"

"""The faults that hit a pod and its containers, by the open faults of its node. Pure.

A fault of a GPU hits the containers that have it, one of a whole node all regular containers there, and one of
pods those that it names. A fault of a gang hits the other pods of the gang too: they say so themselves
(`gang_strikes`).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from kwokctl.controller.lifecycle.admission.device_table import unexpected
from kwokctl.controller.lifecycle.containers.pulling import PullBlock
from kwokctl.controller.lifecycle.ends import UNEXPECTED
from kwokctl.expr.duration import seconds_or_zero
from kwokctl.faults.overlays.open_entries import OpenEntry, PodEffect, WorkloadEffect
from kwokctl.kube.pod_requests import is_sidecar
from kwokctl.kube.stored_json import ObjectInJson

_SOONEST = 1.0
"""Seconds from the start of a container until a fault that is there already shows in it."""
_DEFAULTS = {"memory-limit": (137, "OOMKilled")}
"""Exit code and reason, where a fault does not say them."""
_REFUSED = unexpected("a fault of the node")


class WorkloadHit(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of one fault on the program of one container."""

    key: str
    """The key of the fault, as `entry_key` returns it."""
    fault: str
    """Its name."""
    since: float
    """Its start, as a POSIX time stamp."""
    effect: WorkloadEffect
    is_struck: bool = False
    """Whether another pod of the gang was hit, at `since`: a container that starts later is not."""

    @property
    def is_for_gang(self) -> bool:
        """Whether the other pods of the gang have to be hit."""
        return self.effect.gang and not self.is_struck

    def begins(self, started: float) -> float:
        """Return when it shows in a container that started at a time; infinite: never."""
        if self.is_struck:
            return self.since if started <= self.since else math.inf
        after = seconds_or_zero(self.effect.after)
        return max(self.since + after, started + max(after, _SOONEST))


class PodHits(msgspec.Struct, frozen=True, kw_only=True):
    """The faults that hit a pod."""

    containers: Mapping[str, tuple[WorkloadHit, ...]] = {}
    """Those that hit programs, by the name of the container."""
    pull: PullBlock | None = None
    """Since when its images cannot be pulled."""
    holds: PodEffect | None = None
    """That which keeps it from ending when it is deleted."""
    refusal: tuple[str, str] | None = None
    """Reason and message, if its node does not admit it."""
    ignored: tuple[str, ...] = ()
    """Why a fault that means the pod has no effect on it."""


NO_HITS = PodHits()


def entry_key(entry: OpenEntry) -> str:
    """Return what tells an entry from all others of a cluster."""
    gpu = "" if entry.gpu is None else entry.gpu
    return f"{entry.uid}/{gpu}/{entry.order}"


def hits_of(
    pod: ObjectInJson,
    entries: Sequence[OpenEntry],
    gpus: Mapping[str, frozenset[int]],
    strikes: Iterable[WorkloadHit] = (),
) -> PodHits:
    """Return the hits of a pod.

    `entries` are the open faults of its node, `gpus` the indices of the GPUs that its containers have,
    `strikes` the hits of other pods of its gang.
    """
    spec, uid = pod["spec"], pod["metadata"]["uid"]
    regular = [each["name"] for each in spec["containers"]]
    first = [each["name"] for each in spec.get("initContainers") or () if not is_sidecar(each)]
    found: dict[str, list[WorkloadHit]] = {}
    for name, hit in hits_of_programs(entries, regular, gpus):
        found.setdefault(name, []).append(hit)
    of_pod = [entry for entry in entries if _means(entry.pod, uid)]
    for entry in of_pod:
        for name in _failing(entry.pod, first, regular):
            found.setdefault(name, []).append(_failure(entry))
    own = {hit.key for hits in found.values() for hit in hits}
    for strike in strikes:
        for name in (gpus or regular) if strike.key not in own else ():
            found.setdefault(name, []).append(strike)
    return PodHits(
        containers={name: tuple(hits) for name, hits in found.items()},
        pull=_pull(of_pod),
        holds=next((each.pod for each in of_pod if _fails(each, "termination")), None),
        refusal=_refusal(of_pod),
        ignored=tuple(_without_init(of_pod, first)),
    )


def hits_of_programs(
    entries: Sequence[OpenEntry], regular: Sequence[str], gpus: Mapping[str, frozenset[int]]
) -> Iterator[tuple[str, WorkloadHit]]:
    """Yield the faults that hit programs, each with the name of the container; arguments as `hits_of`."""
    for entry in entries:
        if (
            entry.workload is None or entry.kubelet == "rebooting"
        ):  # its boot ID ends the containers
            continue
        hit = WorkloadHit(
            key=entry_key(entry), fault=entry.fault, since=entry.since, effect=entry.workload
        )
        for name in regular:
            if entry.gpu is None or entry.gpu in gpus.get(name, ()):
                yield name, hit


def _means(effect: PodEffect | None, uid: str) -> bool:
    return effect is not None and (not effect.pods or uid in effect.pods)


def _fails(entry: OpenEntry, what: str) -> bool:
    return entry.pod is not None and entry.pod.fails == what


def _failing(
    effect: PodEffect | None, first: Sequence[str], regular: Sequence[str]
) -> Sequence[str]:
    match effect.fails if effect is not None else "":
        case "init-container":
            return first
        case "app-container" | "memory-limit":
            return regular
        case _:
            return ()


def _failure(entry: OpenEntry) -> WorkloadHit:
    assert entry.pod is not None
    code, reason = _DEFAULTS.get(entry.pod.fails, (1, "Error"))
    effect = WorkloadEffect(
        effect="fail",
        exit_code=code if entry.pod.exit_code is None else entry.pod.exit_code,
        reason=entry.pod.reason or reason,
        message=entry.pod.message,
    )
    return WorkloadHit(key=entry_key(entry), fault=entry.fault, since=entry.since, effect=effect)


def _pull(entries: Sequence[OpenEntry]) -> PullBlock | None:
    found = [each for each in entries if _fails(each, "image-pull")]
    if not found:
        return None
    first = min(found, key=lambda each: each.since)
    assert first.pod is not None
    return PullBlock(since=first.since, reason=first.pod.reason, cause=first.pod.message)


def _refusal(entries: Sequence[OpenEntry]) -> tuple[str, str] | None:
    for entry in entries:
        if entry.pod is not None and entry.pod.fails == "admission":
            return entry.pod.reason or UNEXPECTED, entry.pod.message or _REFUSED
    return None


def _without_init(entries: Sequence[OpenEntry], first: Sequence[str]) -> Iterator[str]:
    for entry in entries:
        if _fails(entry, "init-container") and not first:
            yield f"Fault '{entry.fault}' fails an init container, and the pod has none"

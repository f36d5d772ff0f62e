"""The hits of the other pods of a gang, as a pod itself says them in an annotation. Pure.

The controller that plays the pod that a fault hits writes them to the pods of its gang, also where other controllers play those.
So they outlive a restart of any controller.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from kwokctl.controller.lifecycle.pod_faults.hits import WorkloadHit
from kwokctl.faults.overlays.open_entries import WorkloadEffect
from kwokctl.fleet.gangs import (
    JOB_SET_LABEL,
    JOB_SETS,
    JOBS,
    KUEUE_LABEL,
    PLUGIN_LABEL,
    PLUGIN_POD_GROUPS,
    WORKLOADS,
    gang_in_faults,
)
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.replacing import replace

GANG_FAULTS = "kwokctl.dev/gang-faults"
"""The annotation of a pod: a JSON list."""
_MOST = 8
"""Of one pod: older ones are forgotten."""
_LABELS = {
    JOB_SETS: JOB_SET_LABEL,
    PLUGIN_POD_GROUPS: PLUGIN_LABEL,
    WORKLOADS: KUEUE_LABEL,
    JOBS: "batch.kubernetes.io/controller-uid",
}
"""The labels that have the name of a gang as their value: they select its pods."""


class GangStrike(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hit of another pod of the gang."""

    key: str
    """The key of the fault, as `entry_key` returns it."""
    fault: str
    node: str
    """The node of the pod that it has hit."""
    at: float
    """The time of the hit, as a POSIX time stamp."""
    effect: WorkloadEffect

    @property
    def hit(self) -> WorkloadHit:
        """The same as a hit of a container."""
        return WorkloadHit(
            key=self.key, fault=self.fault, since=self.at, effect=self.effect, is_struck=True
        )


def strike_of(hit: WorkloadHit, node: str, at: float) -> GangStrike:
    """Return a hit on a node as it is written to the other pods of a gang."""
    effect = replace(hit.effect, after="0s", gang=False)
    return GangStrike(key=hit.key, fault=hit.fault, node=node, at=round(at, 3), effect=effect)


def strikes_in(meta: Mapping[str, Json]) -> Sequence[GangStrike]:
    """Return the strikes in the annotation of a pod; an empty sequence if it cannot be read."""
    text = (meta.get("annotations") or {}).get(GANG_FAULTS)
    try:
        return _decode(text) if text else ()
    except (msgspec.MsgspecError, TypeError):
        return ()


def live_strikes(
    meta: Mapping[str, Json], is_open: Callable[[str, str], bool]
) -> Iterator[GangStrike]:
    """Yield what the other pods of its gang make of a pod now.

    `is_open` says of a node and the key of a fault whether it is open there. A failure was, and stays; what slows and
    stops a program does so as long as the fault is open.
    """
    for each in strikes_in(meta):
        if each.effect.effect == "fail" or is_open(each.node, each.key):
            yield each


def struck(pod: ObjectInJson, strikes: Sequence[GangStrike]) -> str | None:
    """Return the annotation of a pod with more strikes; None if it says them already."""
    known = {each.key: each for each in strikes_in(pod["metadata"])}
    merged = {**known, **{each.key: each for each in strikes}}
    if merged == known:
        return None
    return _encode(list(merged.values())[-_MOST:]).decode()


def selector_of(gang: str) -> str:
    """Return the label selector of the pods of a gang; empty if no label tells them."""
    kind, _, name = gang.partition("=")
    label = _LABELS.get(kind)
    return f"{label}={name}" if label else ""


def others(pods: Sequence[ObjectInJson], gang: str, uid: str) -> Iterator[ObjectInJson]:
    """Yield the pods of a gang that run, without one of them."""
    for pod in pods:
        is_active = (pod.get("status") or {}).get("phase") in {"Pending", "Running"}
        if is_active and pod["metadata"]["uid"] != uid and gang_in_faults(pod) == gang:
            yield pod


_decode = msgspec.json.Decoder(tuple[GangStrike, ...]).decode
_encode = msgspec.json.Encoder(order="deterministic").encode

"""The open faults of a node as its annotation `kwokctl.dev/open-faults` says them. Pure.

The overlay writes it together with the conditions, so both come and go in the same write. The kubelet server, the pods of the
node, its Lease and its ResourceSlices are not fields of the node: what faults do to them depends on this annotation alone.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from kwokctl.expr.duration import seconds_or_zero
from kwokctl.faults.classes.class_schema import (
    DeviceState,
    DeviceTaint,
    FaultEffects,
    FaultMetric,
    FaultPod,
    FaultWorkload,
)
from kwokctl.faults.classes.message_texts import rendered
from kwokctl.json_value import Json

OPEN_FAULTS = "kwokctl.dev/open-faults"
"""The annotation."""
KubeletState = Literal["not-ready", "silent", "rebooting", "late"]
SILENT = frozenset({"silent", "rebooting"})
"""The states in which a kubelet answers no request and renews no Lease; one that is only not ready still answers."""


class WorkloadEffect(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The effect on programs that use the device, or the node."""

    effect: Literal["fail", "hang", "slow", "corrupt"]
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    after: str = "0s"
    """The time from the start of the fault until it shows."""
    factor: float = 1.0
    """The length of a slow run, as a multiple of its usual length."""
    gang: bool = False
    """Whether it also hits the other pods of the gang."""


class PodEffect(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The failure of pods themselves."""

    fails: Literal[
        "init-container", "app-container", "image-pull", "memory-limit", "termination", "admission"
    ]
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    pods: tuple[str, ...] = ()
    """The uids of the pods that are hit."""


class OpenEntry(
    msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True
):
    """One open fault of a node: a fault itself, or one that followed from it."""

    fault: str
    """The name of the Fault."""
    uid: str
    class_name: str = msgspec.field(name="class")
    order: int = 0
    """0 for the fault itself, else the number of the one that followed from it."""
    since: float
    """The time of its start, as a POSIX time stamp in the clock of faults."""
    shown: int = 0
    """The number of its signals that are shown: one for each dialect and time."""
    gpu: int | None = None
    device: DeviceState | None = None
    kubelet: KubeletState | None = None
    renews_every: float = 0.0
    """The seconds between two renewals of the Lease by a kubelet that is late."""
    workload: WorkloadEffect | None = None
    pod: PodEffect | None = None
    device_taints: tuple[DeviceTaint, ...] = ()
    kernel_log: tuple[str, ...] = ()
    metrics: tuple[FaultMetric, ...] = ()

    @property
    def key(self) -> tuple[str, int | None, int]:
        """The key of the entry, which no other entry of the node has."""
        return self.uid, self.gpu, self.order


class FaultIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """The identity of a fault that a node shows."""

    fault: str
    uid: str
    class_name: str
    order: int = 0
    since: float
    pods: tuple[str, ...] = ()
    """The uids of the pods that it hits on the node."""
    gang: bool = False


def entry_of(
    identity: FaultIdentity,
    effects: FaultEffects,
    shown: int,
    device_taints: Sequence[DeviceTaint],
    values: Mapping[str, Json],
) -> OpenEntry:
    """Return the entry of a fault; `values` are those of its templates."""
    return OpenEntry(
        fault=identity.fault,
        uid=identity.uid,
        class_name=identity.class_name,
        order=identity.order,
        since=identity.since,
        shown=shown,
        gpu=values.get("gpu"),
        device=effects.device,
        kubelet=effects.kubelet,
        renews_every=seconds_or_zero(rendered(effects.renews_every, values)),
        workload=_workload(effects.workload, values, gang=identity.gang),
        pod=_pod(effects.pod, values, identity.pods),
        device_taints=tuple(
            DeviceTaint(key=each.key, value=rendered(each.value, values), effect=each.effect)
            for each in device_taints
        ),
        kernel_log=tuple(rendered(line, values) for line in effects.kernel_log),
        metrics=tuple(
            FaultMetric(name=each.name, change=each.change, value=rendered(each.value, values))
            for each in effects.metrics
        ),
    )


def _workload(
    effect: FaultWorkload | None, values: Mapping[str, Json], *, gang: bool
) -> WorkloadEffect | None:
    if effect is None:
        return None
    return WorkloadEffect(
        effect=effect.effect,
        exit_code=effect.exit_code,
        reason=rendered(effect.reason, values),
        message=rendered(effect.message, values),
        after=effect.after,
        factor=_number(rendered(effect.factor, values)),
        gang=gang,
    )


def _pod(
    effect: FaultPod | None, values: Mapping[str, Json], pods: tuple[str, ...]
) -> PodEffect | None:
    if effect is None:
        return None
    return PodEffect(
        fails=effect.fails,
        exit_code=_code(rendered(effect.exit_code, values)),
        reason=rendered(effect.reason, values),
        message=rendered(effect.message, values),
        pods=pods,
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


def _code(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def entries_text(entries: Sequence[OpenEntry]) -> str:
    """Return the value of the annotation, the same text for the same entries."""
    return _encode(entries).decode()


@lru_cache(maxsize=4096)
def read_entries(text: str) -> tuple[OpenEntry, ...]:
    """Return the entries of an annotation; none for a text that is not one, or is empty."""
    try:
        return _decode(text) if text else ()
    except msgspec.MsgspecError:
        return ()


def entries_of(node: Mapping[str, Json]) -> tuple[OpenEntry, ...]:
    """Return the entries of a node, as JSON."""
    return read_entries((node["metadata"].get("annotations") or {}).get(OPEN_FAULTS) or "")


def silences(entries: Sequence[OpenEntry]) -> bool:
    """Return whether one of them makes the kubelet of the node silent."""
    return any(each.kubelet in SILENT for each in entries)


_decode = msgspec.json.Decoder(tuple[OpenEntry, ...]).decode
_encode = msgspec.json.Encoder(order="deterministic").encode

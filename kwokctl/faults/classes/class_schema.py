"""The shapes of the documents FaultClass and FaultDialect, `kwokctl.dev/v1alpha1`, as their authors write them."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from kwokctl.config.document_kinds import FAULT_CLASS, FAULT_DIALECT, OWN
from kwokctl.json_value import Json

Word = Annotated[str, Meta(min_length=1)]
Odds = Annotated[float, Meta(ge=0, le=1)]
Layer = Literal[
    "gpu", "gpu-software", "nvlink", "nvswitch", "nic", "fabric", "node", "kubelet", "runtime", "storage",
    "power", "pod", "api",
]  # fmt: skip
Scope = Literal["device", "node", "link", "fabric", "pod", "api"]
Severity = Literal["benign", "degraded", "fatal"]
Cause = Literal[
    "hardware", "driver", "application", "system-memory", "bus", "thermal", "framebuffer", "firmware",
    "software", "network", "storage", "power", "operator",
]  # fmt: skip
Cure = Literal[
    "cause-ends", "application-restart", "reset-gpu", "driver-reload", "agent-restart", "reboot",
    "power-cycle", "replace", "repair",
]  # fmt: skip
DeviceState = Literal["unhealthy", "lost", "missing", "slow"]
ConditionStatus = Literal["True", "False", "Unknown"]
DeviceSignal = Literal["unhealthy", "missing", "plugin-gone"]


class FaultPart(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """The base of all parts: a field that they do not name is an error."""


class FaultParameter(FaultPart, frozen=True, kw_only=True):
    """A value that a fault of the class may be given."""

    about: Word
    type: Literal["integer", "number", "duration", "text"]
    default: Json = None
    """Without one, the value is drawn when the fault is injected."""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()


class FaultCondition(FaultPart, frozen=True, kw_only=True):
    """A condition of the node; its texts are templates."""

    type: Word
    reason: Word
    message: str = ""
    status: ConditionStatus | None = None
    """Without one, that of a fault in the dialect."""


class FaultEvent(FaultPart, frozen=True, kw_only=True):
    """An Event about the node; its message is a template."""

    reason: Word
    message: str = ""
    type: Word = "Warning"
    component: str = ""
    """Without one, that of the dialect."""


class FaultTaint(FaultPart, frozen=True, kw_only=True):
    """A taint of the node."""

    key: Word
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class DeviceTaint(FaultPart, frozen=True, kw_only=True):
    """A taint of the device in its ResourceSlice."""

    key: Word
    value: str = ""
    effect: Literal["None", "NoSchedule", "NoExecute"]


class FaultSignal(FaultPart, frozen=True, kw_only=True):
    """All that a dialect shows of a fault."""

    delay: str = "0s"
    """The time that the agent needs at the least."""
    poll_interval: str | None = None
    """The time between two looks of the agent; without one, that of the dialect."""
    conditions: tuple[FaultCondition, ...] = ()
    events: tuple[FaultEvent, ...] = ()
    taints: tuple[FaultTaint, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    device_taints: tuple[DeviceTaint, ...] = ()
    devices: DeviceSignal | None = None
    """The state of the device, or of the plugin, in capacity and allocatable of the node."""
    note: str = ""
    """A remark for people, such as that something was not verified."""


class FaultWorkload(FaultPart, frozen=True, kw_only=True):
    """The effect on the pods that use the device, or the node."""

    effect: Literal["fail", "hang", "slow", "corrupt"]
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    after: str = "0s"
    factor: str = "1"
    """The length of a slow run, as a multiple of its usual length; a template."""


class FaultPod(FaultPart, frozen=True, kw_only=True):
    """The fault of a pod itself."""

    fails: Literal[
        "init-container", "app-container", "image-pull", "memory-limit", "termination", "admission"
    ]
    exit_code: str = ""
    """A template."""
    reason: str = ""
    message: str = ""


class FaultApi(FaultPart, frozen=True, kw_only=True):
    """The effect on the requests of the API that a fault matches; all values are templates.

    Requests are delayed, or refused with an answer of the proxy, or open watches are cut.
    """

    latency: str = ""
    """The time for which requests are held back."""
    jitter: str = ""
    """The most that is added to it or taken from it, as it is drawn for each request."""
    code: str = ""
    """The status with which requests are refused."""
    share: str = ""
    """The number of requests in a hundred that are refused; without it all."""
    retry_after: str = ""
    """The time after which a client may ask again, as the refusal says."""
    cut_every: str = ""
    """The time between two moments at which all open watches are cut."""


class FaultMetric(FaultPart, frozen=True, kw_only=True):
    """The change of a metric of the hit device, or of the node."""

    name: Word
    change: Literal["set", "add", "rise", "fall", "gone"]
    value: str = ""
    """A template; none for one that rises, falls or is gone."""


class FaultEffects(FaultPart, frozen=True, kw_only=True):
    """The effects of a fault that do not depend on which agents look at the node."""

    device: DeviceState | None = None
    kubelet: Literal["not-ready", "silent", "rebooting", "late"] | None = None
    renews_every: str = ""
    """The time between two renewals of the Lease by a kubelet that is late; a template."""
    workload: FaultWorkload | None = None
    pod: FaultPod | None = None
    api: FaultApi | None = None
    kernel_log: tuple[str, ...] = ()
    """Lines, as templates."""
    metrics: tuple[FaultMetric, ...] = ()


class FaultCascade(FaultPart, frozen=True, kw_only=True):
    """A fault that follows from another."""

    class_name: Word = field(name="class")
    hits: Literal["device", "node", "node-gpus", "nvlink-peers", "unit-nodes"]
    after: str = "0s"
    parameters: dict[str, Json] = field(default_factory=dict)


class FaultClassSpec(FaultPart, frozen=True, kw_only=True):
    """A kind of fault: what breaks, and what each dialect shows of it."""

    summary: Word
    layer: Layer
    scope: Scope
    severity: Severity
    causes: Annotated[tuple[Cause, ...], Meta(min_length=1)]
    lifetime: Literal["latched", "live"]
    """Whether it stays until something clears it, or ends with its cause."""
    lasts: str = ""
    """The time after which it ends by itself, unless the fault says otherwise; without one it stays."""
    xid: int | None = None
    unit: Literal["rack", "leaf", "spine", "feed", "domain", "zone"] | None = None
    """The level of the fleet, all of whose nodes are hit."""
    parameters: dict[str, FaultParameter] = field(default_factory=dict)
    effects: FaultEffects = field(default_factory=FaultEffects)
    cascades: tuple[FaultCascade, ...] = ()
    cleared_by: Annotated[tuple[Cure, ...], Meta(min_length=1)]
    clearing_odds: dict[Cure, Odds] = field(default_factory=dict)
    """With which probability some of `clearedBy` end it; the others always do."""
    only_under_load: bool = False
    """Whether the node looks good after a repair that has not ended it, until a pod uses what is broken."""
    signals: dict[str, tuple[FaultSignal, ...]] = field(default_factory=dict)
    """By dialect; a dialect without an entry is blind to the fault."""


class FaultClassShape(FaultPart, frozen=True, kw_only=True):
    """A whole document."""

    spec: FaultClassSpec
    api_version: str = OWN
    kind: str = FAULT_CLASS
    metadata: dict[str, Json] = field(default_factory=dict)


class HealthyCondition(FaultPart, frozen=True, kw_only=True):
    """A condition as the agent sets it on a node without faults."""

    type: Word
    reason: Word
    message: str = ""
    status: ConditionStatus | None = None
    """Without one, the opposite of the status of a fault."""


class FaultDialectSpec(FaultPart, frozen=True, kw_only=True):
    """A stack that looks for faults, and how it shows them."""

    agent: Word
    bad_status: ConditionStatus = "True"
    """The status of a condition while there is a fault."""
    poll_interval: str = "0s"
    separator: str | None = None
    """The text between the messages of several faults in one condition; without one, the last stands alone."""
    longest_message: int | None = None
    """Characters after which a message is cut."""
    component: str = ""
    """The source of its Events."""
    always: bool = False
    """Whether it is on every node."""
    conditions: tuple[HealthyCondition, ...] = ()
    note: str = ""


class FaultDialectShape(FaultPart, frozen=True, kw_only=True):
    """A whole document."""

    spec: FaultDialectSpec
    api_version: str = OWN
    kind: str = FAULT_DIALECT
    metadata: dict[str, Json] = field(default_factory=dict)


SHAPED = ((FAULT_CLASS, OWN, FaultClassShape), (FAULT_DIALECT, OWN, FaultDialectShape))
"""The kinds, for the schema of documents."""

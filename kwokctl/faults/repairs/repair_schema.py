"""The shape of the custom resource Repair, `kwokctl.dev/v1alpha1`: one repair of one node."""

from typing import Literal

import msgspec
from msgspec import field

from kwokctl.faults.classes.class_schema import FaultPart, Word
from kwokctl.faults.objects.fault_schema import ObjectMeta
from kwokctl.faults.repairs.repair_actions import Action
from kwokctl.json_value import Json

NODE_LABEL = "kwokctl.dev/node"
"""The label of a Repair with the name of its node."""
REPAIR_LABEL = "kwokctl.dev/repair"
"""The label of the Fault that a node shows while it is repaired, with the name of the Repair."""
RepairPhase = Literal["", "Queued", "Running", "Succeeded", "Failed", "Refused"]
"""In this order: no controller has accepted it; it waits for a slot; it is under way; all faults of the node are over; some are left; it cannot be done."""
OVER = frozenset({"Succeeded", "Failed", "Refused"})
TriggerWord = Literal["label", "cordoned", "deleted", "by-hand", "request"]


class Asker(FaultPart, frozen=True, kw_only=True):
    """The object that asked for a repair."""

    api_version: Word
    kind: Word
    namespace: str = ""
    name: Word
    uid: str = ""
    answer: bool = False
    """Whether its status is written when the repair begins and ends."""


class RepairCause(FaultPart, frozen=True, kw_only=True):
    """The cause of a repair, in the words of who made the object."""

    trigger: TriggerWord = "by-hand"
    by: str = ""
    """The client that asked, if it is known."""
    since: str = ""
    """The time of what started it, as RFC 3339 writes it."""
    node_uid: str = ""
    label: str = ""
    """The key of the label that is removed when it is over."""
    request: Asker | None = None
    after: str = ""
    """The Repair that has failed before it."""


class RepairSpec(FaultPart, frozen=True, kw_only=True):
    """The node that is repaired, and the action."""

    node: Word
    action: Action
    policy: str = ""
    """The RepairPolicy; without one, the first by name that is for the node, and without any, what classes and actions say."""
    takes: str = ""
    """Its length, in place of that of the policy."""
    cause: RepairCause | None = None


class RepairStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The state of a repair, which a controller writes."""

    phase: RepairPhase = ""
    trigger: Literal["", "label", "cordoned", "deleted", "by-hand", "request"] = ""
    by: str = ""
    policy: str = ""
    """The policy that it goes by; empty without one."""
    accepted_at: str = ""
    started_at: str = ""
    ended_at: str = ""
    clock: float | None = None
    """The clock of faults at its start, in seconds."""
    takes: float | None = None
    """Its length in seconds; None while it waits until pods have left the GPUs of the node: the length begins then."""
    in_use: tuple[str, ...] = ()
    """The pods that use GPUs of the node, for which it waits, or because of which it has failed."""
    attempt: int = 0
    """The number of repairs of the node with the same action before it."""
    node_uid: str = ""
    """The uid of the node at its start."""
    decided: float | None = None
    """The clock of faults when it was decided which faults it ends."""
    cleared: tuple[str, ...] = ()
    """The names of the Faults that it ends on the node."""
    left: tuple[str, ...] = ()
    """The names of the Faults that it does not end."""
    asleep: tuple[str, ...] = ()
    """Those of `left` that are not seen until the node is used."""
    replacement: str = ""
    """The node that is to be made, as JSON, until it is: it must outlive the node that is deleted. It is here, and not in what the
    author of a Repair writes, because a controller makes what it says."""
    message: str = ""


class RepairMeta(ObjectMeta, frozen=True, kw_only=True, rename="camel"):
    """The metadata of a Repair, as far as they are read."""

    managed_fields: tuple[dict[str, Json], ...] = ()


class StoredRepair(msgspec.Struct, frozen=True, kw_only=True):
    """A Repair as the cluster has it."""

    metadata: RepairMeta
    spec: RepairSpec
    status: RepairStatus = field(default_factory=RepairStatus)

    @property
    def name(self) -> str:
        """Its name."""
        return self.metadata.name

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be done."""
        return self.status.phase in OVER

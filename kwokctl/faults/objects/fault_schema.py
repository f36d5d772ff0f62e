"""The shapes of the custom resources Fault and FaultPage, `kwokctl.dev/v1alpha1`: what is to break, and the units that were hit.

The spec of a Fault is what its author asks for. The units that it hits are stored once, as rows of some 70 bytes: in its
status if they are few, else in pages of 500 rows.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from kwokctl.config.document_kinds import FAULT_PAGE, OWN
from kwokctl.faults.classes.class_schema import FaultPart, Word
from kwokctl.faults.objects.status_conditions import StatusCondition
from kwokctl.json_value import Json

ACKNOWLEDGED = "kwokctl.dev/api-proxy"
"""The annotation of a Fault of the API: the time of day from which on the proxy carries it out."""
ROWS_IN_STATUS = 20
"""The most rows that a status has; if there are more, all of them are in pages."""
ROWS_IN_PAGE = 500
FAILED_IN_STATUS = 20

Phase = Literal["Pending", "Injecting", "Landed", "Cleared", "Refused"]
"""In this order: its time has not come; some units do not show it yet; all do; its time is over; it cannot be injected."""


class PodTarget(FaultPart, frozen=True, kw_only=True):
    """Pods that a fault of the scope `pod` hits."""

    namespace: str = ""
    """Without one, those of all namespaces."""
    selector: str = ""
    """A selector of labels, as `kubectl get --selector` takes it."""


class FaultTarget(FaultPart, frozen=True, kw_only=True, gc=False):
    """The nodes that a fault hits: of those that all fields allow, `count` or `percent` are drawn."""

    nodes: tuple[Word, ...] = ()
    """Their names."""
    unit: str = ""
    """A unit of the fleet, such as the leaf `dgx-leaf-0017`: the nodes in it."""
    where: str = ""
    """An expression of CEL over each node."""
    count: Annotated[int, Meta(ge=1)] | None = None
    percent: Annotated[float, Meta(gt=0, le=100)] | None = None
    usage: Literal["any", "busy", "idle"] = "any"
    """Whether the device, or the node, must be in use by a pod, or must not."""
    pods: PodTarget | None = None
    """For classes of the scope `pod`: which pods on these nodes; without it all."""
    foreign: bool = False
    """Whether nodes that no controller of kwokctl plays may be hit."""
    follow: bool = False
    """Whether nodes that come later are hit, too."""
    api: bool = False
    """Whether the API is hit, and no node: for classes of the scope `api`."""


class FaultSpec(FaultPart, frozen=True, kw_only=True, gc=False):
    """A fault: what breaks where, from when to when."""

    class_name: Word = field(name="class")
    target: FaultTarget
    dialects: tuple[Word, ...] = ()
    """The stacks that show it, beside those that are on every node."""
    parameters: dict[str, Json] = field(default_factory=dict)
    seed: int = 0
    at: str = "0s"
    """The time from its creation until it happens."""
    lasts: str = field(name="for", default="")
    """The time from its start to its end; without it, and without `until`, it lasts until it is deleted."""
    until: str = ""
    """The time of day of its end, as RFC 3339 writes it."""
    gang: bool = False
    """Whether what hits a pod hits all pods of its gang."""
    time_scale: Annotated[float, Meta(gt=0)] = 1.0
    """The delays of signals, of what follows, and the length that the class gives are shorter by this factor."""


class FailedUnit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A unit that cannot show the fault."""

    node: str
    gpu: int | None = None
    reason: str


class FaultStatus(
    msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True
):
    """The state of a fault, which controllers write; fields that are not named here are dropped."""

    phase: Phase = "Pending"
    injected_at: str = ""
    """The time of day of its start, as RFC 3339 writes it, with nanoseconds."""
    clock: float | None = None
    """The clock of faults at its start, in seconds: it stands still while no controller runs."""
    definition: str = ""
    """The FaultPage with the class and the dialects as they were at its start."""
    units: int = 0
    landed: int = 0
    """The number of units that show all signals that are due by now."""
    failed: int = 0
    foreign: int = 0
    """The number of nodes that were left out because no controller of kwokctl plays them."""
    repaired: int = 0
    """The number of units on which a repair has ended it, or has made it sleep until they are used."""
    pages: int = 0
    rows: tuple[str, ...] = ()
    """The units, if they are few."""
    failed_units: tuple[FailedUnit, ...] = ()
    first_write: str = ""
    last_write: str = ""
    left: str = ""
    """The time left until its end."""
    cleared_at: str = ""
    reproducible: bool = True
    """False if the selection depended on what pods did at that moment."""
    conditions: tuple[StatusCondition, ...] = ()


class OwnerReference(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The owner of a Fault, as far as it is read: the schedule that has brought it."""

    kind: str
    name: str
    uid: str


class ObjectMeta(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The metadata of a Fault or of a FaultPage, as far as they are read."""

    name: str
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str = ""
    generation: int = 0
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] = ()


class StoredFault(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A Fault as the cluster has it."""

    metadata: ObjectMeta
    spec: FaultSpec
    status: FaultStatus = field(default_factory=FaultStatus)


class FaultDefinition(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The documents of a class, of those that follow from it, and of the dialects, as they were at the start."""

    class_name: str = field(name="class")
    classes: tuple[dict[str, Json], ...]
    dialects: tuple[dict[str, Json], ...]


class FaultPageSpec(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Some rows of a fault in the order of its selection, or of a schedule, or a definition."""

    fault: str = ""
    """The uid of the Fault."""
    number: int = 0
    """The number of the page, from 0; of a schedule, the number of rows in the pages before it."""
    schedule: str = ""
    """The uid of the FaultSchedule whose planned or suppressed faults the rows are."""
    rows: tuple[str, ...] = ()
    definition: FaultDefinition | None = None


class StoredPage(msgspec.Struct, frozen=True, kw_only=True):
    """A FaultPage as the cluster has it."""

    metadata: ObjectMeta
    spec: FaultPageSpec = field(default_factory=FaultPageSpec)
    api_version: str = field(name="apiVersion", default=OWN)
    kind: str = FAULT_PAGE

"""The shape of the document RepairPolicy, `kwokctl.dev/v1alpha1`, as its author writes it."""

from typing import Annotated

from msgspec import Meta, field

from kwokctl.config.document_kinds import OWN, REPAIR_POLICY
from kwokctl.draws.drawn import exactly_one
from kwokctl.faults.classes.class_schema import FaultPart, Odds, Word
from kwokctl.faults.repairs.repair_actions import Action
from kwokctl.faults.storms.schedule_schema import DrawnTime
from kwokctl.json_value import Json


class LabelTrigger(FaultPart, frozen=True, kw_only=True):
    """A label of the node that asks for a repair; it is removed when the repair is over."""

    key: Word
    value: str = ""
    """Without one, any value asks."""


class RequestTrigger(FaultPart, frozen=True, kw_only=True):
    """An object of a remediator that asks for the repair of a node, such as a RebootNode of NVSentinel."""

    api_version: Word
    kind: Word
    node: Word = "spec.nodeName"
    """The field with the name of the node, as the names of the fields on the way to it."""
    accepted: Word = "status.startTime"
    """The field that a client sets when it works on the request."""
    after: str = "0s"
    """The time that others have to accept it."""
    answer: bool = True
    """Whether `startTime`, `completionTime` and conditions are written into its status."""


class RepairTrigger(FaultPart, frozen=True, kw_only=True):
    """The cause of repairs: exactly one of the fields but `action` is given."""

    action: Action
    label: LabelTrigger | None = None
    cordoned_for: str | None = None
    """The time for which the node has been cordoned."""
    node_deleted: bool | None = None
    """The node was deleted: it is made anew."""
    request: RequestTrigger | None = None

    def __post_init__(self) -> None:
        """Raise ValueError unless exactly one cause is given."""
        exactly_one(self, [name for name in self.__struct_fields__ if name != "action"])


class ActionRules(FaultPart, frozen=True, kw_only=True):
    """The length, the odds and the follower of an action."""

    takes: str | DrawnTime = ""
    """Its length; without one, that of the action."""
    odds: dict[str, Odds] = field(default_factory=dict)
    """By class of fault, with which probability it ends one; of other classes, the class says it."""
    if_failed: Action | None = None
    """The action that follows if it has left a fault, or could not be done."""
    idle_within: str = ""
    """The time that `reset-gpu` waits until no pod uses a GPU of its node; without it, it fails at once if one does."""


class RepairPolicySpec(FaultPart, frozen=True, kw_only=True):
    """The rules of a repair shop: triggers, actions, and slots."""

    seed: int = 0
    where: str = ""
    """An expression in CEL over each node: which nodes its triggers watch; without one, all."""
    triggers: Annotated[tuple[RepairTrigger, ...], Meta(max_length=100)] = ()
    actions: dict[Action, ActionRules] = field(default_factory=dict)
    """Those that are offered; without any, all are."""
    slots: Annotated[int, Meta(ge=1)] | None = None
    """The most repairs at a time, as of technicians or of a provider; without one, any number."""
    uncordon: bool = False
    """Whether a node is made schedulable when its repair has succeeded."""


class RepairPolicyShape(FaultPart, frozen=True, kw_only=True):
    """A whole document."""

    spec: RepairPolicySpec
    api_version: str = OWN
    kind: str = REPAIR_POLICY
    metadata: dict[str, Json] = field(default_factory=dict)
    status: Json = None


SHAPED = ((REPAIR_POLICY, OWN, RepairPolicyShape),)
"""The kind, for the schema of documents."""

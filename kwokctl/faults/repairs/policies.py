"""The length of a repair, the faults that it ends, and the queue for slots, all by its policy. Pure.

All that is drawn depends on the seed of the policy and on names, so it is the same on every controller and after a restart.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import msgspec

from kwokctl.draws.streams import DrawStream
from kwokctl.expr.duration import parse_duration
from kwokctl.faults.classes.class_schema import FaultClassSpec
from kwokctl.faults.repairs.policy_schema import ActionRules, RepairPolicySpec
from kwokctl.faults.repairs.repair_actions import KNOWN, Action, class_odds
from kwokctl.faults.repairs.repair_schema import RepairCause, StoredRepair
from kwokctl.faults.storms.fault_times import DIGITS, length
from kwokctl.faults.storms.schedule_schema import DrawnTime, LogNormalTime
from kwokctl.replacing import replace

NO_POLICY = RepairPolicySpec()
"""The policy of a repair that has none."""
_REPAIR, _TAKES, _CLEARS = "repair", "takes", "clears"
_USUAL = ActionRules()


class OpenOnNode(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that is open on a node."""

    name: str
    uid: str
    class_name: str
    spec: FaultClassSpec | None
    """Its class; None if it cannot be read: nothing is known to end it."""


class RepairOutcome(NamedTuple):
    """The faults of a node after a repair, by their names."""

    cleared: tuple[str, ...]
    left: tuple[str, ...]
    asleep: tuple[str, ...]
    """Those of `left` that are seen under load only."""


def rules_of(policy: RepairPolicySpec, action: Action) -> ActionRules | None:
    """Return how an action goes by a policy; None if the policy does not offer it."""
    return policy.actions.get(action, None if policy.actions else _USUAL)


def allowed_cause(policy: RepairPolicySpec, cause: RepairCause) -> RepairCause:
    """Return a cause with that label and that request only which triggers of the policy name.

    The controller removes the label, and writes the status of the request, with its own rights; each client that may create a Repair writes its cause.
    """
    labels = {each.label.key for each in policy.triggers if each.label is not None}
    kinds = {
        (each.request.api_version, each.request.kind)
        for each in policy.triggers
        if each.request is not None and each.request.answer
    }
    asker = cause.request
    return replace(
        cause,
        label=cause.label if cause.label in labels else "",
        request=asker if asker and (asker.api_version, asker.kind) in kinds else None,
    )


def takes(policy: RepairPolicySpec, repair: StoredRepair, action: Action, attempt: int) -> float:
    """Return the seconds that a repair takes."""
    if repair.spec.takes:
        return round(parse_duration(repair.spec.takes), DIGITS)
    given = (rules_of(policy, action) or _USUAL).takes
    usual = DrawnTime(lognormal=LogNormalTime(**KNOWN[action].takes))
    stream = DrawStream.of(policy.seed, _REPAIR, _TAKES, repair.spec.node, action)
    return length(given or usual, attempt, stream) or 0.0


def outcome(
    policy: RepairPolicySpec, node: str, action: Action, attempt: int, faults: Iterable[OpenOnNode]
) -> RepairOutcome:
    """Return which faults of a node a repair ends; a draw depends on seed, node, fault, action and attempt only."""
    cleared, left, asleep = [], [], []
    for fault in sorted(faults, key=attrgetter("name")):
        stream = DrawStream.of(policy.seed, _REPAIR, _CLEARS, node, fault.name, action)
        if stream.at(attempt) < _odds(policy, action, fault):
            cleared.append(fault.name)
            continue
        left.append(fault.name)
        if fault.spec is not None and fault.spec.only_under_load:
            asleep.append(fault.name)
    return RepairOutcome(tuple(cleared), tuple(left), tuple(asleep))


def _odds(policy: RepairPolicySpec, action: Action, fault: OpenOnNode) -> float:
    given = (rules_of(policy, action) or _USUAL).odds.get(fault.class_name)
    if given is not None:
        return given
    return 0.0 if fault.spec is None else class_odds(action, fault.spec)


def idle_within(policy: RepairPolicySpec, action: Action) -> float:
    """Return the seconds that a repair waits until no pod uses a GPU of its node."""
    given = (rules_of(policy, action) or _USUAL).idle_within
    return parse_duration(given) if given else 0.0


def attempt_of(repair: StoredRepair, repairs: Iterable[StoredRepair]) -> int:
    """Return how many repairs of the same node with the same action have begun before one."""
    mine = repair.spec
    return sum(
        each.spec.node == mine.node
        and each.spec.action == mine.action
        and each.name != repair.name
        and bool(each.status.started_at)
        for each in repairs
    )


def startable(
    repairs: Iterable[StoredRepair], policies: Mapping[str, RepairPolicySpec]
) -> Sequence[StoredRepair]:
    """Return the queued repairs that may begin now: as many as there are slots, in the order of their acceptance.

    A node has one repair at a time; one that waits for its node takes no slot from those behind it.
    """
    queued = [each for each in repairs if each.status.phase == "Queued"]
    running = [each for each in repairs if each.status.phase == "Running"]
    busy = {each.spec.node for each in running}
    used: dict[str, int] = {}
    for each in running:
        used[each.status.policy] = used.get(each.status.policy, 0) + 1
    found = []
    for each in sorted(queued, key=lambda each: (each.status.accepted_at, each.name)):
        policy = each.status.policy
        slots = policies.get(policy, NO_POLICY).slots
        if each.spec.node in busy or (slots is not None and used.get(policy, 0) >= slots):
            continue
        busy.add(each.spec.node)
        used[policy] = used.get(policy, 0) + 1
        found.append(each)
    return found


def is_in_repair(repairs: Iterable[StoredRepair], node: str) -> bool:
    """Return whether a repair of a node has begun and is not over."""
    return any(each.spec.node == node and each.status.phase == "Running" for each in repairs)


def policy_for(
    repair: StoredRepair, policies: Mapping[str, RepairPolicySpec], fitting: Collection[str]
) -> str:
    """Return the name of the policy of a repair, empty for none; `fitting` are those that are for its node."""
    return repair.spec.policy or min(set(fitting) & policies.keys(), default="")

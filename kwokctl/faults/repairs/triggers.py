"""Triggers of repairs, as functions of a node or of a request. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b

import msgspec

from kwokctl.expr.duration import parse_duration, parse_time
from kwokctl.faults.repairs.policy_schema import (
    LabelTrigger,
    RepairPolicySpec,
    RepairTrigger,
    RequestTrigger,
)
from kwokctl.faults.repairs.repair_schema import (
    Asker,
    RepairCause,
    RepairSpec,
    StoredRepair,
)
from kwokctl.json_value import Json

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_DIGITS, _LONGEST = 4, 230
_TAINTED = 2.0
"""Seconds within which the taint of a cordon follows, whose time is a whole second."""


class SeenTaint(msgspec.Struct, frozen=True, rename="camel"):
    """A taint, as far as triggers read it."""

    key: str
    time_added: str | None = None


class _Spec(msgspec.Struct, frozen=True):
    unschedulable: bool = False
    taints: tuple[SeenTaint, ...] | None = None


class TriggerMeta(msgspec.Struct, frozen=True, rename="camel"):
    """The metadata of a node, as far as triggers read it."""

    name: str
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    managed_fields: tuple[dict[str, Json], ...] = ()


class TriggerNode(msgspec.Struct, frozen=True):
    """A node, as far as triggers read it."""

    metadata: TriggerMeta
    spec: _Spec = msgspec.field(default_factory=_Spec)


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """A repair that a trigger asks for."""

    wait: float
    """Seconds until it is due; not more than 0 if it is by now."""
    spec: RepairSpec
    name: str
    """The name of its Repair: the same on every controller, and after a restart."""


def due_of_node(
    policy: str, spec: RepairPolicySpec, node: TriggerNode, seen: float, now: float
) -> Iterator[Due]:
    """Yield the repairs that a policy's triggers ask for on a node, in their order.

    `seen` is the time of day at which the node was first seen like this, and `now` the present one.
    """
    uid = node.metadata.uid
    for trigger in spec.triggers:
        if trigger.label is not None and _has(node, trigger.label):
            path = ("f:metadata", "f:labels", f"f:{trigger.label.key}")
            by, since = last_writer(node.metadata.managed_fields, path)
            cause = RepairCause(
                trigger="label", by=by, since=since, node_uid=uid, label=trigger.label.key
            )
            yield _due(policy, trigger, node, cause, 0.0)
        elif trigger.cordoned_for is not None and node.spec.unschedulable:
            by, since = last_writer(node.metadata.managed_fields, ("f:spec", "f:unschedulable"))
            since = _tainted(node) or since  # which does not change with other fields
            begun = parse_time(since) if since else seen
            wait = begun + parse_duration(trigger.cordoned_for) - now
            cause = RepairCause(trigger="cordoned", by=by, since=since, node_uid=uid)
            yield _due(policy, trigger, node, cause, wait)


def due_of_deleted(policy: str, spec: RepairPolicySpec, node: TriggerNode) -> Due | None:
    """Return the repair that a policy asks for because a node was deleted; None if it asks for none."""
    for trigger in spec.triggers:
        if trigger.node_deleted:
            cause = RepairCause(trigger="deleted", node_uid=node.metadata.uid)
            return _due(policy, trigger, node, cause, 0.0)
    return None


def due_of_request(
    policy: str,
    trigger: RepairTrigger,
    request: RequestTrigger,
    body: Mapping[str, Json],
    now: float,
) -> Due | None:
    """Return the repair that an object asks for; None if it names no node, or a client has accepted it."""
    node = field_at(body, request.node)
    if not isinstance(node, str) or not node or field_at(body, request.accepted) not in (None, ""):
        return None
    meta = body["metadata"]
    made = meta.get("creationTimestamp", "")
    fields = tuple(meta.get("managedFields") or ())
    asker = Asker(
        api_version=request.api_version,
        kind=request.kind,
        namespace=meta.get("namespace", ""),
        name=meta["name"],
        uid=meta.get("uid", ""),
        answer=request.answer,
    )
    cause = RepairCause(
        trigger="request",
        by=fields[0].get("manager", "") if fields else "",
        since=made,
        request=asker,
    )
    begun = parse_time(made) if made else now
    return Due(
        wait=begun + parse_duration(request.after) - now,
        spec=RepairSpec(node=node, action=trigger.action, policy=policy, cause=cause),
        name=_name(node, policy, trigger.action, asker.uid),
    )


def is_answered(due: Due, repairs: Iterable[StoredRepair]) -> bool:
    """Return whether a repair that is asked for is not to be made: one goes on, or its cause has had one."""
    mine = due.spec.cause
    for each in repairs:
        if each.spec.node != due.spec.node:
            continue
        if not each.is_over or each.name == due.name:
            return True
        if mine is not None and mine.trigger == "cordoned" and _has_answered(each, mine):
            return True
    return False


def _has_answered(repair: StoredRepair, cordon: RepairCause) -> bool:
    """Return whether a repair was made because of a cordon; its time may be that of the cordon or of the taint that follows."""
    cause, made = repair.spec.cause, repair.metadata.creation_timestamp
    if cause is None or (cause.trigger, cause.node_uid) != ("cordoned", cordon.node_uid):
        return False
    return not cordon.since or not made or parse_time(made) + _TAINTED >= parse_time(cordon.since)


def last_writer(fields: Sequence[Mapping[str, Json]], path: Sequence[str]) -> tuple[str, str]:
    """Return the manager that has a field of an object, and the time of its last change; empty if none is recorded."""
    for entry in fields:
        found: Json = entry.get("fieldsV1") or {}
        for step in path:
            found = found.get(step) if isinstance(found, Mapping) else None
        if found is not None:
            return str(entry.get("manager", "")), str(entry.get("time", ""))
    return "", ""


def field_at(body: Mapping[str, Json], path: str) -> Json:
    """Return the value of a field by the names on the way to it, such as `spec.nodeName`; None without one."""
    found: Json = body
    for step in path.removeprefix(".").split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _has(node: TriggerNode, label: LabelTrigger) -> bool:
    value = (node.metadata.labels or {}).get(label.key)
    return value is not None and label.value in ("", value)


def _tainted(node: TriggerNode) -> str:
    taints = node.spec.taints or ()
    return next((each.time_added or "" for each in taints if each.key == UNSCHEDULABLE), "")


def _due(
    policy: str, trigger: RepairTrigger, node: TriggerNode, cause: RepairCause, wait: float
) -> Due:
    meta = node.metadata
    spec = RepairSpec(node=meta.name, action=trigger.action, policy=policy, cause=cause)
    name = _name(meta.name, policy, trigger.action, cause.trigger, meta.uid, cause.since)
    return Due(wait=wait, spec=spec, name=name)


def _name(node: str, *parts: str) -> str:
    digest = blake2b(msgspec.json.encode(parts), digest_size=_DIGITS).hexdigest()
    return f"{node[:_LONGEST]}-{digest}"

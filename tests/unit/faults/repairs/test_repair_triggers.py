"""What starts a repair: labels, cordons, deletions, and requests that nobody accepts."""

from typing import Any

import msgspec

from kwokctl.expr.duration import parse_time
from kwokctl.faults.repairs.policy_schema import (
    LabelTrigger,
    RepairPolicySpec,
    RepairTrigger,
    RequestTrigger,
)
from kwokctl.faults.repairs.repair_schema import RepairMeta, RepairStatus, StoredRepair
from kwokctl.faults.repairs.triggers import (
    Due,
    TriggerNode,
    due_of_deleted,
    due_of_node,
    due_of_request,
    field_at,
    is_answered,
)

AT = "2026-11-29T00:00:00Z"
NOW = parse_time(AT)
CORDONS = RepairPolicySpec(triggers=(RepairTrigger(action="reboot", cordoned_for="2m"),))
LABELS = RepairPolicySpec(
    triggers=(RepairTrigger(action="host-repair", label=LabelTrigger(key="ask", value="true")),)
)


def node(*, uid: str = "u", cordoned: bool = False, since: str = "", **labels: str) -> TriggerNode:
    taints = [{"key": "node.kubernetes.io/unschedulable", "timeAdded": since}] if since else []
    managed = {
        "manager": "draino",
        "time": "2026-11-28T23:59:00Z",
        "fieldsV1": {"f:spec": {"f:unschedulable": {}}, "f:metadata": {"f:labels": {"f:ask": {}}}},
    }
    body: dict[str, Any] = {
        "metadata": {"name": "n-0", "uid": uid, "labels": labels, "managedFields": [managed]},
        "spec": {"unschedulable": cordoned, "taints": taints},
    }
    return msgspec.convert(body, TriggerNode)


def of_node(spec: RepairPolicySpec, found: TriggerNode, now: float = NOW) -> list[Due]:
    return [*due_of_node("p", spec, found, NOW, now)]


def made(due: Due, *, at: str = AT, phase: Any = "Succeeded") -> StoredRepair:
    return StoredRepair(
        metadata=RepairMeta(name=due.name, creation_timestamp=at),
        spec=due.spec,
        status=RepairStatus(phase=phase),
    )


def test_a_node_that_is_cordoned_for_so_long_is_due() -> None:
    (due,) = of_node(CORDONS, node(cordoned=True, since=AT))
    assert due.wait == 120.0
    (due,) = of_node(CORDONS, node(cordoned=True, since=AT), NOW + 121)
    assert due.wait == -1.0
    assert due.spec.cause is not None
    assert (due.spec.cause.trigger, due.spec.cause.by) == ("cordoned", "draino")
    assert of_node(CORDONS, node()) == []


def test_without_the_taint_the_writer_of_the_cordon_says_its_time() -> None:
    (due,) = of_node(CORDONS, node(cordoned=True))
    assert due.wait == 60.0


def test_a_cordon_is_repaired_once_and_the_next_one_again() -> None:
    (due,) = of_node(CORDONS, node(cordoned=True, since=AT))
    assert not is_answered(due, [])
    assert is_answered(due, [made(due, phase="Running")])
    assert is_answered(due, [made(due)])
    (later,) = of_node(CORDONS, node(cordoned=True, since="2026-11-29T01:00:00Z"))
    assert later.name != due.name
    assert not is_answered(later, [made(due)])
    (other,) = of_node(CORDONS, node(uid="v", cordoned=True, since=AT))
    assert not is_answered(other, [made(due)])


def test_a_cordon_whose_taint_comes_a_moment_later_is_the_same() -> None:
    (first,) = of_node(CORDONS, node(cordoned=True))
    (tainted,) = of_node(CORDONS, node(cordoned=True, since="2026-11-29T00:00:01Z"))
    assert is_answered(tainted, [made(first)])


def test_a_label_asks_at_once_if_it_has_the_value() -> None:
    (due,) = of_node(LABELS, node(ask="true"))
    assert due.wait == 0.0
    assert due.spec.cause is not None
    assert (due.spec.cause.label, due.spec.action) == ("ask", "host-repair")
    assert of_node(LABELS, node(ask="false")) == []
    assert of_node(LABELS, node()) == []


def test_a_deleted_node_is_made_anew_where_a_policy_says_so() -> None:
    spec = RepairPolicySpec(triggers=(RepairTrigger(action="replace", node_deleted=True),))
    due = due_of_deleted("p", spec, node())
    assert due is not None
    assert due.spec.cause is not None
    assert (due.spec.node, due.spec.cause.trigger, due.spec.cause.node_uid) == (
        "n-0",
        "deleted",
        "u",
    )
    assert due_of_deleted("p", CORDONS, node()) is None


REQUEST = RequestTrigger(api_version="janitor/v1", kind="RebootNode", after="30s")
TRIGGER = RepairTrigger(action="reboot", request=REQUEST)


def request(status: dict[str, str] | None = None, **spec: str) -> dict[str, Any]:
    meta = {"name": "r", "uid": "x", "creationTimestamp": AT, "managedFields": [{"manager": "nvs"}]}
    return {"metadata": meta, "spec": spec, "status": status or {}}


def test_a_request_is_due_when_nobody_has_accepted_it_in_time() -> None:
    due = due_of_request("p", TRIGGER, REQUEST, request(nodeName="n-0"), NOW + 10)
    assert due is not None
    assert due.wait == 20.0
    assert due.spec.cause is not None
    assert due.spec.cause.by == "nvs"
    assert due.spec.cause.request is not None
    assert (due.spec.cause.request.name, due.spec.cause.request.uid) == ("r", "x")
    taken = request({"startTime": AT}, nodeName="n-0")
    assert due_of_request("p", TRIGGER, REQUEST, taken, NOW + 60) is None
    assert due_of_request("p", TRIGGER, REQUEST, request(), NOW + 60) is None


def test_a_field_is_found_by_the_names_on_the_way() -> None:
    body = {"spec": {"nodeRef": {"name": "n-1"}}, "status": "text"}
    assert field_at(body, ".spec.nodeRef.name") == "n-1"
    assert field_at(body, "spec.other.name") is None
    assert field_at(body, "status.startTime") is None

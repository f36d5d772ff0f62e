"""What an event of an audit log says of nodes and pods, and who has sent its request."""

from typing import Any

import msgspec
import pytest

from kwokctl.measure.sampling.audit_event import AuditedAct, AuditEvent
from kwokctl.measure.sampling.users_of_kubernetes import is_of_kubernetes

WALL = 1_767_323_045_250_000_000
CONTROLLER = "system:serviceaccount:kube-system:replicaset-controller"
BUDGET = {"code": 429, "details": {"causes": [{"reason": "DisruptionBudget", "message": "x"}]}}
NODE = {"resource": "nodes", "name": "n1"}
POD = {"resource": "pods", "namespace": "default", "name": "web"}
EVICTION = {**POD, "subresource": "eviction"}


def act(verb: str, target: dict[str, str] | None, **fields: Any) -> AuditedAct | None:
    """Return what a request of `anna` has done, with other fields of the event."""
    event = {
        "stage": "ResponseComplete",
        "verb": verb,
        "userAgent": "kubectl/v1",
        "user": {"username": "anna"},
        "requestURI": "/api/v1/x",
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-01-02T03:04:05.250000Z",
        "stageTimestamp": "2026-01-02T03:04:05.260000Z",
        **({"objectRef": target} if target else {}),
        **fields,
    }
    return msgspec.json.decode(msgspec.json.encode(event), type=AuditEvent).act


@pytest.mark.parametrize(
    ("verb", "target", "what"),
    [
        ("patch", NODE, "change node"),
        ("update", NODE, "change node"),
        ("delete", NODE, "delete node"),
        ("create", EVICTION, "evict pod"),
        ("delete", POD, "delete pod"),
    ],
)
def test_what_is_done_to_a_node_or_a_pod_has_the_times_and_the_user_of_its_request(
    verb: str, target: dict[str, str], what: str
) -> None:
    named = (target.get("namespace", ""), target["name"])

    found = act(verb, target)

    assert found == AuditedAct(WALL, WALL + 10_000_000, what, *named, "anna", is_refused=False)


@pytest.mark.parametrize(
    ("verb", "target"),
    [
        ("get", NODE), ("create", NODE), ("patch", {**NODE, "subresource": "status"}), ("patch", POD), ("create", POD),
        ("update", EVICTION), ("delete", {"resource": "leases", "name": "n1"}), ("delete", {"resource": "nodes"}), ("patch", None),
    ],
)  # fmt: skip
def test_no_other_request_is_an_act(verb: str, target: dict[str, str] | None) -> None:
    assert act(verb, target) is None


def test_what_was_refused_or_only_tried_is_no_act() -> None:
    for code in (403, 409, 429, 500):
        assert act("patch", NODE, responseStatus={"code": code}) is None
    assert act("patch", NODE, responseStatus=None) is None
    assert act("patch", NODE, requestURI="/api/v1/nodes/n1?dryRun=All") is None


def test_an_eviction_that_a_budget_refuses_counts_and_one_of_too_many_requests_does_not() -> None:
    refused = act("create", EVICTION, responseStatus=BUDGET)

    assert refused is not None
    assert refused.is_refused
    busy = {"code": 429, "details": {"retryAfterSeconds": 1}}
    assert act("create", EVICTION, responseStatus=busy) is None
    assert act("create", EVICTION, responseStatus={**BUDGET, "code": 500}) is None
    assert act("delete", POD, responseStatus=BUDGET) is None


def test_who_acts_in_the_name_of_another_user_is_that_user() -> None:
    found = act("patch", NODE, impersonatedUser={"username": "bert"})

    assert found is not None
    assert found.user == "bert"
    nobody = act("patch", NODE, user=None)
    assert nobody is not None
    assert nobody.user == ""


def test_the_controller_of_fake_nodes_is_named_and_not_its_user() -> None:
    found = act("patch", NODE, userAgent="kwok/1.0")

    assert found is not None
    assert found.user == "kwok-controller"
    assert act("delete", POD, userAgent="kwok/1.0") is None, "it ends pods as a kubelet does"


@pytest.mark.parametrize(
    ("user", "is_own"),
    [
        (CONTROLLER, True),
        ("system:serviceaccount:kube-system:descheduler", False),
        ("system:serviceaccount:other:replicaset-controller", False),
        ("system:kube-controller-manager", True),
        ("system:node:n1", True),
        ("system:nodes", False),
        ("kwok-admin", False),
    ],
)
def test_what_kubernetes_itself_does_to_nodes_and_pods_is_no_act(
    user: str, *, is_own: bool
) -> None:
    assert is_of_kubernetes(user) is is_own
    for verb, target in (("delete", POD), ("patch", NODE)):
        assert (act(verb, target, user={"username": user}) is None) is is_own
    assert act("delete", NODE, user={"username": user}) is not None
    assert act("create", EVICTION, user={"username": user}) is not None

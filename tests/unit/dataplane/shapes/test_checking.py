import json
from typing import Any

import pytest

from kwokctl.dataplane.shapes import check, check_status
from kwokctl.kube.resource import EVENTS, LEASES, NODES, PODS, SECRETS, Resource

METADATA = {
    "name": "n",
    "uid": "u",
    "creationTimestamp": "2024-01-01T00:00:00Z",
    "labels": {"a": "b"},
    "managedFields": [{"manager": "m", "fieldsType": "FieldsV1", "fieldsV1": {"f:a": {".": {}}}}],
    "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "controller": True}],
}
NODE_STATUS = {
    "allocatable": {"cpu": "1500m", "memory": "8Gi", "pods": 110},
    "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname"}],
    "conditions": [{"type": "Ready", "lastHeartbeatTime": "2024-01-01T00:00:00Z"}],
    "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
    "phase": None,
}
POD_STATUS = {
    "phase": "Running",
    "podIP": "",
    "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
    "containerStatuses": [{"name": "c", "state": {"running": {"startedAt": None}}}],
}
POD_SPEC = {
    "containers": [
        {
            "name": "c",
            "resources": {"limits": {"cpu": "1"}},
            "livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 3},
            "readinessProbe": {"tcpSocket": {"port": 80}},
        }
    ],
    "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}],
    "terminationGracePeriodSeconds": 30,
}
OBJECTS: dict[str, tuple[Resource, dict[str, Any]]] = {
    "node": (NODES, {"spec": {"podCIDRs": ["10.0.0.0/24"]}, "status": NODE_STATUS}),
    "pod": (PODS, {"spec": POD_SPEC, "status": POD_STATUS}),
    "lease": (
        LEASES,
        {"spec": {"renewTime": "2024-01-01T00:00:00.000000Z", "leaseDurationSeconds": 40}},
    ),
    "event": (EVENTS, {"eventTime": None, "count": 1, "involvedObject": {"kind": "Pod"}}),
}

objects = pytest.mark.parametrize("case", OBJECTS)


def document(case: str, **changes: Any) -> bytes:
    resource, fields = OBJECTS[case]
    identity = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": METADATA}
    return json.dumps(identity | fields | changes).encode()


@objects
def test_an_object_as_the_api_has_it_is_right(case: str) -> None:
    assert check(OBJECTS[case][0], document(case)) is None


@objects
def test_another_version_or_kind_is_told(case: str) -> None:
    resource = OBJECTS[case][0]

    assert check(resource, document(case, kind="Other")) == "kind: invalid enum value 'Other'"
    assert check(resource, document(case, apiVersion="v2")) == "apiVersion: invalid enum value 'v2'"
    assert "missing required field" in str(check(resource, b"{}"))


@objects
def test_an_unknown_field_is_not_certain(case: str) -> None:
    problem = check(OBJECTS[case][0], document(case, newField=1))

    assert problem == "object contains unknown field 'newField'"


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (
            {"allocatable": {"memory": "1Gi", "cpu": "1O"}},
            "allocatable.cpu: '1O' is not a quantity",
        ),
        ({"capacity": {"a": "1", "b": True}}, "capacity.b: true is not a quantity"),
        ({"capacity": {"b": None}}, "capacity.b: null is not a quantity"),
        ({"capacity": {"b": []}}, "capacity.b: [] is not a quantity"),
        (
            {"conditions": [{}, {"lastHeartbeatTime": "now"}]},
            "conditions[1].lastHeartbeatTime: 'now' is not a time",
        ),
        (
            {"addresses": [{"type": "InternalIP", "address": "localhost"}]},
            "addresses[0]: 'localhost' is not an IP address",
        ),
        ({"addresses": [{"type": "ExternalIP"}]}, "addresses[0]: null is not an IP address"),
        ({"phase": 1}, "phase: expected 'str | null', got 'int'"),
        ({"phase": {"a": "`"}}, "phase: expected 'str | null', got 'object'"),
        ({"images": {}}, "images: expected 'array | null', got 'object'"),
        ({"volumesInUse": [None]}, "volumesInUse[0]: expected 'str', got 'null'"),
        (
            {"daemonEndpoints": {"kubeletEndpoint": {"Port": 1.0}}},
            "daemonEndpoints.kubeletEndpoint.Port: expected 'int | null', got 'float'",
        ),
        (
            {"nodeInfo": {"Architecture": "amd64"}},
            "nodeInfo: object contains unknown field 'Architecture'",
        ),
    ],
)
def test_a_problem_is_told_with_its_place(status: Any, problem: str) -> None:
    assert check_status(NODES, json.dumps(status).encode()) == problem
    whole = check(NODES, document("node", status=status))
    assert whole == f"status.{problem}"


def test_the_status_alone_is_right_or_not() -> None:
    assert check_status(NODES, json.dumps(NODE_STATUS).encode()) is None
    assert check_status(PODS, json.dumps(POD_STATUS).encode()) is None
    assert check_status(PODS, b'{"podIP":"here"}') == "podIP: 'here' is not an IP address"
    assert check_status(PODS, b"[]") == "expected 'object', got 'array'"


@pytest.mark.parametrize("raw", [b"", b"{", b'{"phase":"\xff"}', b"{} {}", b"{'a': 1}"])
def test_what_is_not_json_is_told(raw: bytes) -> None:
    assert str(check_status(PODS, raw)).startswith("not JSON: ")


def test_other_kinds_are_not_known() -> None:
    assert check(SECRETS, b"{}") == "kind 'Secret' is not known here"
    assert check_status(LEASES, b"{}") == "the status of kind 'Lease' is not known here"


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("priority", [-(2**31), 2**31 - 1], [2**31, -(2**31) - 1, 1.5, "1", True]),
        ("activeDeadlineSeconds", [2**63 - 1, -(2**63)], [2**63, -(2**63) - 1, "1"]),
        ("hostNetwork", [True, None], [1, "true"]),
        ("nodeSelector", [{}, {"a": ""}], [{"a": None}, {"a": 1}, []]),
        ("overhead", [{"cpu": 1}], [{"cpu": "one"}]),
        ("hostAliases", [[{"ip": "::1"}]], [[{"ip": ""}], [{"ip": "h"}], [None]]),
    ],
)
def test_numbers_texts_and_maps_have_the_apis_limits(
    field: str, good: list[Any], bad: list[Any]
) -> None:
    for value in good:
        assert check(PODS, document("pod", spec={field: value})) is None
    for value in bad:
        problem = check(PODS, document("pod", spec={field: value}))
        assert str(problem).startswith(f"spec.{field}")


@pytest.mark.parametrize(("port", "right"), [(80, True), ("a", True), (2**31, False), (1.5, False)])
def test_a_port_is_a_number_or_a_name(port: Any, right: bool) -> None:
    container = {"livenessProbe": {"tcpSocket": {"port": port}}}

    assert (check(PODS, document("pod", spec={"containers": [container]})) is None) is right

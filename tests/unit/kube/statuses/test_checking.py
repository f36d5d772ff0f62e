import json
from typing import Any

import pytest

from kwokctl.kube.resource import LEASES, NODES, PODS
from kwokctl.kube.statuses import check_status

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
def test_a_problem_is_reported_with_its_path(status: Any, problem: str) -> None:
    assert check_status(NODES, json.dumps(status).encode()) == problem


def test_a_status_is_right_or_not() -> None:
    assert check_status(NODES, json.dumps(NODE_STATUS).encode()) is None
    assert check_status(PODS, json.dumps(POD_STATUS).encode()) is None
    assert check_status(PODS, b'{"podIP":"here"}') == "podIP: 'here' is not an IP address"
    assert check_status(PODS, b"[]") == "expected 'object', got 'array'"


@pytest.mark.parametrize("raw", [b"", b"{", b'{"phase":"\xff"}', b"{} {}", b"{'a': 1}"])
def test_text_that_is_not_json_is_reported(raw: bytes) -> None:
    assert str(check_status(PODS, raw)).startswith("not JSON: ")


def test_other_kinds_are_not_known() -> None:
    assert check_status(LEASES, b"{}") == "the status of kind 'Lease' is not known here"


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("observedGeneration", [2**63 - 1, -(2**63)], [2**63, -(2**63) - 1, 1.5, "1", True]),
        ("allocatedResources", [{}, {"cpu": 1}], [{"cpu": "one"}, {"cpu": None}, []]),
        ("hostIPs", [[{"ip": "::1"}]], [[{"ip": ""}], [{"ip": "h"}], [None]]),
        (
            "containerStatuses",
            [[{"ready": None, "restartCount": 2**31 - 1}]],
            [[{"ready": "true"}], [{"restartCount": 2**31}]],
        ),
    ],
)
def test_numbers_texts_and_maps_have_the_apis_limits(
    field: str, good: list[Any], bad: list[Any]
) -> None:
    for value in good:
        assert check_status(PODS, json.dumps({field: value}).encode()) is None
    for value in bad:
        problem = check_status(PODS, json.dumps({field: value}).encode())
        assert str(problem).startswith(field)

""""""

import json
from typing import Any

import msgspec
import pytest

from kwokctl.kube.resource import LEASES, NODES, PODS
from kwokctl.kube.statuses import check_status
from kwokctl.kube.statuses.decodable import TYPES, Structs, read_tables
from kwokctl.kube.statuses.leaves import LEAVES

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


FIRST = """\
Inner a:str b:[int32]
Outer kind:str inner:Inner
    inners:[Inner] texts:{str}
"""
SECOND = """\
Other outer:Outer
"""


def decode(name: str, raw: bytes, **checks: Any) -> Any:
    structs = Structs(read_tables(FIRST, SECOND), checks)
    return msgspec.to_builtins(msgspec.json.decode(raw, type=structs.struct(name)))


def test_a_table_is_read_line_by_line_with_what_is_indented() -> None:
    assert read_tables(FIRST, SECOND) == {
        "Inner": {"a": "str", "b": "[int32]"},
        "Outer": {"kind": "str", "inner": "Inner", "inners": "[Inner]", "texts": "{str}"},
        "Other": {"outer": "Outer"},
    }


def test_fields_may_be_missing_or_null() -> None:
    assert decode("Inner", b'{"a":null}') == {"a": None, "b": None}


def test_types_contain_each_other_in_lists_and_maps() -> None:
    raw = b'{"outer":{"kind":"Outer","inners":[{"b":[1]}],"texts":{"x":"y"}}}'

    outer = decode("Other", raw)["outer"]

    assert outer["inners"] == [{"a": None, "b": [1]}]
    assert outer["texts"] == {"x": "y"}


@pytest.mark.parametrize(
    "raw", [b'{"kind":1}', b"[]", b'{"kind":"Outer","inner":[]}', b'{"kind":"Outer","x":1}']
)
def test_what_is_not_in_the_table_is_refused(raw: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode("Outer", raw)


def test_a_check_looks_at_the_whole_value() -> None:
    def refuse(value: Any) -> None:
        if value.a == "wrong":
            raise ValueError("no")

    assert decode("Inner", b'{"a":"right"}', Inner=refuse)["a"] == "right"
    with pytest.raises(msgspec.ValidationError, match="no"):
        decode("Inner", b'{"a":"wrong"}', Inner=refuse)


def test_every_type_of_a_field_is_in_the_tables_and_none_is_unused() -> None:
    words = {word.strip("[]{}") for fields in TYPES.values() for word in fields.values()}
    leaves = {leaf.__name__ for leaf in LEAVES}
    structs = {word for word in words if word[0].isupper()} - leaves

    assert structs | {"NodeStatus", "PodStatus"} == TYPES.keys()

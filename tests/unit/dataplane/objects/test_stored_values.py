"""What the API server has stored is read as it shows it, and written as it has stored it."""

import base64
import json
from pathlib import Path

import pytest

from kwokctl.dataplane.objects.protobuf_objects import RepeatedParts, ShapeError
from kwokctl.dataplane.objects.stored_values import (
    JSON,
    PROTOBUF,
    UndecodableError,
    decoded,
    value_with,
)
from kwokctl.json_value import Json

RECORDED = json.loads(
    (Path(__file__).parents[3] / "golden" / "stored_objects.json").read_text("utf-8")
)
"""Values of a real API server, by their keys, with the objects as it shows them."""
POD = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "a", "creationTimestamp": "2026-01-02T03:04:05Z"},
    "spec": {"containers": [{"name": "c", "resources": {}}]},
    "status": {},
}


def _value(key: str) -> bytes:
    return base64.b64decode(RECORDED[key]["value"])


@pytest.mark.parametrize("key", RECORDED)
def test_a_stored_object_is_read_as_the_api_server_shows_it(key: str) -> None:
    found = decoded(_value(key))

    assert found.document == RECORDED[key]["document"]
    assert found.unknown == set()


@pytest.mark.parametrize("key", RECORDED)
def test_an_object_is_written_as_the_api_server_stores_it(key: str) -> None:
    assert value_with(RECORDED[key]["document"]) == _value(key)


def test_parts_that_are_remembered_come_out_the_same() -> None:
    parts = RepeatedParts()
    for _ in range(2):
        for key, each in RECORDED.items():
            assert value_with(each["document"], parts.encoded) == _value(key)


def test_a_fault_is_named_where_parts_are_remembered_too() -> None:
    spec = {"containers": [{"name": "c", "imag": "x"}]}

    with pytest.raises(ShapeError, match=r"spec\.containers\[0\]\.imag"):
        value_with({**POD, "spec": spec}, RepeatedParts().encoded)


def test_built_in_kinds_are_protocol_buffers_and_definitions_are_json() -> None:
    kinds = {key.split("/")[0]: decoded(_value(key)).media_type for key in RECORDED}

    assert kinds["secrets"] == PROTOBUF
    assert kinds["apiextensions.k8s.io"] == JSON


def _shown(document: Json) -> Json:
    return decoded(value_with(document)).document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.generation", -(2**63)),
        ("metadata.deletionTimestamp", "1969-12-31T23:59:59Z"),
        ("metadata.deletionTimestamp", "0001-01-02T00:00:00Z"),
        ("metadata.labels", {"b": "2", "a": ""}),
        ("metadata.managedFields", [{"manager": "m", "fieldsV1": {"f:a": {".": {}}}}]),
        ("spec.priority", -7),
        ("spec.enableServiceLinks", False),
        ("spec.hostname", "ä"),
        ("spec.overhead", {"cpu": "10m"}),
        ("spec.securityContext", {"supplementalGroups": [1, 2**40]}),
    ],
)
def test_odd_values_survive(path: str, value: Json) -> None:
    part, name = path.split(".")
    document = {**POD, part: {**POD[part], name: value}}  # type: ignore[dict-item]  # parts are mappings

    assert _shown(document) == document


def test_the_parts_of_a_second_survive_where_a_kind_has_them() -> None:
    lease = {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {"name": "a"},
        "spec": {"renewTime": "2026-01-02T03:04:05.678901Z"},
    }

    assert _shown(lease)["spec"] == lease["spec"]


def test_a_time_of_another_zone_is_shown_in_utc() -> None:
    document = {**POD, "metadata": {"name": "a", "deletionTimestamp": "2026-01-02T03:04:05+02:00"}}

    assert _shown(document)["metadata"]["deletionTimestamp"] == "2026-01-02T01:04:05Z"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"containers": [{"image": 3}]}, "'spec.containers[0].image' must be a string"),
        ({"containers": [{"imag": "x"}]}, "'spec.containers[0].imag' is not a field of Container"),
        ({"containers": {}}, "'spec.containers' must be a list"),
        ({"containers": ["x"]}, "'spec.containers[0]' must be a mapping"),
        ({"nodeSelector": {"a": 1}}, "'spec.nodeSelector.a' must be a string"),
        ({"nodeSelector": []}, "'spec.nodeSelector' must be a mapping"),
        ({"priority": "1"}, "'spec.priority' must be a whole number of 32 bits"),
        ({"priority": 2**31}, "'spec.priority' must be a whole number of 32 bits"),
        ({"hostNetwork": "yes"}, "'spec.hostNetwork' must be true or false"),
        ({"overhead": {"cpu": "1O"}}, "'spec.overhead.cpu' must be a quantity"),
        ("text", "'spec' must be a mapping"),
    ],
)
def test_what_the_api_server_could_not_read_is_refused_with_the_field(
    spec: Json, message: str
) -> None:
    with pytest.raises(ShapeError) as refused:
        value_with({**POD, "spec": spec})

    assert str(refused.value) == message


def test_the_nearest_field_is_suggested() -> None:
    with pytest.raises(ShapeError) as refused:
        value_with({**POD, "spec": {"nodeNam": "a"}})

    assert refused.value.hint == "did you mean 'nodeName'?"


def test_base64_and_times_are_checked() -> None:
    secret = {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "a"}, "data": {"k": "%"}}
    with pytest.raises(ShapeError, match=r"'data\.k' must be base64"):
        value_with(secret)
    with pytest.raises(ShapeError, match=r"'metadata\.creationTimestamp' must be a time"):
        value_with({**POD, "metadata": {"name": "a", "creationTimestamp": "yesterday"}})


def test_a_definition_is_checked_too_though_it_is_json() -> None:
    definition = {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "versions": {}},
    }
    with pytest.raises(ShapeError, match=r"'spec\.versions' must be a list"):
        value_with(definition)


def test_fields_of_a_later_release_are_named() -> None:
    value = value_with(POD)
    # A field 90 with the number 1, within the object: it and the Unknown become three bytes longer.
    at = value.index(b"\x12", 4 + 10) if value[4 + 10] == 0x12 else value.index(b"\x12", 14)
    size = value[at + 1]
    longer = value[:at] + bytes((0x12, size + 3)) + value[at + 2 : at + 2 + size]
    found = decoded(longer + b"\xd0\x05\x01" + value[at + 2 + size :])

    assert found.unknown == {"90 of Pod"}
    assert found.document == POD


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"k8s:enc:aescbc:v1:key:x", "it is encrypted"),
        (b"\xff", "it is neither JSON nor a protocol buffer of Kubernetes"),
        (b"[]", "it is not an object"),
        (b"k8s\0\x0a\x7f", "its kind is not known"),
        (b"k8s\0\x0a\x09\x0a\x02v9\x12\x03Pod", "the kind 'Pod' of 'v9' is not known"),
        (_value("secrets/default/keys")[:60], "a message is truncated"),
    ],
)
def test_what_cannot_be_read_says_why(value: bytes, message: str) -> None:
    with pytest.raises(UndecodableError, match=message):
        decoded(value)

"""The kind of an object is read from either of the encodings of the API server."""

import pytest

from kwokctl.dataplane.objects.stored_kind import StoredKind, stored_kind


def _protobuf(api_version: bytes, kind: bytes) -> bytes:
    head = bytes((0x0A, len(api_version))) + api_version + bytes((0x12, len(kind))) + kind
    return b"k8s\0" + bytes((0x0A, len(head))) + head + b"\x12\x03abc\x1a\0\x22\0"


def test_protobuf_names_its_kind() -> None:
    assert stored_kind(_protobuf(b"apps/v1", b"Deployment")) == StoredKind("apps/v1", "Deployment")


def test_json_names_its_kind() -> None:
    value = b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}'

    assert stored_kind(value) == StoredKind("example.com/v1", "Widget")


@pytest.mark.parametrize("value", [b"", b"k8s:enc:aescbc:v1:x", b"{}", b"[1]", b"k8s\0\x0a\x7f"])
def test_what_is_no_object_has_no_kind(value: bytes) -> None:
    assert stored_kind(value) is None

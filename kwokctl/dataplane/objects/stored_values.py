"""Decodes and encodes whole values of etcd: the object with the envelope that the API server adds.

Built-in kinds are protocol buffers within a `runtime.Unknown` (`k8s.io/apimachinery/pkg/runtime/generated.proto`);
custom resources, their definitions and APIServices are JSON.
"""

import json
from collections.abc import Callable, Mapping

import msgspec

from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.dataplane.objects.api_types import ApiType, type_of_kind
from kwokctl.dataplane.objects.protobuf_objects import ObjectDecoder, encoded
from kwokctl.dataplane.objects.stored_kind import StoredKind, stored_kind
from kwokctl.errors import KwokctlError
from kwokctl.etcd.protobuf import LENGTH, MessageError, fields, mark, sized, tag
from kwokctl.json_value import Json

PROTOBUF = "application/vnd.kubernetes.storagebinary"
JSON = "application/json"
_ENCRYPTED = b"k8s:enc:"
_RAW_MARK = mark(2, LENGTH)
_TYPE, _RAW = tag(1, LENGTH), tag(2, LENGTH)
_API_VERSION, _KIND = tag(1, LENGTH), tag(2, LENGTH)
_NO_ENCODING = sized(tag(3, LENGTH), b"") + sized(tag(4, LENGTH), b"")
_STORED_AS_JSON = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})
"""Groups of built-in kinds that are stored as JSON."""


class UndecodableError(KwokctlError):
    """A value cannot be read as an object."""


class StoredObject(msgspec.Struct, frozen=True, kw_only=True):
    """The object that is stored at a key."""

    document: dict[str, Json]
    media_type: str
    unknown: frozenset[str]
    """Fields that the table of types lacks; the document does not have them."""


def decoded(value: bytes) -> StoredObject:
    """Decode a value; UndecodableError says why that is not possible."""
    if value.startswith(PREFIX):
        return _of_protobuf(value)
    if value.startswith(_ENCRYPTED):
        raise UndecodableError("it is encrypted")
    try:
        document = json.loads(value)
    except ValueError as e:
        raise UndecodableError("it is neither JSON nor a protocol buffer of Kubernetes") from e
    if not isinstance(document, dict):
        raise UndecodableError("it is not an object")
    return StoredObject(document=document, media_type=JSON, unknown=frozenset())


def value_with(
    document: Mapping[str, Json], encode: Callable[[ApiType, Json], bytes] = encoded
) -> bytes:
    """Encode an object of a built-in kind as the API server stores it.

    Raises ShapeError, with the field, if it does not fit the kind's type.
    """
    kind = StoredKind(document["apiVersion"], document["kind"])
    of = type_of_kind(*kind)
    if of is None:
        raise UndecodableError(f"the kind '{kind.kind}' of '{kind.api_version}' is not known")
    body = {name: each for name, each in document.items() if name not in ("apiVersion", "kind")}
    raw = encode(of, body)
    if kind.api_version.partition("/")[0] in _STORED_AS_JSON:
        return json_value(document)
    head = sized(_API_VERSION, kind.api_version.encode()) + sized(_KIND, kind.kind.encode())
    return PREFIX + sized(_TYPE, head) + sized(_RAW, raw) + _NO_ENCODING


def json_value(document: Mapping[str, Json]) -> bytes:
    """Encode an object as the API server stores JSON: compact, with a line end."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _of_protobuf(value: bytes) -> StoredObject:
    kind = stored_kind(value)
    of = type_of_kind(*kind) if kind else None
    if kind is None or of is None:
        what = f"the kind '{kind.kind}' of '{kind.api_version}'" if kind else "its kind"
        raise UndecodableError(f"{what} is not known")
    decoder = ObjectDecoder(value)
    try:
        document = decoder.read(of, *_raw(value))
    except MessageError as e:
        raise UndecodableError(str(e)) from e
    return StoredObject(
        document={"kind": kind.kind, "apiVersion": kind.api_version, **document},
        media_type=PROTOBUF,
        unknown=frozenset(decoder.unknown),
    )


def _raw(value: bytes) -> tuple[int, int]:
    """Return the start and end of the object in an Unknown; they are equal for an object without fields."""
    for number, start, stop in fields(value, len(PREFIX), len(value)):
        if number == _RAW_MARK:
            return start, stop
    return 0, 0

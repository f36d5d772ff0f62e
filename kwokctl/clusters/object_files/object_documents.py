"""Writes objects as YAML documents that cost little: a line a field, each value as JSON.

JSON is YAML, so every reader of YAML understands them, and ours need not look at each value.
"""

import re
from collections.abc import Mapping

import msgspec

from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource

SEPARATOR = b"---\n"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_NO_TEXTS = frozenset(("y", "yes", "n", "no", "on", "off", "true", "false", "null"))
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that JSON takes unescaped, but YAML only escaped, or as the end of a line
(https://yaml.org/spec/1.1/#c-printable)."""
_UNPRINTABLE_BYTES = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]"
)
_GONE = ("resourceVersion", "selfLink")
"""Metadata that means something only in its own cluster."""
_FIRST = ("apiVersion", "kind", "metadata")
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def listed_document(raw: bytes | msgspec.Raw, resource: Resource) -> bytes:
    """Return an object of a list, which may not say its kind, as a document."""
    fields = _fields(raw)
    metadata = _fields(fields.get("metadata", b"{}"))
    for name in _GONE:
        metadata.pop(name, None)
    fields["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    fields["apiVersion"] = msgspec.Raw(resource.api_version.encode())
    fields["kind"] = msgspec.Raw(resource.kind.encode())
    return _lines(fields)


def listed_object(raw: bytes | msgspec.Raw, resource: Resource) -> dict[str, Json]:
    """Return an object of a list with its kind, and without what means nothing elsewhere."""
    value: dict[str, Json] = msgspec.json.decode(raw)
    metadata = {k: v for k, v in value["metadata"].items() if k not in _GONE}
    head = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    return value | head


def document_of(value: Mapping[str, Json]) -> bytes:
    """Return any object as a document."""
    fields = {name: msgspec.Raw(msgspec.json.encode(each)) for name, each in value.items()}
    fields |= {name: msgspec.Raw(str(value[name]).encode()) for name in ("apiVersion", "kind")}
    return _lines(fields)


def _lines(fields: Mapping[str, msgspec.Raw]) -> bytes:
    names = [name for name in _FIRST if name in fields]
    names += [name for name in fields if name not in _FIRST]
    text = b"".join(b"%b: %b\n" % (_key(name), bytes(fields[name])) for name in names)
    if _UNPRINTABLE_BYTES.search(text):
        text = _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text.decode()).encode()
    return text


def _key(name: str) -> bytes:
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _NO_TEXTS
    return name.encode() if is_plain else msgspec.json.encode(name)

"""Encodes many similar objects as protocol buffers: equal parts are encoded once."""

from collections.abc import Iterator, Mapping

import orjson

from kwokctl.dataplane.objects.api_types import ApiField, ApiType, Many, api_type
from kwokctl.dataplane.objects.encoding import check, written
from kwokctl.dataplane.objects.scalars import SCALAR
from kwokctl.etcd.protobuf import LENGTH, sized, tag
from kwokctl.json_value import Json

_MOST = 4_000
"""The most parts that are cached."""


class RepeatedParts:
    """Caches encoded fields of specs, statuses and metadata."""

    def __init__(self) -> None:
        """Begin without any."""
        self._parts: dict[tuple[str, str, bytes], bytes] = {}

    def encoded(self, of: ApiType, document: Json) -> bytes:
        """Encode a message like `encoding.encoded`; ShapeError if the document does not fit the type."""
        return b"".join(self._message(of, document, ""))

    def _message(self, of: ApiType, document: Json, place: str) -> Iterator[bytes]:
        check(of, document, place)
        for each in sorted(of.fields, key=lambda each: each.number):
            value = document.get(each.name)
            if not place and _is_message(each) and isinstance(value, Mapping):
                inner = b"".join(self._message(api_type(each.of), value, each.name))
                yield sized(tag(each.number, LENGTH), inner)
            else:
                yield self._field(of, each, value, f"{place}.{each.name}".lstrip("."))

    def _field(self, of: ApiType, each: ApiField, value: Json, place: str) -> bytes:
        if not isinstance(value, (dict, list)):
            return written(each, value, place)
        key = (of.name, each.name, orjson.dumps(value))
        if key not in self._parts:
            if len(self._parts) >= _MOST:
                self._parts.clear()
            self._parts[key] = written(each, value, place)
        return self._parts[key]


def _is_message(each: ApiField) -> bool:
    return each.many in (Many.ONE, Many.MAYBE_ONE) and each.of not in SCALAR

"""Writes samples in the form of pprof, which `go tool pprof` and others read.

https://github.com/google/pprof/blob/main/proto/profile.proto lists the fields by their numbers.
"""

import gzip
from collections.abc import Mapping
from types import CodeType

from kwokctl.etcd.protobuf import LENGTH, VARINT, sized, tag, varint
from kwokctl.kubelet.profiling.sampler import Stack

_NANO = 10**9


def profile(stacks: Mapping[Stack, int], *, began: float, seconds: float, period: float) -> bytes:
    """Return a compressed profile from the number of samples of each stack; a sample is `period` CPU seconds."""
    made, nanos = _Profile(), int(period * _NANO)
    kinds = made.kind("samples", "count"), made.kind("cpu", "nanoseconds")
    parts = [_message(1, kind) for kind in kinds]
    parts += [_message(2, made.sample(each, n, n * nanos)) for each, n in stacks.items()]
    parts += [_message(4, body) for body in made.locations.values()]
    parts += [_message(5, body) for body in made.functions.values()]
    parts += [_message(6, text.encode()) for text in made.texts]
    parts += [_number(9, int(began * _NANO)), _number(10, int(seconds * _NANO))]
    parts += [_message(11, kinds[1]), _number(12, nanos)]
    return gzip.compress(b"".join(parts))


class _Profile:
    """The tables of a profile, to which samples refer by number."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {"": 0}
        self.functions: dict[CodeType, bytes] = {}
        self.locations: dict[tuple[CodeType, int], bytes] = {}
        self._ids: dict[object, int] = {}

    def kind(self, what: str, unit: str) -> bytes:
        """Return the type of a value."""
        return _number(1, self._text(what)) + _number(2, self._text(unit))

    def sample(self, stack: Stack, *values: int) -> bytes:
        """Return a sample."""
        where = b"".join(varint(self._location(*call)) for call in stack)
        return _message(1, where) + _message(2, b"".join(map(varint, values)))

    def _location(self, code: CodeType, line: int) -> int:
        key = (code, line)
        if key not in self.locations:
            at = _number(1, self._function(code)) + _number(2, line or 0)
            self.locations[key] = _number(1, len(self.locations) + 1) + _message(4, at)
            self._ids[key] = len(self.locations)
        return self._ids[key]

    def _function(self, code: CodeType) -> int:
        if code not in self.functions:
            name, file = self._text(code.co_qualname), self._text(code.co_filename)
            body = _number(1, len(self.functions) + 1) + _number(2, name) + _number(3, name)
            self.functions[code] = body + _number(4, file) + _number(5, code.co_firstlineno)
            self._ids[code] = len(self.functions)
        return self._ids[code]

    def _text(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))


def _number(field: int, value: int) -> bytes:
    return tag(field, VARINT) + varint(value)


def _message(field: int, content: bytes) -> bytes:
    return sized(tag(field, LENGTH), content)

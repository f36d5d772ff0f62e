"""Lines of a log, in the formats of container runtimes, and how they are shown. Pure.

That of CRI: https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md
That of Docker: https://docs.docker.com/engine/logging/drivers/json-file/
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import msgspec

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_time
from kwokctl.kubelet.logs.log_query import LogQuery

_PARTIAL = b"P"
_TIME = re.compile(rb"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:[.,](\d+))?([Zz]|[-+]\d\d:?\d\d)")
_UTC = frozenset({b"Z", b"+00:00"})


class _DockerLine(msgspec.Struct):
    log: str
    stream: Literal["stdout", "stderr"]
    time: str


_DOCKER = msgspec.json.Decoder(_DockerLine)


class LogLine(NamedTuple):
    """A line, or a part of one."""

    time: bytes
    """As it is written."""
    stream: bytes
    content: bytes
    is_part: bool = False
    """Whether the line goes on in the next one."""


def parse_line(written: bytes) -> LogLine | None:
    """Read `TIME STREAM TAGS CONTENT`, or an object of Docker; None for anything else."""
    if written.startswith(b"{"):
        return _parse_docker(written)
    parts = written.split(b" ", 3)
    if len(parts) < 3 or parts[1] not in {b"stdout", b"stderr"}:
        return None
    content = parts[3] if len(parts) > 3 else b""
    return LogLine(parts[0], parts[1], content, parts[2].split(b":")[0] == _PARTIAL)


def _parse_docker(written: bytes) -> LogLine | None:
    """Read `{"log": …, "stream": …, "time": …}`; a part of a line has no newline."""
    try:
        line = _DOCKER.decode(written)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    content, newline, _ = line.log.rpartition("\n")
    text = content if newline else line.log
    return LogLine(line.time.encode(), line.stream.encode(), text.encode(), not newline)


def shown_time(written: bytes) -> bytes:
    """Return a time as kubelets show it: RFC 3339 with nine digits. A text that is not a time stays as it is.

    Writers of their own have commas, as `date --iso-8601=ns` does, and offsets without a colon.
    """
    match = _TIME.fullmatch(written)
    if match is None:
        return written
    day, time, fraction, zone = match.groups(default=b"")
    zone = zone.upper() if len(zone) != 5 else zone[:3] + b":" + zone[3:]
    return b"%bT%b.%b%b" % (
        day,
        time,
        fraction[:9].ljust(9, b"0"),
        b"Z" if zone in _UTC else zone,
    )


class LogWriter:
    """Writes lines as a client wants to see them, until it has had enough."""

    def __init__(self, query: LogQuery) -> None:
        """Leave out what is not asked for."""
        self._timestamps = query.timestamps
        self._since = query.since
        self._stream = query.stream.encode()
        self._left = query.limit
        self._is_within = False
        """Whether the line before goes on."""

    @property
    def is_full(self) -> bool:
        """Whether as many bytes were written as were requested."""
        return self._left == 0

    def write(self, lines: Iterable[LogLine]) -> bytes:
        """Return these lines as bytes, as far as they are wanted."""
        data = b"".join(self._pieces(lines))
        if self._left is not None:
            data = data[: self._left]
            self._left -= len(data)
        return data

    def _pieces(self, lines: Iterable[LogLine]) -> Iterator[bytes]:
        for line in lines:
            if self._stream not in (b"", line.stream) or self._is_before(line):
                continue
            if self._timestamps and not self._is_within:
                yield shown_time(line.time) + b" "
            yield line.content if line.is_part else line.content + b"\n"
            self._is_within = line.is_part

    def _is_before(self, line: LogLine) -> bool:
        """Tell whether a line is too old; lines come in the order of their times."""
        if not self._since:
            return False
        try:
            is_before = parse_time(line.time.decode("ascii", "replace")) < self._since
        except ExpressionError:
            is_before = True
        if not is_before:
            self._since = 0.0
        return is_before

"""Writes points in time as distances from a moment, and turns them back, as recordings have them.

`$(time-offset-nanosecond -5000000000)` is five seconds before the recording began; when it is
replayed, five seconds before that. Pure.
"""

import re
from datetime import UTC, datetime, timedelta

_TIME = re.compile(
    rb"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?"
    rb"(Z|[+-][0-9]{2}:[0-9]{2})"
)
_OFFSET = re.compile(rb"\$\(time-offset-nanosecond (-?[0-9]+)\)")
_MARK = b"$(time-offset-nanosecond "
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 1_000_000_000


def relative(text: bytes, start: int) -> bytes:
    """Return a text with all points in time relative to `start`, in nanoseconds since 1970."""
    return _TIME.sub(lambda found: _distance(found, start), text)


def absolute(text: bytes, start: int) -> bytes:
    """Return a text with points in time in place of distances from `start`."""
    if _MARK not in text:
        return text
    return _OFFSET.sub(lambda found: moment(start + int(found[1])), text)


def moment(nanoseconds: int) -> bytes:
    """Return a point in time as the API writes it, with microseconds."""
    seconds, rest = divmod(nanoseconds, _SECOND)
    time = _EPOCH + timedelta(seconds=seconds, microseconds=rest // 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ").encode()


def _distance(found: "re.Match[bytes]", start: int) -> bytes:
    try:
        whole = datetime.fromisoformat((found[1] + found[3].replace(b"Z", b"+00:00")).decode())
    except ValueError:  # it looks like a time, and is not one
        return found[0]
    since = whole - _EPOCH
    seconds = since.days * 86_400 + since.seconds
    nanoseconds = seconds * _SECOND + int((found[2] or b"").ljust(9, b"0"))
    return b"%b%d)" % (_MARK, nanoseconds - start)

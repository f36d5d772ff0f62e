"""The query for a container's log: the options of `kubectl logs`, as kubelets get them.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
"""

import msgspec

from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_time

_STREAMS = {"": "", "All": "", "Stdout": "stdout", "Stderr": "stderr"}
_YES, _NO = frozenset({"1", "t", "T", "true", "TRUE", "True"}), frozenset({"", "0", "f", "F", "false", "FALSE", "False"})  # fmt: skip


class LogQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The selection and the form of the lines."""

    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    tail: int | None = None
    """The number of existing lines from the end."""
    since: float = 0.0
    """A POSIX time stamp; lines before it are left out."""
    limit: int | None = None
    """In bytes."""
    stream: str = ""
    """Empty for all."""


def log_query(request: Request, now: float) -> LogQuery:
    """Read the parameters of a request at this time; RefusedError for a wrong one."""
    stream = _STREAMS.get(request.parameter("stream"))
    if stream is None:
        raise RefusedError(400, "stream must be All, Stdout or Stderr")
    tail = _whole(request, "tailLines", least=0, also="tail")
    if tail is not None and stream:
        raise RefusedError(400, "tailLines and a stream other than All exclude each other")
    return LogQuery(
        follow=_switch(request, "follow"),
        previous=_switch(request, "previous"),
        timestamps=_switch(request, "timestamps"),
        tail=tail,
        since=_since(request, now),
        limit=_whole(request, "limitBytes", least=1),
        stream=stream,
    )


def _since(request: Request, now: float) -> float:
    seconds, time = (
        _whole(request, "sinceSeconds", least=1),
        request.parameter("sinceTime"),
    )
    if seconds is not None and time:
        raise RefusedError(400, "sinceSeconds and sinceTime exclude each other")
    if seconds is not None:
        return now - seconds
    try:
        return parse_time(time) if time else 0.0
    except ExpressionError as e:
        raise RefusedError(400, f"sinceTime is not an RFC 3339 time, '{time}'") from e


def _whole(request: Request, name: str, *, least: int, also: str = "") -> int | None:
    text = request.parameter(name) or (request.parameter(also) if also else "")
    if not text or (also and text == "all"):
        return None
    is_number = text.isascii() and text.isdecimal() and len(text) < 19
    if not is_number or int(text) < least:
        raise RefusedError(400, f"{name} must be a number from {least} on, not '{text}'")
    return int(text)


def _switch(request: Request, name: str) -> bool:
    text = request.parameter(name)
    if text in _YES:
        return True
    if text in _NO:
        return False
    raise RefusedError(400, f"{name} must be true or false, not '{text}'")

"""The query for the logs of a node, as kubelets read it (NodeLogQuery). Pure.

Rules, statuses and sentences are those of `pkg/kubelet/kubelet_server_journal.go` of Kubernetes 1.36, see
https://kubernetes.io/docs/concepts/cluster-administration/system-logs/#log-query.
"""

import math

import msgspec

from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_time
from kwokctl.expr.regexp import Regexp, RegexpError

_MOST_LINES = 100_000
_MOST_SERVICES, _LONGEST_SERVICE = 4, 256
_SERVICE = r"^[a-zA-Z\-_.:0-9@]+$"
_OPTIONS = ("sinceTime", "untilTime", "boot", "tailLines", "pattern")
_INVALID, _NOT_ALLOWED = 400, 406


class NodeLogQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Services, or one file, and the selection of lines of services."""

    services: tuple[str, ...] = ()
    file: str = ""
    """Below /var/log, with the slash or backslash that tells it from a service."""
    since: float = -math.inf
    """POSIX time stamps."""
    until: float = math.inf
    boot: int = 0
    """0 is the present boot, and a number below it one before."""
    tail: int | None = None
    """The number of lines from the end."""
    pattern: str = ""
    """A regular expression of RE2."""
    has_options: bool = False
    """Whether lines are selected by anything else than their service."""


def node_log_query(request: Request) -> NodeLogQuery | None:
    """Read the parameters of a request, None without any; RefusedError for a wrong one."""
    if not any(request.parameters(name) for name in ("query", *_OPTIONS)):
        return None
    asked = request.parameters("query")
    named = [each for each in asked if each.strip()]
    if asked and not named:
        raise _invalid("query", "may not be empty")
    found = NodeLogQuery(
        services=tuple(each for each in named if not _is_file(each)),
        file=next(filter(_is_file, named), ""),
        since=_time(request, "sinceTime", -math.inf),
        until=_time(request, "untilTime", math.inf),
        boot=_whole(request, "boot") or 0,
        tail=_whole(request, "tailLines"),
        pattern=request.parameter("pattern"),
        has_options=any(map(request.parameter, _OPTIONS)),
    )
    _check(found, sum(map(_is_file, named)))
    return found


def _is_file(name: str) -> bool:
    return "/" in name or "\\" in name


def _check(query: NodeLogQuery, files: int) -> None:
    """Raise RefusedError, as kubelets do, for a query that contradicts itself."""
    service = Regexp(_SERVICE)
    for each in query.services:
        if len(each) > _LONGEST_SERVICE or not service.is_in(each):
            raise _not_allowed("query", f"'{each[:_LONGEST_SERVICE]}' is not the name of a service")
    if len(query.services) > _MOST_SERVICES:
        raise _not_allowed("query", f"may name at most {_MOST_SERVICES} services")
    _check_files(query, files)
    _check_options(query)


def _check_files(query: NodeLogQuery, files: int) -> None:
    if not query.services and not files:
        raise _not_allowed("query", "cannot be empty with options")
    if query.services and files:
        raise _not_allowed("query", "cannot specify a file and service")
    if files > 1:
        raise _not_allowed("query", "cannot specify more than one file")
    if files and query.has_options:
        raise _not_allowed("query", "cannot specify file with options")


def _check_options(query: NodeLogQuery) -> None:
    if query.since > query.until:
        raise _not_allowed("untilTime", "must be after `sinceTime`")
    if query.boot > 0:
        raise _not_allowed("boot", "must be less than 1")
    if query.tail is not None and not 0 <= query.tail <= _MOST_LINES:
        raise _not_allowed("tailLines", f"must be between 0 and {_MOST_LINES}")
    pattern_of(query)


def pattern_of(query: NodeLogQuery) -> Regexp | None:
    """Return the pattern: one without capital letters matches them as well, as for journalctl."""
    if not query.pattern:
        return None
    ignores_case = query.pattern == query.pattern.lower()
    try:
        return Regexp(f"(?i){query.pattern}" if ignores_case else query.pattern)
    except RegexpError as e:
        raise _not_allowed("pattern", str(e)) from e


def _time(request: Request, name: str, usual: float) -> float:
    text = request.parameter(name)
    try:
        return parse_time(text) if text else usual
    except ExpressionError as e:
        raise _invalid(name, f"invalid time format: '{text}'") from e


def _whole(request: Request, name: str) -> int | None:
    text = request.parameter(name)
    if not text:
        return None
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 19):
        raise _invalid(name, f"'{text}' is not a whole number")
    return int(text)


def _invalid(name: str, problem: str) -> RefusedError:
    return RefusedError(_INVALID, f"{name}: {problem}")


def _not_allowed(name: str, problem: str) -> RefusedError:
    return RefusedError(_NOT_ALLOWED, f"{name}: {problem}")

"""Reads what components have written: all of it, the last lines, or those since a time."""

import re
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.components.definitions.kube_apiserver import KubeApiserverOptions
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import NotFoundError
from kwokctl.model import ClusterName, ComponentName

_KLOG = re.compile(rb"[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6})")
"""Kubernetes' components: no year, and the time of their zone
(https://github.com/kubernetes/klog/blob/main/klog.go, the line format of `formatHeader`)."""
_ISO = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)")
_STAMPED = re.compile(rb'"(?:ts|time|stageTimestamp)":\s*("?)([^",}]+)\1')
"""JSON of etcd (zap), of the controller, and of the audit log, in that order."""
_MARK = b"=== "
"""A line of kwokctl's own, which says when a program was started."""
_MILLISECONDS = 1e11
"""Numbers above this count milliseconds, as those of Kubernetes' JSON logs do."""
AUDIT = "audit"


class LineRange(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of lines of a log."""

    tail: int | None = None
    """The number of lines at the end; None for all."""
    since: datetime | None = None

    def of(self, lines: Iterable[bytes], zone: tzinfo | None) -> Iterable[bytes]:
        """Return the wanted lines; `zone` is that of the program, None for this machine's."""
        if self.since is not None:
            lines = _since(lines, self.since, zone)
        return lines if self.tail is None else deque(lines, maxlen=self.tail)


async def lines_of(parts: AsyncIterator[bytes]) -> list[bytes]:
    """Return the lines of a log, with their ends; the last one may lack it."""
    content = b"".join([part async for part in parts])
    return content.splitlines(keepends=True)


async def beyond(parts: AsyncIterator[bytes], size: int) -> AsyncIterator[bytes]:
    """Yield what comes after the first `size` bytes, or after an empty part.

    There may be fewer if the log was cut meanwhile: its oldest part goes, or a user empties it.
    """
    async for part in parts:
        if not part:
            size = 0
        if len(part) > size:
            yield part[size:]
        size = max(size - len(part), 0)


def time_of(line: bytes, zone: tzinfo | None, latest: datetime) -> datetime | None:
    """Return when a line was written; None if it does not say. No line is of after `latest`."""
    if found := _KLOG.match(line):
        return _of_klog([int(number) for number in found.groups()], zone, latest)
    if line.startswith(_MARK):
        found = _ISO.match(line, len(_MARK))
        return _of_text(found[0]) if found else None
    if line.startswith(b"{") and (found := _STAMPED.search(line)):
        return _of_text(found[2])
    found = _ISO.match(line)
    return _of_text(found[0]) if found else None


def _since(lines: Iterable[bytes], since: datetime, zone: tzinfo | None) -> Iterator[bytes]:
    """Yield lines from the first one on that is not older than `since`."""
    latest = datetime.now(UTC) + timedelta(days=1)
    timeless: list[bytes] = []
    is_first, rest = True, iter(lines)
    for line in rest:
        time = time_of(line, zone, latest)
        if time is None:
            timeless += [line] if is_first else []
        elif time >= since:
            yield from timeless
            yield line
            yield from rest
            return
        else:
            is_first, timeless = False, []
    yield from timeless


def _of_klog(numbers: list[int], zone: tzinfo | None, latest: datetime) -> datetime | None:
    try:
        time = datetime(latest.year, *numbers, tzinfo=zone)  # type: ignore[misc,arg-type]  # six numbers
        # Without a zone it is this machine's own.
        time = time.astimezone()
        return time if time <= latest else time.replace(year=latest.year - 1)
    except ValueError:
        return None


def _of_text(text: bytes) -> datetime | None:
    try:
        number = float(text)
    except ValueError:
        try:
            return datetime.fromisoformat(text.decode()).astimezone(UTC)
        except ValueError:
            return None
    return datetime.fromtimestamp(number / 1000 if number > _MILLISECONDS else number, UTC)


_ALL = LineRange()


async def component_logs(
    home: Home, name: ClusterName, component: str, *, follow: bool, wanted: LineRange = _ALL
) -> AsyncIterator[bytes]:
    """Yield the `wanted` lines of a component's log, or of the audit log, and with `follow` all new ones.

    Raises NotFoundError if there is no such component.
    """
    saved = load(home.paths(name), name)
    has_audit = saved.options.of(KubeApiserverOptions).audit_policy
    known = [*saved.names, *([AUDIT] if has_audit else [])]
    if component not in known:
        near = did_you_mean(component, known)
        choice = (
            f"{near or 'choose from: ' + ', '.join(known)}; "
            f"for a pod: kwokctl --name {name} kubectl logs {component}"
        )
        if component == AUDIT:
            choice = "an audit log is written by clusters created with --kube-audit-policy FILE"
        raise NotFoundError(
            f"the cluster '{name}' has no component called '{component}'", hint=choice
        )
    runtime, each = home.runtime(saved.options.runtime), ComponentName(component)
    so_far = 0
    if wanted != _ALL:
        lines = await lines_of(runtime.logs(name, each))
        # What has a log file here is a process of this machine; containers have no other zone.
        zone = None if home.paths(name).log(each).exists() else UTC
        for line in wanted.of(lines, zone):
            yield line
        if not follow:
            return
        so_far = sum(map(len, lines))
    async for part in beyond(runtime.logs(name, each, follow=follow), so_far):
        yield part

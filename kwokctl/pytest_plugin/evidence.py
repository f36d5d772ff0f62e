"""Says what was in the cluster when a test failed."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from kwokctl.errors import KwokctlError
from kwokctl.json_value import Json

if TYPE_CHECKING:
    from kwokctl.library.cluster import Cluster

_SHOWN = 50
"""Objects and Events that are listed."""
_INFORMATION = re.compile(r'I\d{4} |\{"level":"(?:info|debug)"')
"""The beginning of a line of Kubernetes' components, and of etcd, that is no warning."""
_OF_ETCD_ITSELF = re.compile(
    r"addrConn\.createTransport|rejected connection .*tls: bad certificate"
)
"""Messages of every etcd that demands certificates: its gateway tries to reach it without one."""
Section = tuple[str, str]
"""The title and the text of a part of a report."""


def evidence(cluster: "Cluster", mark: str, since: datetime, lines: int) -> Iterator[Section]:
    """Yield what has changed since a mark, the Events, and the warnings in the logs since a time."""
    yield from _section("objects changed by the test", lambda: _changes(cluster, mark))
    yield from _section("Events of the test", lambda: _events(cluster, since))
    for component in cluster.components if lines else ():
        text = _log_of(cluster, component, lines, since)
        yield from _section(f"warnings of {component}", text)


def _log_of(cluster: "Cluster", component: str, lines: int, since: datetime) -> Callable[[], str]:
    """Read the warnings of a component: one that has just started says much that is of no interest."""

    def read() -> str:
        said = cluster.logs(component, since=since).splitlines()
        return "\n".join(list(filter(_is_warning, said))[-lines:])

    return read


def _is_warning(line: str) -> bool:
    return not (_INFORMATION.match(line) or _OF_ETCD_ITSELF.search(line))


def _section(title: str, read: Callable[[], str]) -> Iterator[Section]:
    """Yield a section unless it is empty; what cannot be read must not hide why the test failed."""
    try:
        text = read().rstrip()
    except KwokctlError as e:
        text = f"cannot be read: {e}"
    if text:
        yield f"kwok: {title}", text


def _changes(cluster: "Cluster", mark: str) -> str:
    found = [f"{each.change:8}{each.key}" for each in cluster.changes(mark)]
    return _cut(found)


def _events(cluster: "Cluster", since: datetime) -> str:
    begun = since.strftime("%Y-%m-%dT%H:%M:%S")
    events = sorted(cluster.find("events", namespace=None), key=_time)
    return _cut([_line(event) for event in events if _time(event) >= begun])


def _line(event: Mapping[str, Json]) -> str:
    about = event.get("involvedObject") or {}
    names = (about.get("kind"), about.get("namespace"), about.get("name"))
    where = "/".join(filter(None, names))
    return f"{_time(event)} {event.get('type', '')} {event.get('reason', '')} {where}: {event.get('message', '')}"


def _time(event: Mapping[str, Json]) -> str:
    series = event.get("series") or {}
    found = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return str(found or event["metadata"].get("creationTimestamp", ""))


def _cut(lines: list[str]) -> str:
    more = len(lines) - _SHOWN
    return "\n".join([*lines[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])

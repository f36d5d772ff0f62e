"""Computes how often fake nodes send heartbeats, and after what time a silent node is lost."""

from collections.abc import Iterator
from math import ceil

import msgspec

from kwokctl.artifacts.versions import minor
from kwokctl.config.declaring import Spelling, declared
from kwokctl.config.node_options import HeartbeatOptions
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError
from kwokctl.replacing import replace

REAL = "real"
STRETCHED = "stretched"
OFF = "off"

SLOWEST_STATUS_MILLISECONDS = 25_000
"""The longest time between two refreshes by the default Stage for nodes without leases."""

_LEASE = "node_lease_duration_seconds"
_STATUS = "node_status_update_frequency_milliseconds"
_PERIOD = "kube_controller_manager_node_monitor_period_milliseconds"
_GRACE = "kube_controller_manager_node_monitor_grace_period_milliseconds"
_FACTOR = "heartbeat_factor"
TIMES = frozenset({_LEASE, _STATUS, _PERIOD, _GRACE, _FACTOR})
"""The options for single times."""

_NEVER = 10 * 365 * 24 * 3600 * 1000
"""Ten years in milliseconds, which the controller-manager's durations can hold."""


class Heartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """The times that belong together; stretching one without the others loses nodes."""

    lease_seconds: int
    """0 for no leases."""
    status_milliseconds: int
    monitor_period_milliseconds: int
    monitor_grace_milliseconds: int
    is_off: bool = False
    """Whether nodes send no heartbeats at all, neither by lease nor by status."""


def heartbeat(options: ClusterOptions) -> Heartbeat:
    """Return the times of a cluster; a factor of 0 or 1 leaves them as they are.

    Clusters that were saved before there was a choice of heartbeats have stretched ones.
    """
    given = options.heartbeat
    factor = max(given.factor, 1)
    beat = Heartbeat(
        lease_seconds=round(given.lease_duration_seconds * factor),
        status_milliseconds=round(given.status_update_frequency_milliseconds * factor),
        monitor_period_milliseconds=round(given.monitor_period_milliseconds * factor),
        monitor_grace_milliseconds=round(given.monitor_grace_period_milliseconds * factor),
    )
    if given.kind != OFF:
        return beat
    return replace(
        beat, lease_seconds=0, status_milliseconds=0, monitor_grace_milliseconds=_NEVER, is_off=True
    )


def usual_heartbeat(lease_seconds: int) -> Heartbeat:
    """Return the times of nodes in a cluster whose Lease duration alone is known."""
    usual = HeartbeatOptions()
    return Heartbeat(
        lease_seconds=lease_seconds,
        status_milliseconds=usual.status_update_frequency_milliseconds,
        monitor_period_milliseconds=usual.monitor_period_milliseconds,
        monitor_grace_milliseconds=usual.monitor_grace_period_milliseconds,
    )


def settle_heartbeat(
    options: ClusterOptions, chosen: frozenset[str], *, is_fast: bool, is_monitored: bool = True
) -> ClusterOptions:
    """Fill in the kind of heartbeat for a new cluster, and the times that go with it.

    `chosen` are the options that the user gave. Where writes are cheap (`is_fast`) and no time was
    given, nodes send heartbeats as real ones do. Raises UsageError for options that contradict each
    other, and for times with which the controller-manager, if there is one (`is_monitored`), would
    lose healthy nodes.
    """
    given = options.heartbeat
    kind = given.kind
    if not kind:
        is_real = given.factor <= 1 or (is_fast and not chosen & TIMES)
        kind = REAL if is_real else STRETCHED
    given = replace(given, kind=kind)
    _refuse(_contradictions(given, chosen))
    if kind != STRETCHED:
        given = replace(given, factor=1)
    if _GRACE not in chosen:
        given = replace(given, monitor_grace_period_milliseconds=_grace(given, options))
    settled = replace(options, heartbeat=given)
    if kind != OFF and is_monitored:
        _refuse(_losses(given, heartbeat(settled)))
    return settled


def _grace(given: HeartbeatOptions, options: ClusterOptions) -> int:
    """Return a grace period that the user has not set: no other time alone may lose healthy nodes."""
    usual = given.monitor_grace_period_milliseconds
    if given.kind == REAL:
        usual = _usual_grace(options.kube_version)
    return max(usual, *_least_graces(given))


def _least_graces(given: HeartbeatOptions) -> Iterator[int]:
    """Yield what each other time needs, in milliseconds before the factor."""
    yield 2 * given.monitor_period_milliseconds
    yield given.lease_duration_seconds * 1000
    if not given.lease_duration_seconds:
        factor = max(given.factor, 1)
        status = round(given.status_update_frequency_milliseconds * factor)
        yield ceil(_slowest_status(status) / factor) + 1


def _slowest_status(every_milliseconds: int) -> int:
    """Return how old a status may become that is refreshed so often."""
    return max(every_milliseconds * 11 // 10, SLOWEST_STATUS_MILLISECONDS)


def _usual_grace(kube_version: str) -> int:
    """Return the controller-manager's own default in milliseconds.

    Source: https://github.com/kubernetes/kubernetes/pull/126287, released with v1.32.
    """
    return 50_000 if minor(kube_version) >= 32 else 40_000


def _refuse(found: Iterator[tuple[str, str]]) -> None:
    """Raise the first message and hint that is found."""
    for message, hint in found:
        raise UsageError(message, hint=hint)


def _contradictions(given: HeartbeatOptions, chosen: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Find options that contradict the kind of heartbeat."""
    kind = f"--node-heartbeat {given.kind}"
    if _FACTOR in chosen and (given.factor > 1) != (given.kind == STRETCHED):
        yield (
            f"'{kind}' and '{_given(given, _FACTOR)}' contradict each other",
            "leave out one of them; the factor is for '--node-heartbeat stretched' and more than 1",
        )
    if given.kind != OFF:
        return
    for name in (_LEASE, _STATUS, _GRACE):
        if name in chosen and _value(given, name):
            yield (
                f"'{kind}' and '{_given(given, name)}' contradict each other",
                "leave out one of them: without heartbeats there are no such times",
            )


def _losses(given: HeartbeatOptions, beat: Heartbeat) -> Iterator[tuple[str, str]]:
    """Find times with which healthy nodes would be lost; messages quote the user's words."""
    lease = given.lease_duration_seconds * 1000
    grace, period = given.monitor_grace_period_milliseconds, given.monitor_period_milliseconds
    grace_given = _given(given, _GRACE)
    if grace < 2 * period:
        yield (
            f"'{grace_given}' is less than twice '{_given(given, _PERIOD)}'",
            f"give a grace period of at least {2 * period}, or a shorter monitor period",
        )
    if lease and grace < lease:
        yield (
            f"'{grace_given}' is less than '{_given(given, _LEASE)}' lasts",
            f"give a grace period of at least {lease}, or a lease of at most {grace // 1000} s",
        )
    slowest = _slowest_status(beat.status_milliseconds)
    if not lease and beat.monitor_grace_milliseconds <= slowest:
        without = f"'{_given(given, _LEASE)}' and '{_given(given, _STATUS)}'"
        least = ceil(slowest / max(given.factor, 1))
        yield (
            f"with {without} a status may be {slowest} ms old, not less than '{grace_given}'",
            f"give a grace period of more than {least}, or leases",
        )


def _given(given: HeartbeatOptions, name: str) -> str:
    """Write an option with its value as the user would: by flag, else by key."""
    spelling, value = _spelling(name), _value(given, name)
    return f"{spelling.flag} {value}" if spelling.flag else f"{spelling.key}: {value}"


def _value(given: HeartbeatOptions, name: str) -> object:
    return getattr(given, _spelling(name).attribute)


def _spelling(name: str) -> Spelling:
    return next(each for each in declared(HeartbeatOptions) if each.field == name)

"""How often fake nodes show that they live, and when a silent one is given up."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kwokctl.artifacts.versions import minor
from kwokctl.config.options import ClusterOptions, spellings
from kwokctl.errors import UsageError

REAL = "real"
STRETCHED = "stretched"
OFF = "off"

SLOWEST_STATUS_MILLISECONDS = 25_000
"""How long the default Stage for nodes without leases waits at most between two refreshes."""

_LEASE = "node_lease_duration_seconds"
_STATUS = "node_status_update_frequency_milliseconds"
_PERIOD = "kube_controller_manager_node_monitor_period_milliseconds"
_GRACE = "kube_controller_manager_node_monitor_grace_period_milliseconds"
_FACTOR = "heartbeat_factor"
TIMES = frozenset({_LEASE, _STATUS, _PERIOD, _GRACE, _FACTOR})
"""The options that say single times."""

_NEVER = 10 * 365 * 24 * 3600 * 1000
"""Ten years in milliseconds: within what the controller-manager's durations can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """The times that belong together; stretching one without the others loses nodes."""

    lease_seconds: int
    """0 for no leases."""
    status_milliseconds: int
    monitor_period_milliseconds: int
    monitor_grace_milliseconds: int
    is_off: bool = False
    """Whether nodes never show that they live, neither by lease nor by status."""


def heartbeat(options: ClusterOptions) -> Heartbeat:
    """Return the times of a cluster; a factor of 0 or 1 leaves them as they are.

    Clusters that were saved before there was a choice of heartbeats have stretched ones.
    """
    factor = max(options.heartbeat_factor, 1)
    beat = Heartbeat(
        lease_seconds=options.node_lease_duration_seconds * factor,
        status_milliseconds=options.node_status_update_frequency_milliseconds * factor,
        monitor_period_milliseconds=getattr(options, _PERIOD) * factor,
        monitor_grace_milliseconds=getattr(options, _GRACE) * factor,
    )
    if options.node_heartbeat != OFF:
        return beat
    return replace(
        beat, lease_seconds=0, status_milliseconds=0, monitor_grace_milliseconds=_NEVER, is_off=True
    )


def settle_heartbeat(
    options: ClusterOptions, chosen: frozenset[str], *, is_fast: bool, is_monitored: bool = True
) -> ClusterOptions:
    """Fill in the kind of heartbeat for a new cluster, and the times that go with it.

    `chosen` are the options that somebody gave. Where writes are cheap (`is_fast`) and no time was
    given, nodes beat as real ones do. Raises UsageError for options that contradict each other, and
    for times with which the controller-manager, if there is one (`is_monitored`), would lose nodes
    that are well.
    """
    kind = options.node_heartbeat
    if not kind:
        is_real = options.heartbeat_factor <= 1 or (is_fast and not chosen & TIMES)
        kind = REAL if is_real else STRETCHED
    options = replace(options, node_heartbeat=kind)
    _refuse(_contradictions(options, chosen))
    if kind != STRETCHED:
        options = replace(options, heartbeat_factor=1)
    if kind == REAL and _GRACE not in chosen:
        grace = _usual_grace(options.kube_version)
        options = replace(
            options, kube_controller_manager_node_monitor_grace_period_milliseconds=grace
        )
    if kind != OFF and is_monitored:
        _refuse(_losses(options))
    return options


def _usual_grace(kube_version: str) -> int:
    """Return the controller-manager's own default in milliseconds.

    Source: https://github.com/kubernetes/kubernetes/pull/126287, released with v1.32.
    """
    return 50_000 if minor(kube_version) >= 32 else 40_000


def _refuse(found: Iterator[tuple[str, str]]) -> None:
    """Raise the first message and hint that is found."""
    for message, hint in found:
        raise UsageError(message, hint=hint)


def _contradictions(options: ClusterOptions, chosen: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Find given times that the kind of heartbeat does not leave open."""
    kind = f"--node-heartbeat {options.node_heartbeat}"
    factor = options.heartbeat_factor
    if _FACTOR in chosen and (factor > 1) != (options.node_heartbeat == STRETCHED):
        yield (
            f"'{kind}' and '{_given(options, _FACTOR)}' contradict each other",
            "leave out one of them; the factor is for '--node-heartbeat stretched' and more than 1",
        )
    if options.node_heartbeat != OFF:
        return
    for name in (_LEASE, _STATUS, _GRACE):
        if name in chosen and getattr(options, name):
            yield (
                f"'{kind}' and '{_given(options, name)}' contradict each other",
                "leave out one of them: without heartbeats there are no such times",
            )


def _losses(options: ClusterOptions) -> Iterator[tuple[str, str]]:
    """Find times with which nodes would be lost that are well. All are told as the user gives them."""
    lease = options.node_lease_duration_seconds * 1000
    grace, period = getattr(options, _GRACE), getattr(options, _PERIOD)
    grace_given = _given(options, _GRACE)
    if grace < 2 * period:
        yield (
            f"'{grace_given}' is less than twice '{_given(options, _PERIOD)}'",
            f"give a grace period of at least {2 * period}, or a shorter monitor period",
        )
    if lease and grace < lease:
        yield (
            f"'{grace_given}' is less than '{_given(options, _LEASE)}' lasts",
            f"give a grace period of at least {lease}, or a lease of at most {grace // 1000} s",
        )
    beat = heartbeat(options)
    slowest = max(beat.status_milliseconds * 11 // 10, SLOWEST_STATUS_MILLISECONDS)
    if not lease and beat.monitor_grace_milliseconds <= slowest:
        without = f"'{_given(options, _LEASE)}' and '{_given(options, _STATUS)}'"
        least = slowest // max(options.heartbeat_factor, 1)
        yield (
            f"with {without} a status may be {slowest} ms old, not less than '{grace_given}'",
            f"give a grace period of more than {least}, or leases",
        )


def _given(options: ClusterOptions, name: str) -> str:
    """Write an option with its value as the user would: by flag, else by key."""
    spelling = next(s for s in spellings() if s.field == name)
    value = getattr(options, name)
    return f"{spelling.flag} {value}" if spelling.flag else f"{spelling.key}: {value}"

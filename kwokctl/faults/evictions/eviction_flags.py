"""The flags of a kube-controller-manager on which evictions from silent nodes depend. Pure.

Source of the names and defaults: cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go and
pkg/controller/nodelifecycle/config of Kubernetes 1.36.
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from kwokctl.errors import UsageError
from kwokctl.expr.duration import parse_duration


class EvictionFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Times in seconds, rates in nodes a second; the defaults are those of Kubernetes 1.36."""

    grace: float = 50.0
    """The age of the last sign of life from which on a node counts as silent."""
    period: float = 5.0
    """The time between two looks at all nodes."""
    rate: float = 0.1
    """The nodes of a zone that are tainted a second, normally and if the whole zone is silent."""
    reduced_rate: float = 0.01
    """The same in a large zone most of which is silent."""
    large_zone: int = 50
    """A zone with more nodes than this is large."""
    unhealthy: float = 0.55
    """The part of a zone from which on most of it is silent."""
    renewal: float = 10.0
    """The time between two signs of life of a node: a quarter of the duration of its Lease."""


_FLAGS: Mapping[str, tuple[str, Callable[[str], float]]] = {
    "node-monitor-grace-period": ("grace", parse_duration),
    "node-monitor-period": ("period", parse_duration),
    "node-eviction-rate": ("rate", float),
    "secondary-node-eviction-rate": ("reduced_rate", float),
    "large-cluster-size-threshold": ("large_zone", int),
    "unhealthy-zone-threshold": ("unhealthy", float),
}


def eviction_flags(arguments: Iterable[str], *, renewal: float = 10.0) -> EvictionFlags:
    """Return the flags that are among the arguments of a controller-manager, as `--name=value`; defaults for the others.

    Raises UsageError for a value that the controller-manager would not take.
    """
    found: dict[str, float] = {}
    for argument in arguments:
        name, equals, text = argument.lstrip("-").partition("=")
        if equals and name in _FLAGS:
            field, read = _FLAGS[name]
            try:
                found[field] = read(text)
            except ValueError as e:
                raise UsageError(f"'{argument}': '{text}' is not a number") from e
    return msgspec.convert({**found, "renewal": renewal}, EvictionFlags)

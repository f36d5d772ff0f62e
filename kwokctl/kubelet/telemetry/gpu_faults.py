"""The open faults of a node as its GPUs feel them: states, standing still, and changes of metrics. Pure.

Faults without a GPU, those of the node, hit all of its GPUs.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration
from kwokctl.expr.regexp import Regexp, RegexpError
from kwokctl.faults.classes.class_schema import DeviceState
from kwokctl.faults.overlays.open_entries import OpenEntry

_WORST_FIRST: Sequence[DeviceState] = ("missing", "lost", "unhealthy", "slow")


class MetricChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the metrics that have a name."""

    pattern: str
    """A regular expression of RE2 for the whole name."""
    change: Literal["set", "add", "rise", "fall", "gone"]
    value: float | None = None
    since: float = 0.0
    """The time of its start as a POSIX time stamp."""
    is_of_node: bool = False
    """Whether all GPUs of the node have it, and so none is its cause."""

    def is_of(self, names: Sequence[str]) -> bool:
        """Return whether it is one of the metric that has these names."""
        return any(is_match(self.pattern, name) for name in names)


class GpuFaults(msgspec.Struct, frozen=True, kw_only=True):
    """All that the open faults do to a GPU."""

    state: DeviceState | None = None
    """The worst one."""
    hangs_at: float = math.inf
    """From this time on, a POSIX time stamp, programs wait on it for ever, and keep it busy with that."""
    stands_at: float = math.inf
    """From this time on it does no work."""
    changes: tuple[MetricChange, ...] = ()
    """In the order in which the faults began: of two that set a metric the later one counts."""


SOUND = GpuFaults()
"""Those of a GPU without faults."""


def gpu_faults(entries: Sequence[OpenEntry], gpu: int) -> GpuFaults:
    """Return what the entries of a node do to the GPU with this index."""
    hits = [each for each in entries if each.gpu is None or each.gpu == gpu]
    if not hits:
        return SOUND
    hits.sort(key=lambda each: (each.since, each.order))
    states = {each.device for each in hits}
    hangs_at = min(map(_hangs_at, hits))
    lost_at = min((each.since for each in hits if each.device == "lost"), default=math.inf)
    return GpuFaults(
        state=next((state for state in _WORST_FIRST if state in states), None),
        hangs_at=hangs_at,
        stands_at=min(hangs_at, lost_at),
        changes=tuple(change for each in hits for change in _changes(each)),
    )


def _hangs_at(entry: OpenEntry) -> float:
    effect = entry.workload
    if effect is None or effect.effect != "hang":
        return math.inf
    try:
        return entry.since + parse_duration(effect.after)
    except ExpressionError:
        return entry.since


def _changes(entry: OpenEntry) -> Iterator[MetricChange]:
    for each in entry.metrics:
        value = _number(each.value)
        if each.change in {"set", "add"} and value is None:
            continue
        yield MetricChange(
            pattern=each.name,
            change=each.change,
            value=value,
            since=entry.since,
            is_of_node=entry.gpu is None,
        )


def _number(text: str) -> float | None:
    """Return the value of a metric: any that Prometheus takes, but no text of a client's own."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


@lru_cache(maxsize=4096)
def is_match(pattern: str, name: str) -> bool:
    """Return whether a pattern matches a whole name; one that is no expression matches none."""
    try:
        return Regexp(rf"\A(?:{pattern})\z").is_in(name)
    except (RegexpError, ExpressionError):
        return False

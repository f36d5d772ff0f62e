"""What the controller counts about itself, written in the Prometheus text format."""

import os
import resource
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

Labels = tuple[tuple[str, str], ...]

_HELP = {
    "kwok_controller_objects": ("gauge", "Objects that are watched, by kind."),
    "kwok_controller_waiting": ("gauge", "Objects and leases that wait for their time."),
    "kwok_controller_queue_length": ("gauge", "Objects that are due and wait for a free player."),
    "kwok_controller_plays_total": ("counter", "Stages played, by stage and outcome."),
    "kwok_controller_failed_matches_total": (
        "counter",
        "Stages left out for an object because of an error in an expression, by stage.",
    ),
    "kwok_controller_slowed_plays_total": (
        "counter",
        "Stages that had to wait because too many followed each other at once, by stage.",
    ),
    "kwok_controller_writes_total": ("counter", "Writes sent to the cluster, by verb."),
    "kwok_controller_writes_saved_total": ("counter", "Writes not sent: nothing would change."),
    "kwok_controller_play_lag_seconds_sum": ("counter", "Time from being due to being played."),
    "kwok_controller_leases": ("gauge", "Node leases, by state."),
    "kwok_controller_lease_writes_total": ("counter", "Lease writes, by outcome."),
    "kwok_controller_pod_addresses": ("gauge", "Pod addresses in use."),
    "kwok_controller_watch_delay_seconds": (
        "gauge",
        "From a write to etcd to its sight in the watch.",
    ),
    "kwok_controller_unseen_writes": ("gauge", "Writes to etcd that the watch has not shown yet."),
    "kwok_controller_held_writes_total": ("counter", "Writes that waited for the watch to follow."),
    "apiserver_terminated_watchers_total": ("counter", "Watches that the API server has ended."),
    "process_cpu_seconds_total": ("counter", "User and system CPU time."),
    "process_resident_memory_bytes": ("gauge", "Resident memory."),
}


class Metrics:
    """Counters, and the gauges that are computed when the metrics are read."""

    def __init__(self) -> None:
        """Begin with all counters at zero."""
        self._counters: Counter[tuple[str, Labels]] = Counter()
        self._gauges: list[Callable[[], Mapping[tuple[str, Labels], float]]] = []

    def count(self, name: str, amount: float = 1, /, **labels: str) -> None:
        """Add to a counter."""
        self._counters[(name, tuple(labels.items()))] += amount  # type: ignore[assignment]  # a Counter of floats is not in the stubs

    def ask(self, gauge: Callable[[], Mapping[tuple[str, Labels], float]]) -> None:
        """Ask `gauge` for values whenever the metrics are read."""
        self._gauges.append(gauge)

    def text(self) -> str:
        """Write everything in the text format, version 0.0.4."""
        values: dict[tuple[str, Labels], float] = dict(self._counters)
        for gauge in self._gauges:
            values.update(gauge())
        values[("process_cpu_seconds_total", ())] = _cpu_seconds()
        values[("process_resident_memory_bytes", ())] = resident_bytes()
        return "".join(_lines(values))


def resident_bytes() -> int:
    """Return how much memory this process has resident."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _lines(values: Mapping[tuple[str, Labels], float]) -> Iterator[str]:
    last = ""
    for (name, labels), value in sorted(values.items()):
        if name != last:
            last = name
            kind, text = _HELP[name]
            yield f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
        marks = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
        yield f"{name}{{{marks}}} {value}\n" if marks else f"{name} {value}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

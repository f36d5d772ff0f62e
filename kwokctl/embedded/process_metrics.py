"""The metrics of a process, written in the Prometheus text format."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

Labels = tuple[tuple[str, str], ...]

Help = Mapping[str, tuple[str, str]]
"""The type of each metric, and what it means."""
_FAMILY = "# HELP "
"""With what the lines of a metric begin."""
_OF_PROCESS: Help = {
    "process_cpu_seconds_total": ("counter", "User and system CPU time."),
    "process_resident_memory_bytes": ("gauge", "Resident memory."),
}


class Metrics:
    """Counters, and the gauges that are computed when the metrics are read."""

    def __init__(self, meanings: Help) -> None:
        self._meanings = {**meanings, **_OF_PROCESS}
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
        values[("process_cpu_seconds_total", ())] = time.process_time()
        values[("process_resident_memory_bytes", ())] = resident_bytes()
        return "".join(_lines(values, self._meanings))


def joined_pages(*pages: str) -> str:
    """Return pages of the same process as one; of a metric that several have the first one counts."""
    seen: set[str] = set()
    first, *families = "".join(pages).split(_FAMILY)
    kept = [first]
    for family in families:
        name = family.partition(" ")[0]
        if name not in seen:
            seen.add(name)
            kept.append(_FAMILY + family)
    return "".join(kept)


def relayed_path(component: str) -> str:
    """Return where the kubelet server relays the metrics of a component."""
    return f"/metrics/components/{component}"


def resident_bytes() -> int:
    """Return how much memory this process has resident."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        import resource  # not on Windows

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


def _lines(values: Mapping[tuple[str, Labels], float], meanings: Help) -> Iterator[str]:
    last = ""
    for (name, labels), value in sorted(values.items()):
        if name != last:
            last = name
            kind, text = meanings[name]
            yield f"{_FAMILY}{name} {text}\n# TYPE {name} {kind}\n"
        marks = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
        yield f"{name}{{{marks}}} {value}\n" if marks else f"{name} {value}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

"""The lines of a record about the control plane: metrics, processes, and requests by client."""

from kwokctl.measure.record.line import Line


class MetricsSample(Line, tag="x"):
    """Metrics of a component, as it reported them at one time."""

    time: int
    component: int
    """The text with its name."""
    start: int
    """The time at which its process began; before the record it is negative."""
    is_whole: bool
    """Whether all metrics of the record were read, or only those that are sampled again and again."""
    series: tuple[int, ...]
    """The texts with the names and labels of series, as Prometheus writes them."""
    values: tuple[float | tuple[float, ...], ...]
    """The value of each; of a histogram the numbers of values up to each bound, which its text has as `le`."""


class ProcessSample(Line, tag="u"):
    """The CPU time and the memory of the components whose processes can be seen."""

    time: int
    components: tuple[int, ...]
    """The texts with the names of those that run."""
    processes: tuple[int, ...]
    """Of each, a number that no other process has."""
    cpu: tuple[float, ...]
    """Seconds since each began."""
    memory: tuple[int, ...]
    """Bytes in memory."""
    stopped: tuple[int, ...] = ()
    """The texts with the names of those that a signal has stopped."""


class ClientCount(Line, tag="k"):
    """Requests of a client that were answered since the last such line."""

    time: int
    client: int
    """The text with its name."""
    code: int
    """The status of HTTP."""
    count: int

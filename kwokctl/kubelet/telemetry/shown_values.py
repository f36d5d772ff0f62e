"""The value that a series has of a GPU with its open faults. Pure.

How far a metric rises or falls is in no class of faults, so these are guesses: a gauge moves half of the way to its end, a
counter that rises grows by one a second, and one that falls grows at half its rate.
"""

from collections.abc import Sequence

from kwokctl.kubelet.telemetry.dcgm_series import NEW_NAMES, GpuSeries
from kwokctl.kubelet.telemetry.gpu_faults import MetricChange, is_match
from kwokctl.kubelet.telemetry.gpu_reading import GpuReading, GpuUser
from kwokctl.replacing import replace

_HALF = 0.5


def is_changing(reading: GpuReading) -> bool:
    """Return whether faults change any value of a GPU."""
    faults = reading.faults
    return bool(faults.changes or reading.withheld) or faults.state is not None


def shown(
    series: GpuSeries, reading: GpuReading, user: GpuUser | None = None, *, of_driver: bool = False
) -> float | None:
    """Return the value for a GPU, or for the part of MIG that a user has; None while there is none.

    With `of_driver` the driver is asked, which still knows what an exporter that is down does not say.
    """
    names = _names(series)
    value = _undisturbed(series, names, reading, user)
    for change in reading.faults.changes:
        if not change.is_of(names) or (of_driver and change.is_of_node and change.change == "gone"):
            continue
        if change.change == "gone":
            return None
        value = _changed(series, change, value, reading)
    return value


def is_silenced(series: Sequence[GpuSeries], reading: GpuReading) -> bool:
    """Return whether faults of the node, and not of the GPU, take all of these series away: the exporter is down."""
    gone = [each for each in reading.faults.changes if each.is_of_node and each.change == "gone"]
    return bool(gone) and all(any(change.is_of(_names(each)) for change in gone) for each in series)


def _names(series: GpuSeries) -> Sequence[str]:
    new = NEW_NAMES.get(series.name)
    return (series.name,) if new is None else (series.name, new)


def _undisturbed(
    series: GpuSeries, names: Sequence[str], reading: GpuReading, user: GpuUser | None
) -> float:
    """Return the value without changes, of a counter without what it lacks."""
    if user is not None and series.of_part is not None:
        return series.of_part(reading, user)
    if series.value is None:
        return 0.0
    if series.is_counter and reading.withheld:
        busy, energy = reading.busy, reading.energy
        for each in reading.withheld:
            if any(is_match(each.pattern, name) for name in names):
                busy, energy = busy - each.amount.busy, energy - each.amount.energy
        reading = replace(reading, busy=busy, energy=energy)
    return series.value(reading)


def _changed(series: GpuSeries, change: MetricChange, value: float, reading: GpuReading) -> float:
    match change.change:
        case "set":
            return value if change.value is None else change.value
        case "add":
            return value + (change.value or 0.0)
        case "rise" if series.is_counter:
            return value + series.pace * max(reading.now - change.since, 0.0)
        case "rise":
            most = series.most if series.most is not None else 2 * value
            return value + (most - value) * _HALF
        case "fall" if not series.is_counter:
            return value * _HALF
    return value

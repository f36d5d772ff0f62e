"""The page of dcgm-exporter for a node, in the Prometheus text format.

Most of a page are names and labels, which stay as long as the same containers have the same GPUs. So a page is a template
that is made once for them, with places for the values that change.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kwokctl.kubelet.telemetry.dcgm_series import NEW_NAMES, GpuSeries
from kwokctl.kubelet.telemetry.gpu_reading import GpuReading, GpuUser
from kwokctl.kubelet.telemetry.mig_parts import mig_profile
from kwokctl.kubelet.telemetry.shown_values import is_changing, shown

_HOST = "Hostname"
"""The label with the node's name in releases up to 4.8.2, which dashboards know; later ones have `hostname`."""
_REPLICA = "::"
"""Stands in the identifier of a replica of a shared GPU before its number."""


_ShownValue = Callable[[GpuReading], float | None]


class _Row(NamedTuple):
    """A series of each metric."""

    labels: str
    gpu: int
    """The place of the GPU among the readings."""
    user: int | None
    """The place of the user whose part of MIG it is among those of the GPU, and after them of free parts."""


class DcgmPage:
    """The text for a node, as long as the same containers have its GPUs."""

    def __init__(
        self,
        node: str,
        readings: Sequence[GpuReading],
        series: Sequence[GpuSeries],
        *,
        new_names: bool,
    ) -> None:
        rows = [
            row
            for index, each in enumerate(readings)
            if each.faults.state != "lost"
            for row in _rows(node, index, each)
        ]
        self._values: list[tuple[_ShownValue, int]] = []
        parts: list[str] = []
        for each in series:
            name = NEW_NAMES.get(each.name, each.name) if new_names else each.name
            lines = [self._line(name, each, row, readings[row.gpu]) for row in rows]
            if any(lines) or not readings:
                parts += (f"# HELP {name} {each.help}\n# TYPE {name} {each.kind}\n", *lines)
        self._template = "".join(parts)

    def text(self, readings: Sequence[GpuReading]) -> bytes:
        """Return the text with the values of the same GPUs now."""
        values = tuple([value(readings[index]) for value, index in self._values])
        return (self._template % values).encode()

    def _line(self, name: str, series: GpuSeries, row: _Row, now: GpuReading) -> str:
        """Return the line of a row, with a place for a value that changes; none for one that is gone."""
        head = f"{name}{{{row.labels}}} ".replace("%", "%%")
        is_faulty = is_changing(now)
        if series.value is None and not is_faulty:
            return f"{head}0\n"
        value = _value_of(series, row.user, is_faulty=is_faulty)
        present = value(now)
        if present is None:
            return ""
        if not is_faulty and (series.is_fixed or not (now.users or series.is_aging)):
            return f"{head}{series.form % present}\n"
        self._values.append((value, row.gpu))
        return f"{head}{series.form}\n"


def _value_of(series: GpuSeries, user: int | None, *, is_faulty: bool) -> _ShownValue:
    """Return what reads a value; nothing is gone or back as long as a page lasts."""
    if not is_faulty and series.value is not None and (user is None or series.of_part is None):
        return series.value

    def read(reading: GpuReading) -> float | None:
        part = None if user is None else (*reading.users, *reading.free)[user]
        return shown(series, reading, part)

    return read


def _rows(node: str, index: int, reading: GpuReading) -> Iterator[_Row]:
    """Yield the rows of a GPU: one for each container that has it, and for each part of it."""
    gpu = reading.gpu
    labels = {
        "gpu": str(gpu.index),
        "UUID": gpu.uuid,
        "pci_bus_id": gpu.pci_bus_id,
        "device": f"nvidia{gpu.index}",
        "modelName": reading.model.product or gpu.product,
    }
    own = {_HOST: node, "DCGM_FI_DRIVER_VERSION": reading.driver}
    if not (reading.users or reading.free):
        yield _Row(_text(labels | own), index, None)
    for place, user in enumerate((*reading.users, *reading.free)):
        profile = mig_profile(user.resource)
        part = {"GPU_I_PROFILE": profile, "GPU_I_ID": str(user.instance)} if profile else {}
        yield _Row(_text(labels | part | own | _owner(user)), index, place if part else None)


def _owner(user: GpuUser) -> dict[str, str]:
    if not user.container:
        return {}
    _, is_shared, replica = user.device_id.partition(_REPLICA)
    shared = {"vgpu": replica} if is_shared else {}
    return {
        "container": user.container, "namespace": user.namespace, "pod": user.pod, **shared,
    }  # fmt: skip


def _text(labels: dict[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

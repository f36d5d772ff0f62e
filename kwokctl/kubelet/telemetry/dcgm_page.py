"""The page of dcgm-exporter for a node, in the Prometheus text format.

Most of a page are names and labels, which stay as long as the same containers have the same GPUs. So a page is a template
that is made once for them, with places for the values that change.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from kwokctl.kubelet.telemetry.dcgm_series import NEW_NAMES, GpuSeries, Value
from kwokctl.kubelet.telemetry.gpu_state import GpuReading, GpuUser, mig_profile

_HOST = "Hostname"
"""The label with the node's name in releases up to 4.8.2, which dashboards know; later ones have `hostname`."""
_REPLICA = "::"
"""Stands in the identifier of a replica of a shared GPU before its number."""


class _Row(NamedTuple):
    """A series of each metric."""

    labels: str
    gpu: int
    """The place of the GPU among the readings."""
    user: int | None
    """The place of the user whose part of MIG it is among those of the GPU."""


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
        rows = [row for index, each in enumerate(readings) for row in _rows(node, index, each)]
        self._values: list[tuple[Value, int]] = []
        parts: list[str] = []
        for each in series:
            name = NEW_NAMES.get(each.name, each.name) if new_names else each.name
            parts.append(f"# HELP {name} {each.help}\n# TYPE {name} {each.kind}\n")
            parts += [self._line(name, each, row, readings[row.gpu]) for row in rows]
        self._template = "".join(parts)

    def text(self, readings: Sequence[GpuReading]) -> bytes:
        """Return the text with the values of the same GPUs now."""
        values = tuple([value(readings[index]) for value, index in self._values])
        return (self._template % values).encode()

    def _line(self, name: str, series: GpuSeries, row: _Row, now: GpuReading) -> str:
        head = f"{name}{{{row.labels}}} ".replace("%", "%%")
        value = series.value
        if value is None:
            return f"{head}0\n"
        if row.user is not None and series.of_part is not None:
            value = partial(_of_part, series, row.user)
        if series.is_fixed or not (now.users or series.is_aging):
            return f"{head}{series.form % value(now)}\n"
        self._values.append((value, row.gpu))
        return f"{head}{series.form}\n"


def _of_part(series: GpuSeries, user: int, reading: GpuReading) -> float:
    assert series.of_part is not None
    return series.of_part(reading, reading.users[user])


def _rows(node: str, index: int, reading: GpuReading) -> Iterator[_Row]:
    """Yield the rows of a GPU: one for each container that has it, or a part of it."""
    gpu = reading.gpu
    labels = {
        "gpu": str(gpu.index),
        "UUID": gpu.uuid,
        "pci_bus_id": gpu.pci_bus_id,
        "device": f"nvidia{gpu.index}",
        "modelName": reading.model.product or gpu.product,
    }
    own = {_HOST: node, "DCGM_FI_DRIVER_VERSION": reading.driver}
    if not reading.users:
        yield _Row(_text(labels | own), index, None)
    for place, user in enumerate(reading.users):
        profile = mig_profile(user.resource)
        part = {"GPU_I_PROFILE": profile, "GPU_I_ID": str(user.instance)} if profile else {}
        yield _Row(_text(labels | part | own | _owner(user)), index, place if part else None)


def _owner(user: GpuUser) -> dict[str, str]:
    _, is_shared, replica = user.device_id.partition(_REPLICA)
    shared = {"vgpu": replica} if is_shared else {}
    return {
        "container": user.container, "namespace": user.namespace, "pod": user.pod, **shared,
    }  # fmt: skip


def _text(labels: dict[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

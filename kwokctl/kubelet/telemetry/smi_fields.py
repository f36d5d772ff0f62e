"""The fields that `nvidia-smi` can be asked for, and the answer in CSV. Pure."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from kwokctl.kubelet.telemetry.smi_gpus import (
    ArgumentError,
    SeenGpus,
    VisibleGpu,
    shown,
)

_UNKNOWN = "[N/A]"
_FAILED = "[Unknown Error]"
"""Stands for a value that the driver could not read."""


_Value = Callable[[VisibleGpu, SeenGpus], str]


class _Field(msgspec.Struct, frozen=True):
    """A field of queries."""

    value: _Value
    unit: str = ""
    aliases: tuple[str, ...] = ()


def _metric(name: str, form: str = ".0f") -> _Value:
    """Return what reads a metric of DCGM."""

    def read(gpu: VisibleGpu, _: SeenGpus) -> str:
        value = gpu.metric(name)
        return _FAILED if value is None else format(value, form)

    return read


def _memory(name: str) -> _Value:
    """Return what reads an amount of a framebuffer, unless nothing says how large that is."""
    read = _metric(name)
    return lambda gpu, seen: read(gpu, seen) if gpu.memory else _UNKNOWN


_FIELDS: Mapping[str, _Field] = {
    "timestamp": _Field(lambda _, seen: seen.moment.strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]),
    "driver_version": _Field(lambda gpu, _: gpu.reading.driver),
    "count": _Field(lambda _, seen: str(len(seen.gpus))),
    "name": _Field(lambda gpu, _: gpu.name, aliases=("gpu_name",)),
    "index": _Field(lambda gpu, _: str(gpu.index)),
    "uuid": _Field(lambda gpu, _: gpu.reading.gpu.uuid, aliases=("gpu_uuid",)),
    "pci.bus_id": _Field(lambda gpu, _: gpu.reading.gpu.pci_bus_id, aliases=("gpu_bus_id",)),
    "utilization.gpu": _Field(_metric("GPU_UTIL"), "%"),
    "utilization.memory": _Field(_metric("MEM_COPY_UTIL"), "%"),
    "memory.total": _Field(lambda gpu, _: str(gpu.memory) if gpu.memory else _UNKNOWN, "MiB"),
    "memory.reserved": _Field(_memory("FB_RESERVED"), "MiB"),
    "memory.used": _Field(_memory("FB_USED"), "MiB"),
    "memory.free": _Field(_memory("FB_FREE"), "MiB"),
    "temperature.gpu": _Field(_metric("GPU_TEMP")),
    "temperature.memory": _Field(_metric("MEMORY_TEMP")),
    "power.draw": _Field(
        _metric("POWER_USAGE", ".2f"),
        "W",
        aliases=("power.draw.average", "power.draw.instant"),
    ),
    "power.limit": _Field(lambda gpu, _: f"{gpu.reading.model.power.limit:.2f}", "W"),
    "clocks.current.graphics": _Field(_metric("SM_CLOCK"), "MHz", aliases=("clocks.gr",)),
    "clocks.current.sm": _Field(_metric("SM_CLOCK"), "MHz", aliases=("clocks.sm",)),
    "clocks.current.memory": _Field(_metric("MEM_CLOCK"), "MHz", aliases=("clocks.mem",)),
    "ecc.errors.uncorrected.volatile.total": _Field(_metric("ECC_DBE_VOL_TOTAL")),
}
_PROPER = {alias: name for name, field in _FIELDS.items() for alias in (name, *field.aliases)}


def names_of_fields() -> Sequence[tuple[str, ...]]:
    """Return the names of each field, the proper one first."""
    return [(name, *field.aliases) for name, field in _FIELDS.items()]


def csv_of(query: str, form: str | None, gpus: Sequence[VisibleGpu], seen: SeenGpus) -> str:
    """Return a line for each GPU; `nounits` leaves the units in the header, as the real program does."""
    words = [word.strip() for word in (form or "").split(",")]
    if words[0] != "csv" or not set(words[1:]) <= {"noheader", "nounits"}:
        raise ArgumentError("--query-gpu needs --format=csv[,noheader][,nounits]")
    fields = [(name, _FIELDS[name]) for name in _asked(query)]
    lines = [] if "noheader" in words else [[_heading(name, field) for name, field in fields]]
    has_units = "nounits" not in words
    lines += [
        [_cell(field, field.value(gpu, seen), has_units=has_units) for _, field in fields]
        for gpu in gpus
    ]
    return "".join(f"{', '.join(line)}\n" for line in lines)


def _asked(query: str) -> Sequence[str]:
    names = [name.strip() for name in query.split(",")]
    if len(names) > _MOST_FIELDS:
        raise ArgumentError(f"--query-gpu takes at most {_MOST_FIELDS} fields")
    for name in names:
        if name not in _PROPER:
            raise ArgumentError(
                f"{shown(name)} is not a field that can be queried: --help-query-gpu lists them"
            )
    return [_PROPER[name] for name in names]


_MOST_FIELDS = 256
"""Of one query: the command of a client may have half a megabyte."""


def _heading(name: str, field: _Field) -> str:
    return f"{name} [{field.unit}]" if field.unit else name


def _cell(field: _Field, value: str, *, has_units: bool) -> str:
    return (
        f"{value} {field.unit}" if has_units and field.unit and not value.startswith("[") else value
    )

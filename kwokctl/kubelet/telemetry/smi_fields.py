"""The fields that `nvidia-smi` can be asked for, and the answer in CSV. Pure."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from kwokctl.kubelet.telemetry.smi_gpus import (
    ArgumentError,
    SeenGpus,
    VisibleGpu,
    percent,
    shown,
    whole,
)

_UNKNOWN = "[N/A]"


class _Field(msgspec.Struct, frozen=True):
    """A field of queries."""

    value: Callable[[VisibleGpu, SeenGpus], str]
    unit: str = ""
    aliases: tuple[str, ...] = ()


def _of_memory(gpu: VisibleGpu, amount: int) -> str:
    """Return an amount of a framebuffer, unless nothing says how large that is."""
    return str(amount) if gpu.memory else _UNKNOWN


_FIELDS: Mapping[str, _Field] = {
    "timestamp": _Field(lambda _, seen: seen.moment.strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]),
    "driver_version": _Field(lambda gpu, _: gpu.reading.driver),
    "count": _Field(lambda _, seen: str(len(seen.gpus))),
    "name": _Field(lambda gpu, _: gpu.name, aliases=("gpu_name",)),
    "index": _Field(lambda gpu, _: str(gpu.index)),
    "uuid": _Field(lambda gpu, _: gpu.reading.gpu.uuid, aliases=("gpu_uuid",)),
    "pci.bus_id": _Field(lambda gpu, _: gpu.reading.gpu.pci_bus_id, aliases=("gpu_bus_id",)),
    "utilization.gpu": _Field(lambda gpu, _: percent(gpu.reading.utilization), "%"),
    "utilization.memory": _Field(lambda gpu, _: percent(gpu.reading.memory_utilization), "%"),
    "memory.total": _Field(lambda gpu, _: _of_memory(gpu, gpu.memory), "MiB"),
    "memory.reserved": _Field(
        lambda gpu, _: _of_memory(gpu, gpu.reading.framebuffer_reserved), "MiB"
    ),
    "memory.used": _Field(lambda gpu, _: _of_memory(gpu, gpu.reading.framebuffer_used), "MiB"),
    "memory.free": _Field(lambda gpu, _: _of_memory(gpu, gpu.reading.framebuffer_free), "MiB"),
    "temperature.gpu": _Field(lambda gpu, _: whole(gpu.reading.temperature)),
    "temperature.memory": _Field(lambda gpu, _: whole(gpu.reading.memory_temperature)),
    "power.draw": _Field(
        lambda gpu, _: f"{gpu.reading.power:.2f}",
        "W",
        aliases=("power.draw.average", "power.draw.instant"),
    ),
    "power.limit": _Field(lambda gpu, _: f"{gpu.reading.model.power.limit:.2f}", "W"),
    "clocks.current.graphics": _Field(
        lambda gpu, _: str(gpu.reading.sm_clock), "MHz", aliases=("clocks.gr",)
    ),
    "clocks.current.sm": _Field(
        lambda gpu, _: str(gpu.reading.sm_clock), "MHz", aliases=("clocks.sm",)
    ),
    "clocks.current.memory": _Field(
        lambda gpu, _: str(gpu.reading.memory_clock), "MHz", aliases=("clocks.mem",)
    ),
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
    return f"{value} {field.unit}" if has_units and field.unit and value != _UNKNOWN else value

"""The text that `nvidia-smi` prints of some GPUs. Pure: a function of its arguments and of readings.

Options, fields, units and exit codes are those of NVIDIA's manual page
(https://docs.nvidia.com/deploy/nvidia-smi/index.html); the sentences are our own. Of the real program's many options
those are here that scripts parse: the table, the list, and queries in CSV.
"""

from collections.abc import Sequence

import msgspec

from kwokctl.kubelet.streams.fake_programs import Printed
from kwokctl.kubelet.telemetry.smi_fields import csv_of, names_of_fields
from kwokctl.kubelet.telemetry.smi_gpus import ArgumentError, SeenGpus, VisibleGpu, shown
from kwokctl.kubelet.telemetry.smi_table import table_of

_BAD_ARGUMENT, _NOT_FOUND, _LOST = 2, 6, 15


class _Options(msgspec.Struct, kw_only=True):
    """The arguments, as far as they have been read."""

    is_list: bool = False
    is_help: bool = False
    is_help_of_fields: bool = False
    query: str | None = None
    format: str | None = None
    ids: str | None = None


class _NoDeviceError(Exception):
    pass


class _LostGpuError(Exception):
    """A GPU that was asked has fallen off the bus."""


def nvidia_smi(arguments: Sequence[str], seen: SeenGpus) -> Printed:
    """Return what the program prints."""
    try:
        return Printed(output=_printed(_read(arguments), seen))
    except ArgumentError as e:
        return Printed(
            errors=f"nvidia-smi: {e}. See 'nvidia-smi --help'.\n", exit_code=_BAD_ARGUMENT
        )
    except _NoDeviceError:
        return no_devices()
    except _LostGpuError as e:
        return Printed(output=f"{e}\n", exit_code=_LOST)


def no_devices() -> Printed:
    """Return what it prints where the driver has no GPU."""
    return Printed(output="No devices were found\n", exit_code=_NOT_FOUND)


_FLAGS = {
    "-L": "is_list",
    "--list-gpus": "is_list",
    "-h": "is_help",
    "--help": "is_help",
    "--help-query-gpu": "is_help_of_fields",
}
_VALUES = {"--query-gpu": "query", "--format": "format", "-i": "ids", "--id": "ids"}


def _read(arguments: Sequence[str]) -> _Options:
    options, words = _Options(), iter(arguments)
    for word in words:
        name, has_value, value = word.partition("=")
        if word in _FLAGS:
            setattr(options, _FLAGS[word], True)
        elif name in _VALUES:
            given = value if has_value else next(words, "")
            if not given:
                raise ArgumentError(f"option {name} needs a value")
            setattr(options, _VALUES[name], given)
        else:
            raise ArgumentError(f"option {shown(word)} is not one that fake pods know")
    return options


def _printed(options: _Options, seen: SeenGpus) -> str:
    if options.is_help:
        return _HELP
    if options.is_help_of_fields:
        return "".join(f"{' or '.join(names)}\n" for names in names_of_fields())
    if options.is_list and options.query is not None:
        raise ArgumentError("-L and --query-gpu cannot be combined")
    if options.query is None and options.format is not None:
        raise ArgumentError("--format needs --query-gpu")
    gpus = _chosen(seen.gpus, options.ids)
    if options.is_list:
        return "".join(map(_listed, gpus))
    for gpu in gpus:
        if gpu.is_lost:
            raise _LostGpuError(_lost(gpu))
    if options.query is not None:
        return csv_of(options.query, options.format, gpus, seen)
    return table_of(gpus, seen)


def _chosen(gpus: Sequence[VisibleGpu], ids: str | None) -> Sequence[VisibleGpu]:
    """Return the GPUs that are named by index, UUID or bus, in their order; all without a name."""
    if ids is None:
        return gpus
    asked = {each.strip().lower() for each in ids.split(",")}
    by_name = {name: gpu for gpu in gpus for name in _names(gpu)}
    if not asked <= by_name.keys():
        raise _NoDeviceError
    found = {by_name[name].index for name in asked}
    return [gpu for gpu in gpus if gpu.index in found]


def _names(gpu: VisibleGpu) -> tuple[str, ...]:
    facts = gpu.reading.gpu
    bus = facts.pci_bus_id.lower()
    # The domain has four digits for Linux and eight for NVIDIA.
    return (str(gpu.index), facts.uuid.lower(), bus, bus[4:])


def _listed(gpu: VisibleGpu) -> str:
    facts = gpu.reading.gpu
    if gpu.is_lost:
        return f"{_lost(gpu)}\n"
    lines = [f"GPU {gpu.index}: {gpu.name} (UUID: {facts.uuid})"]
    lines += [
        f"  MIG {part.profile:<12} Device {place:>2}: (UUID: {part.uuid})"
        for place, part in enumerate(gpu.parts)
    ]
    return "".join(f"{line}\n" for line in lines)


def _lost(gpu: VisibleGpu) -> str:
    # Two spaces, as users of the real program quote it: https://github.com/AlexeyAB/darknet/issues/86.
    problem = "GPU is lost.  Reboot the system to recover this GPU"
    bus = gpu.reading.gpu.pci_bus_id[4:]
    return f"Unable to determine the device handle for GPU {bus}: {problem}"


_HELP = """\
nvidia-smi of a fake pod: prints the GPUs that this container has. No program is run.

  nvidia-smi                            a table
  nvidia-smi -L, --list-gpus            names and UUIDs
  nvidia-smi --query-gpu=FIELD,... --format=csv[,noheader][,nounits]
                                        values of each GPU
  nvidia-smi --help-query-gpu           the fields
  nvidia-smi -h, --help                 this text

  -i ID, --id=ID,...                    only these GPUs: by index, UUID or PCI bus
"""

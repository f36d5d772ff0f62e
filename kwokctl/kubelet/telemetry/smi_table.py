"""The table of `nvidia-smi`: the columns, in their order and width, that people and scripts look for. Pure."""

from collections.abc import Mapping, Sequence

from kwokctl.kubelet.telemetry.smi_gpus import SeenGpus, VisibleGpu, whole

_WIDTHS = (41, 24, 22)
_WHOLE = sum(_WIDTHS) + len(_WIDTHS) - 1


def table_of(gpus: Sequence[VisibleGpu], seen: SeenGpus) -> str:
    """Return the table, which has at least one GPU."""
    head = [("GPU  Name", "Persistence-M"), ("Bus-Id", "Disp.A"), ("", "Volatile Uncorr. ECC")]
    units = [
        ("Fan  Temp   Perf", "Pwr:Usage/Cap"),
        ("", "Memory-Usage"),
        ("GPU-Util", "Compute M."),
    ]
    lines = [
        f"{seen.moment:%a %b %e %H:%M:%S %Y}",
        _rule("-", "-"),
        f"|{_spread(_versions(gpus[0].reading.driver), _WHOLE)}|",
        _rule("-", "+"),
        _row(head),
        _row(units),
        _row([("", ""), ("", ""), ("", "MIG M.")]),
        _rule("=", "+"),
    ]
    for gpu in gpus:
        lines += [*_rows(gpu), _rule("-", "+")]
    return "".join(f"{line}\n" for line in lines)


def _versions(driver: str) -> tuple[str, str]:
    cuda = _CUDA.get(driver.partition(".")[0], "N/A")
    return f"NVIDIA-SMI {driver:<20} Driver Version: {driver}", f"CUDA Version: {cuda}"


_CUDA: Mapping[str, str] = {
    "450": "11.0", "470": "11.4", "510": "11.6", "515": "11.7", "520": "11.8", "525": "12.0", "530": "12.1",
    "535": "12.2", "545": "12.3", "550": "12.4", "555": "12.5", "560": "12.6", "565": "12.7", "570": "12.8",
    "575": "12.9", "580": "13.0",
}  # fmt: skip
"""The version of CUDA that came with a branch of the driver, which is the highest that it runs:
https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html."""


def _rows(gpu: VisibleGpu) -> Sequence[str]:
    facts = gpu.reading.gpu
    memory = f"{_cell(gpu, 'FB_USED', 'MiB')} / {gpu.memory}MiB" if gpu.memory else "N/A"
    power = f"{_cell(gpu, 'POWER_USAGE', 'W')} / {whole(gpu.reading.model.power.limit)}W"
    return (
        _row(
            [
                (f"{gpu.index:>3}  {gpu.name[:_LONGEST]}", "On"),
                (facts.pci_bus_id, "Off"),
                ("", _cell(gpu, "ECC_DBE_VOL_TOTAL")),
            ]
        ),
        _row(
            [
                (f"N/A  {_cell(gpu, 'GPU_TEMP', 'C'):>4}    P0", power),
                ("", memory),
                (f"{_cell(gpu, 'GPU_UTIL', '%'):>8}", "Default"),
            ]
        ),
        _row([("", ""), ("", ""), ("", "Enabled" if gpu.parts else "Disabled")]),
    )


_LONGEST = 30
"""Characters of a name, so that the table stays one."""


def _cell(gpu: VisibleGpu, metric: str, unit: str = "") -> str:
    """Return a value with its unit, or what stands for one that the driver could not read."""
    value = gpu.metric(metric)
    return "ERR!" if value is None else f"{whole(value)}{unit}"


def _row(cells: Sequence[tuple[str, str]]) -> str:
    return f"|{'|'.join(_spread(cell, width) for cell, width in zip(cells, _WIDTHS, strict=True))}|"


def _spread(cell: tuple[str, str], width: int) -> str:
    """Return a cell with one text at its left and one at its right; what is too long is cut off."""
    left, right = cell
    return f" {left}{right.rjust(width - len(left) - 2)} "[:width]


def _rule(line: str, crossing: str) -> str:
    return f"+{crossing.join(line * width for width in _WIDTHS)}+"

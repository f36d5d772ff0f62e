"""The series of dcgm-exporter: their names, types and texts, and where each finds its value in the state of a GPU.

Names and types are those of its lists of counters (https://github.com/NVIDIA/dcgm-exporter, `etc/default-counters.csv` and
`etc/dcp-metrics-included.csv`); the texts are ours. How much of a link or of a pipe a busy GPU uses is in no source: the
factors below are guesses.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from kwokctl.kubelet.telemetry.gpu_reading import GpuReading, GpuUser

_PERCENT = 100.0
_MEGA = 10**6
_NANO = 1e9
_RATIO = "%.6f"
_TENSOR, _PCIE, _NVLINK = 0.6, 0.1, 0.3
"""Of the working time the part in which the tensor cores work, and of a link's speed the part that is used in it."""

Value = Callable[[GpuReading], float]
ValueOfPart = Callable[[GpuReading, GpuUser], float]


class GpuSeries(msgspec.Struct, frozen=True):
    """A metric with a series for each GPU."""

    name: str
    kind: str
    help: str
    value: Value | None = None
    """Without one it is always 0."""
    of_part: ValueOfPart | None = None
    """The value of a part of MIG; without one it has that of its GPU."""
    form: str = "%.0f"
    is_fixed: bool = False
    """Whether the value stays as long as the same containers have the GPU."""
    is_aging: bool = False
    """Whether it changes with time even if no container has the GPU."""
    pace: float = 1.0
    """The growth per second of a counter that faults let rise."""

    @property
    def most(self) -> float | None:
        """The highest value of a gauge that is a part of a whole; None for others."""
        if self.form == _RATIO:
            return 1.0
        return _PERCENT if self.name.endswith("_UTIL") else None

    @property
    def is_counter(self) -> bool:
        """Whether its values only grow."""
        return self.kind == "counter"


def _gauge(
    name: str,
    text: str,
    value: Value | None = None,
    of_part: ValueOfPart | None = None,
    *,
    form: str = "%.0f",
    is_fixed: bool = False,
) -> GpuSeries:
    return GpuSeries(f"DCGM_FI_{name}", "gauge", text, value, of_part, form, is_fixed)


def _counter(
    name: str,
    text: str,
    value: Value | None = None,
    *,
    is_aging: bool = False,
    pace: float = 1.0,
) -> GpuSeries:
    return GpuSeries(f"DCGM_FI_{name}", "counter", text, value, is_aging=is_aging, pace=pace)


def _time(name: str, text: str) -> GpuSeries:
    """Return a counter of nanoseconds, which rises as fast as time does."""
    return _counter(name, text, pace=_NANO)


DEFAULT: Sequence[GpuSeries] = (
    _gauge("DEV_SM_CLOCK", "Frequency of the clock of the SMs, in MHz.", lambda r: r.sm_clock, is_fixed=True),
    _gauge("DEV_MEM_CLOCK", "Frequency of the clock of the memory, in MHz.", lambda r: r.memory_clock,
           is_fixed=True),
    _gauge("DEV_MEMORY_TEMP", "Temperature of the memory, in degrees Celsius.",
           lambda r: r.memory_temperature),
    _gauge("DEV_GPU_TEMP", "Temperature of the GPU, in degrees Celsius.", lambda r: r.temperature),
    _gauge("DEV_POWER_USAGE", "Power that the GPU draws, in W.", lambda r: r.power, form="%.3f"),
    _counter("DEV_TOTAL_ENERGY_CONSUMPTION", "Energy consumed since the node was made, in mJ.",
             lambda r: r.energy, is_aging=True),
    _counter("DEV_PCIE_REPLAY_COUNTER", "Packets that PCIe had to send again."),
    _gauge("DEV_GPU_UTIL", "Part of the time in which the GPU works, in percent.",
           lambda r: r.utilization * _PERCENT, lambda _, user: user.utilization * _PERCENT),
    _gauge("DEV_MEM_COPY_UTIL", "Part of the time in which memory is read or written, in percent.",
           lambda r: r.memory_utilization * _PERCENT),
    _gauge("DEV_ENC_UTIL", "Part of the time in which the video encoder works, in percent."),
    _gauge("DEV_DEC_UTIL", "Part of the time in which the video decoder works, in percent."),
    _gauge("DEV_XID_ERRORS", "Number of the last XID error, 0 if there was none."),
    _gauge("DEV_FB_FREE", "Free framebuffer, in MiB.",
           lambda r: r.framebuffer_free, lambda _, user: user.room - user.framebuffer),
    _gauge("DEV_FB_USED", "Used framebuffer, in MiB.",
           lambda r: r.framebuffer_used, lambda _, user: user.framebuffer),
    _gauge("DEV_FB_RESERVED", "Framebuffer that the driver keeps, in MiB.",
           lambda r: r.framebuffer_reserved, is_fixed=True),
    _counter("DEV_NVLINK_BANDWIDTH_TOTAL", "Data that went over all NVLinks, in MB.",
             lambda r: r.busy * r.model.nvlinks.number * r.model.nvlinks.speed * _NVLINK),
    _gauge("DEV_VGPU_LICENSE_STATUS", "Whether a virtual GPU has its licence."),
    _counter("DEV_UNCORRECTABLE_REMAPPED_ROWS", "Rows of memory replaced for errors that could not be corrected."),
    _counter("DEV_CORRECTABLE_REMAPPED_ROWS", "Rows of memory replaced for errors that were corrected."),
    _gauge("DEV_ROW_REMAP_FAILURE", "Whether a row of memory could not be replaced."),
    _gauge("PROF_GR_ENGINE_ACTIVE", "Part of the time in which graphics or compute engines work.",
           lambda r: r.utilization, lambda _, user: user.utilization, form=_RATIO),
    _gauge("PROF_PIPE_TENSOR_ACTIVE", "Part of the cycles in which the tensor cores work.",
           lambda r: r.activity * _TENSOR, lambda _, user: user.activity * _TENSOR, form=_RATIO),
    _gauge("PROF_DRAM_ACTIVE", "Part of the cycles in which memory sends or receives.",
           lambda r: r.memory_utilization, form=_RATIO),
    _gauge("PROF_PCIE_TX_BYTES", "Bytes a second that the GPU sends over PCIe.",
           lambda r: r.activity * r.model.pcie_speed * _PCIE * _MEGA),
    _gauge("PROF_PCIE_RX_BYTES", "Bytes a second that the GPU receives over PCIe.",
           lambda r: r.activity * r.model.pcie_speed * _PCIE * _MEGA),
)  # fmt: skip
"""The ones that an exporter has without further ado."""
OPTIONAL: Sequence[GpuSeries] = (
    _counter("DEV_ECC_SBE_VOL_TOTAL", "Single-bit errors of memory since the driver was loaded."),
    _counter("DEV_ECC_DBE_VOL_TOTAL", "Double-bit errors of memory since the driver was loaded."),
    _counter("DEV_ECC_SBE_AGG_TOTAL", "Single-bit errors of memory in the GPU's life."),
    _counter("DEV_ECC_DBE_AGG_TOTAL", "Double-bit errors of memory in the GPU's life."),
    _counter("DEV_RETIRED_SBE", "Pages of memory retired for single-bit errors."),
    _counter("DEV_RETIRED_DBE", "Pages of memory retired for double-bit errors."),
    _counter("DEV_RETIRED_PENDING", "Pages of memory that wait for their retirement."),
    _time("DEV_POWER_VIOLATION", "Time for which power slowed the GPU down, in ns."),
    _time("DEV_THERMAL_VIOLATION", "Time for which heat slowed the GPU down, in ns."),
    _time("DEV_SYNC_BOOST_VIOLATION", "Time for which other GPUs of a sync boost slowed it down, in ns."),
    _time("DEV_BOARD_LIMIT_VIOLATION", "Time for which a limit of the board slowed the GPU down, in ns."),
    _time("DEV_LOW_UTIL_VIOLATION", "Time for which little work kept the clocks low, in ns."),
    _time("DEV_RELIABILITY_VIOLATION", "Time for which a reliability limit slowed the GPU down, in ns."),
    _counter("DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "CRC errors of flow control on all NVLinks."),
    _counter("DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "CRC errors of data on all NVLinks."),
    _counter("DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "Packets that NVLinks had to send again."),
    _counter("DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "Recoveries of NVLinks from errors."),
)  # fmt: skip
"""The ones that an exporter's list leaves out until its user adds them; all is well, so they are 0."""
NEW_NAMES: Mapping[str, str] = {
    "DCGM_FI_DEV_XID_ERRORS": "DCGM_FI_DEV_XID_ERROR",
    "DCGM_FI_DEV_GPU_TEMP": "DCGM_FI_DEV_GPU_TEMP_CELSIUS",
    "DCGM_FI_DEV_POWER_USAGE": "DCGM_FI_DEV_BOARD_POWER_WATTS",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": "DCGM_FI_DEV_PCIE_REPLAY_TOTAL",
    "DCGM_FI_DEV_GPU_UTIL": "DCGM_FI_DEV_GPU_UTIL_RATIO",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": "DCGM_FI_DEV_ROW_REMAP_FAILED",
}
"""The names that DCGM 4.6 gives to some of them; the values are the same."""
BY_NAME: Mapping[str, GpuSeries] = {each.name: each for each in (*DEFAULT, *OPTIONAL)}
"""All series, by the old names."""

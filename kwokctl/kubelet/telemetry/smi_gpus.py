"""The GPUs that `nvidia-smi` shows, and how it writes numbers. Pure."""

from datetime import UTC, datetime

import msgspec

from kwokctl.kubelet.telemetry.dcgm_series import BY_NAME
from kwokctl.kubelet.telemetry.gpu_reading import GpuReading
from kwokctl.kubelet.telemetry.shown_values import shown as shown_value


class ArgumentError(Exception):
    """The arguments are wrong; the message says why."""


class MigDevice(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a GPU."""

    profile: str
    """Such as `1g.10gb`."""
    uuid: str


class VisibleGpu(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU that a container sees."""

    index: int
    """Its number among those that the container sees."""
    reading: GpuReading
    parts: tuple[MigDevice, ...] = ()
    """Those that the container has, if it does not have the whole GPU."""

    @property
    def name(self) -> str:
        """The name of the product; labels, and so devices, do not have all of its characters."""
        return self.reading.model.product or self.reading.gpu.product

    @property
    def is_lost(self) -> bool:
        """Whether the driver cannot reach it any more."""
        return self.reading.faults.state == "lost"

    def metric(self, name: str) -> float | None:
        """Return the value of a metric of DCGM, which asks the same driver; None if that cannot say it.

        `name` is without `DCGM_FI_DEV_`.
        """
        return shown_value(BY_NAME[f"DCGM_FI_DEV_{name}"], self.reading, of_driver=True)

    @property
    def memory(self) -> int:
        """The size of the framebuffer in MiB; 0 if nothing says it."""
        if not (self.reading.gpu.memory or self.reading.model.memory):
            return 0
        return sum(
            (
                self.reading.framebuffer_used,
                self.reading.framebuffer_free,
                self.reading.framebuffer_reserved,
            )
        )


class SeenGpus(msgspec.Struct, frozen=True, kw_only=True):
    """All that the program can ask."""

    gpus: tuple[VisibleGpu, ...]
    now: float
    """A POSIX time stamp."""

    @property
    def moment(self) -> datetime:
        """The time, in UTC."""
        return datetime.fromtimestamp(self.now, UTC)


def whole(number: float) -> str:
    """Return the nearest whole number."""
    return str(round(number))


def shown(word: str) -> str:
    """Return a word of the client as its terminal may show it."""
    return repr(word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}…")


_LONGEST_WORD = 60

"""The GPUs that `nvidia-smi` shows, and how it writes numbers. Pure."""

from datetime import UTC, datetime

import msgspec

from kwokctl.kubelet.telemetry.gpu_state import GpuReading


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


def percent(number: float) -> str:
    """Return a part of one as a whole number of hundredths."""
    return whole(100 * number)


def shown(word: str) -> str:
    """Return a word of the client as its terminal may show it."""
    return repr(word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}…")


_LONGEST_WORD = 60

"""The state of a GPU at a moment, and the containers that use it then."""

from typing import NamedTuple

import msgspec

from kwokctl.fleet.devices import GPU, Gpu
from kwokctl.kubelet.telemetry.gpu_faults import SOUND, GpuFaults
from kwokctl.kubelet.telemetry.gpu_models import GpuModel


class GpuUser(msgspec.Struct, frozen=True, kw_only=True):
    """A running container that has a GPU, or a part of one."""

    namespace: str
    pod: str
    uid: str
    container: str
    device_id: str
    resource: str = GPU
    utilization: float = 0.0
    """The part of the time in which it uses its device, from 0 to 1."""
    activity: float = 0.0
    """The part of the time in which that is work: a program that waits for others for ever only keeps it busy."""
    framebuffer: int = 0
    """The memory that it uses there, in MiB."""
    room: int = 0
    """The memory that it may use there, in MiB."""
    instance: int = 0
    """The number of its part of MIG in the GPU; 0 for all else."""


class Counted(NamedTuple):
    """The values of a GPU that counters are made of."""

    busy: float
    """Seconds of work."""
    energy: float
    """In mJ."""


class Withheld(msgspec.Struct, frozen=True):
    """The part of the growth of counters that faults have taken."""

    pattern: str
    """Matches the names of the counters."""
    amount: Counted


class GpuReading(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a GPU at a moment."""

    gpu: Gpu
    model: GpuModel
    driver: str
    """The version of the driver of the node."""
    utilization: float
    """The part of the time in which it works, from 0 to 1."""
    activity: float = 0.0
    """The part of that which is work, from 0 to 1."""
    memory_utilization: float
    """The part of the time in which its memory is read or written, from 0 to 1."""
    framebuffer_used: int
    """In MiB, as the next two."""
    framebuffer_free: int
    framebuffer_reserved: int
    power: float
    """In W."""
    temperature: float
    """In °C."""
    memory_temperature: float
    sm_clock: int
    """In MHz."""
    memory_clock: int
    busy: float
    """The seconds for which it has worked; a counter."""
    energy: float
    """The energy that it has consumed, in mJ; a counter."""
    users: tuple[GpuUser, ...]
    free: tuple[GpuUser, ...] = ()
    """The parts of MIG that no container uses: users without a name that do nothing."""
    now: float = 0.0
    """The moment, as a POSIX time stamp."""
    faults: GpuFaults = SOUND
    withheld: tuple[Withheld, ...] = ()

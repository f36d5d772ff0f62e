"""GPUs in a state of which each value is another one."""

from kwokctl.fleet.devices import Gpu
from kwokctl.kubelet.telemetry.gpu_models import model_of
from kwokctl.kubelet.telemetry.gpu_reading import GpuReading, GpuUser


def reading(gpu: Gpu, *users: GpuUser) -> GpuReading:
    """Return what there is to say of a GPU that works for these users."""
    return GpuReading(
        gpu=gpu,
        model=model_of(gpu),
        driver="570.86.15",
        utilization=0.8 + gpu.index / 100,
        activity=0.8,
        memory_utilization=0.4,
        framebuffer_used=40960,
        framebuffer_free=40000,
        framebuffer_reserved=599,
        power=612.345,
        temperature=58.4,
        memory_temperature=71.0,
        sm_clock=1980,
        memory_clock=2619,
        busy=1.5,
        energy=1e9,
        users=users,
    )

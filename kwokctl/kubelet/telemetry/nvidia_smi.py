"""Answers `nvidia-smi` in a container, with the GPUs that the container has."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from kwokctl.kubelet.fleet.views import FleetView
from kwokctl.kubelet.streams.fake_programs import Printed
from kwokctl.kubelet.streams.stream_targets import ContainerTarget
from kwokctl.kubelet.telemetry.gpu_reading import GpuReading, GpuUser
from kwokctl.kubelet.telemetry.mig_parts import mig_profile
from kwokctl.kubelet.telemetry.smi import no_devices, nvidia_smi
from kwokctl.kubelet.telemetry.smi_gpus import MigDevice, SeenGpus, VisibleGpu

NAME = "nvidia-smi"
_VENDOR = "nvidia.com/"
_MISSING = 127
"""The exit code of shells for a program that does not exist."""
_REMEDY = (
    "a pod gets those of its limits when it starts with the annotation 'kwokctl.dev/life: kubelet'"
)


class Readings(Protocol):
    """The GPUs of nodes."""

    def readings(self, node: str) -> Sequence[GpuReading]:
        """Return the state of the GPUs of a node at the present moment."""
        ...


class NvidiaSmi:
    """The program in every container of a fleet."""

    def __init__(self, fleet: FleetView, states: Readings, clock: Callable[[], float]) -> None:
        """Show what `states` say; `clock` gives the POSIX time."""
        self._fleet, self._states, self._clock = fleet, states, clock

    async def __call__(self, target: ContainerTarget, arguments: Sequence[str]) -> Printed:
        """Return what it prints in a container: without a GPU, that it does not exist."""
        await self._fleet.watched()
        seen = tuple(_visible(target, self._states.readings(target.pod.node)))
        if not seen and _has_gpus(target):
            if target.container.is_running:
                return no_devices()
            return Printed(errors=f"{NAME}: {target} does not run\n", exit_code=_MISSING)
        if not seen:
            problem = f"{NAME}: not found: {target} has no GPU; {_REMEDY}\n"
            return Printed(errors=problem, exit_code=_MISSING)
        return nvidia_smi(arguments, SeenGpus(gpus=seen, now=self._clock()))


def _visible(target: ContainerTarget, readings: Sequence[GpuReading]) -> Iterator[VisibleGpu]:
    """Yield the GPUs that a container has, in the node's order and numbered from 0."""
    index = 0
    for reading in readings:
        own = [user for user in reading.users if _is_of(user, target)]
        if own:
            yield VisibleGpu(index=index, reading=reading, parts=tuple(_parts(own)))
            index += 1


def _has_gpus(target: ContainerTarget) -> bool:
    """Return whether a container has GPUs, which may be missing."""
    return any(
        each.container == target.container.name and each.resource.startswith(_VENDOR)
        for each in target.pod.devices
    )


def _is_of(user: GpuUser, target: ContainerTarget) -> bool:
    return (user.uid, user.container) == (target.pod.uid, target.container.name)


def _parts(users: Sequence[GpuUser]) -> Iterator[MigDevice]:
    for each in users:
        if profile := mig_profile(each.resource):
            yield MigDevice(profile=profile, uuid=each.device_id)

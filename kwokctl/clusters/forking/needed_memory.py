"""Tells what forks need of this machine's memory, and refuses them where that is not there."""

from pathlib import Path

import msgspec

from kwokctl.clusters import capacity
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.heartbeat import heartbeat
from kwokctl.config.options import ClusterOptions
from kwokctl.config.quantity import to_text
from kwokctl.errors import CapacityError
from kwokctl.host.memory import available_memory
from kwokctl.host.processes.process_usage import resident
from kwokctl.progress import Progress
from kwokctl.runtime import KnowsProcesses, RegistersNodes, Runtime

_RESERVE = 1.25
"""A fork holds what its source holds, but a program in Go may be caught before or after it has
collected garbage: that makes a quarter (see `kwokctl.clusters.capacity`)."""
_NODE = 500 << 20
"""The memory of a real node beside the components: the kubelet, containerd, and the pods that kind adds."""


class ForkNeeds(msgspec.Struct, frozen=True, kw_only=True):
    """The memory that forks need. Sizes are bytes."""

    count: int
    each: int
    """The most bytes that one takes."""
    available: int
    """The bytes that programs may take now; 0 if unknown."""

    @property
    def together(self) -> int:
        """The memory that all of them take at most."""
        return self.count * self.each

    def __str__(self) -> str:
        forks = "1 fork takes" if self.count == 1 else f"{self.count} forks take"
        return (
            f"{forks} at most {to_text(self.together)} of memory, and {to_text(self.available)} are "
            "available"
        )


async def needs_of_forks(
    runtime: Runtime, source: Saved, count: int, *, available: int | None = None
) -> ForkNeeds | None:
    """Return what forks of a cluster that runs need; None if its processes are not this machine's.

    `available` is this machine's unless given.
    """
    if not isinstance(runtime, KnowsProcesses):
        return None
    processes = await runtime.processes(source.name)
    held = resident(pid for pids in processes.values() for pid in pids)
    if not held:
        return None
    empty = capacity.estimate(
        capacity.Fleet(nodes=0, pods=0), heartbeat=heartbeat(source.options), quota=1 << 30
    )
    node = _NODE if isinstance(runtime, RegistersNodes) else 0
    each = max(int(held * _RESERVE), empty.memory) + node
    return ForkNeeds(
        count=count,
        each=each,
        available=available_memory() if available is None else available,
    )


def needs_of_seeds(
    file: Path,
    runtime: Runtime,
    options: ClusterOptions,
    count: int,
    *,
    available: int | None = None,
) -> ForkNeeds | None:
    """Return what clusters need that begin with a snapshot; None if they do not run on this machine.

    The file is taken for one full of pods: of all objects they are held by the most programs.
    """
    if not isinstance(runtime, KnowsProcesses):
        return None
    pods = file.stat().st_size // capacity.POD_BYTES
    full = capacity.estimate(
        capacity.Fleet(nodes=0, pods=pods), heartbeat=heartbeat(options), quota=1 << 30
    )
    node = _NODE if isinstance(runtime, RegistersNodes) else 0
    return ForkNeeds(
        count=count,
        each=full.memory + node,
        available=available_memory() if available is None else available,
    )


def demand_memory(needs: ForkNeeds | None, progress: Progress, *, is_ignored: bool) -> None:
    """Say what forks need; raise CapacityError if that is more than there is, unless it `is_ignored`.

    Nothing is said of one fork that fits.
    """
    if needs is None or not needs.available:
        return
    if needs.together <= needs.available:
        if needs.count > 1:
            progress.note(str(needs))
    elif is_ignored:
        progress.warn(f"{needs}: other programs may be ended")
    else:
        raise CapacityError(str(needs), hint=_remedy(needs))


def _remedy(needs: ForkNeeds) -> str:
    fits = needs.available // needs.each
    fewer = f"make {fits} with --count {fits}, " if fits else ""
    return f"{fewer}stop other clusters, or make them regardless with --ignore-memory"

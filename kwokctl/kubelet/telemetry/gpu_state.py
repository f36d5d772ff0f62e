"""The state of the GPUs of fake nodes: what each does, draws and holds, by the containers that have it.

The part of its time in which a GPU works is the sum of what its users use. All else follows from it in a straight line
between the values of an idle GPU and those of one under full load, so a counter is a factor times the integral of that
part, which the curves know as a formula: it advances with time, however often it is read.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kwokctl.errors import ExpressionError
from kwokctl.fleet.device_health import (
    DEVICE_HEALTH,
    DEVICE_INVENTORY,
    all_devices,
    read_health,
    read_inventory,
)
from kwokctl.fleet.devices import GPU, Gpu, device_ids, gpu_of, gpus, is_device
from kwokctl.kubelet.fleet.views import NodeView
from kwokctl.kubelet.telemetry.gpu_models import GpuModel, driver_version, model_of
from kwokctl.kubelet.usage.node_meters import FleetMeters, NodeMeters
from kwokctl.kubelet.usage.pod_meters import Meter
from kwokctl.kubelet.usage.usage_rules import FRAMEBUFFER

_MIG = "nvidia.com/mig-"
_SLICES = 7
"""Parts of compute that MIG divides a GPU into."""
_MEMORY_WORK = 0.5
"""The part of the working time in which memory is read or written; no source gives it."""
_MEBI = 1024 * 1024
_MILLI = 1000.0


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
    framebuffer: int = 0
    """The memory that it uses there, in MiB."""
    room: int = 0
    """The memory that it may use there, in MiB."""
    instance: int = 0
    """The number of its part of MIG in the GPU; 0 for all else."""


class GpuReading(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a GPU at a moment."""

    gpu: Gpu
    model: GpuModel
    driver: str
    """The version of the driver of the node."""
    utilization: float
    """The part of the time in which it works, from 0 to 1."""
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


class _Use(msgspec.Struct):
    """The share of a container in the work of a GPU, since a moment."""

    user: GpuUser
    work: Meter
    memory: Meter
    weight: float
    """The part of the GPU that is used for each device that the container uses."""
    devices: int
    """The number of devices between which the container divides its use."""
    part: float
    """The part of the framebuffer that it may use."""
    before: float = 0.0
    """Its use until that moment."""

    def busy(self, now: float) -> float:
        return self.weight * (self.work.total(now) - self.before)

    def framebuffer(self, room: int, now: float) -> int:
        """Return the memory that is used of this room, in MiB: an amount up to 1 is a share of it."""
        amount = self.memory.rate(now)
        return min(round(amount * room if amount <= 1 else amount / self.devices / _MEBI), room)


class _GpuWork(msgspec.Struct):
    """The work that a GPU has done, and the containers for which it works."""

    gpu: Gpu
    model: GpuModel
    driver: str
    done: float = 0.0
    """Seconds of work for those who have left."""
    uses: tuple[_Use, ...] = ()

    def follow(self, uses: Sequence[_Use], now: float) -> None:
        """Work for these containers from now on."""
        self.done = self.busy(now)
        known = {id(use.work) for use in self.uses}
        for use in uses:
            use.before = use.work.total(now) if id(use.work) in known else 0.0
        self.uses = tuple(uses)

    def busy(self, now: float) -> float:
        """Return the seconds of work until a time."""
        return self.done + sum([use.busy(now) for use in self.uses])


class NodeGpus:
    """The GPUs of a node."""

    def __init__(self, meters: NodeMeters) -> None:
        self.meters = meters
        self.version = -1
        self._view: NodeView | None = None
        self._works: dict[int, _GpuWork] = {}

    def follow(self, now: float) -> None:
        """Continue with the present state of the node and its pods."""
        if self.version == self.meters.version:
            return
        self.version = self.meters.version
        view, before = self.meters.view, self._works
        if view is not self._view:
            self._works = {
                gpu.index: _of_node(gpu, view, before.get(gpu.index)) for gpu in _present(view)
            }
            self._view = view
        uses = self._uses() if self._works else {}
        for index, work in self._works.items():
            work.follow(uses.get(index, ()), now)

    def readings(self, now: float) -> Iterator[GpuReading]:
        """Return the state of each GPU at a time."""
        age = max(now - self.meters.view.created, 0.0)
        for work in self._works.values():
            yield _reading(work, age, now)

    def _uses(self) -> Mapping[int, Sequence[_Use]]:
        """Return the running containers that use a GPU, by its index."""
        found: dict[int, list[_Use]] = {}
        view, counts = self.meters.view, device_counts(self.meters.view)
        for pod in self.meters.pods.values():
            held = Counter((each.container, each.resource) for each in pod.view.devices)
            for each in pod.view.devices:
                index = gpu_of(view.name, view.labels, counts, each.device_id)
                if index is None or each.container not in pod.containers:
                    continue
                number = held[each.container, each.resource]
                user = GpuUser(
                    namespace=pod.view.namespace, pod=pod.view.name, uid=pod.view.uid,
                    container=each.container, device_id=each.device_id, resource=each.resource,
                    instance=_instance(view, counts, each.resource, each.device_id),
                )  # fmt: skip
                use = _Use(
                    user=user, work=pod.meter(each.container, each.resource),
                    memory=pod.meter(each.container, FRAMEBUFFER),
                    weight=1 / number, devices=number, part=1.0,
                )  # fmt: skip
                found.setdefault(index, []).append(use)
        for uses in found.values():
            _divide(uses)
        return found


class GpuStates:
    """The GPUs of all nodes that have been asked about."""

    def __init__(self, meters: FleetMeters) -> None:
        """Follow what containers use."""
        self._meters = meters
        self._nodes: dict[str, NodeGpus] = {}

    def readings(self, node: str) -> Sequence[GpuReading]:
        """Return the state of the GPUs of a node at the present moment; nothing of an unknown node.

        Raises NoAnswerError when its kubelet is silent.
        """
        found = self.of(node)
        return () if found is None else self.readings_of(found)

    def readings_of(self, gpus: NodeGpus) -> Sequence[GpuReading]:
        """Return the state of GPUs at the moment that was looked at last."""
        return tuple(gpus.readings(self._meters.now()))

    def known(self, node: str) -> NodeGpus | None:
        """Return the GPUs of a node that has been asked about."""
        return self._nodes.get(node)

    def of(self, node: str) -> NodeGpus | None:
        """Return the GPUs of a node as they are now, None if there is no such node."""
        meters = self._meters.node(node)
        if meters is None:
            self._nodes.pop(node, None)
            return None
        found = self._nodes.get(node)
        if found is None or found.meters is not meters:
            found = self._nodes[node] = NodeGpus(meters)
        found.follow(self._meters.now())
        return found

    def changed(self, node: str) -> None:
        """Follow a change of a node or of its pods at once, after their meters, so that its time is known."""
        found = self._nodes.get(node)
        if found is None:
            return
        if self._meters.known(node) is found.meters:
            found.follow(self._meters.now())
        else:
            del self._nodes[node]


def device_counts(view: NodeView) -> Mapping[str, int]:
    """Return how many devices a node has of each resource if all is well."""
    capacity = {
        name: int(amount)
        for name, amount in view.capacity.items()
        if is_device(name) and amount.isdecimal()
    }
    return all_devices(capacity, read_inventory(view.annotations.get(DEVICE_INVENTORY, "")))


def _present(view: NodeView) -> Sequence[Gpu]:
    """Return the GPUs of a node without those that are missing: one that fell off its bus says nothing."""
    found = gpus(view.name, view.labels, device_counts(view))
    try:
        missing = read_health(view.annotations.get(DEVICE_HEALTH, "")).missing
    except ExpressionError:
        return found
    return [gpu for gpu in found if {str(gpu.index), gpu.uuid}.isdisjoint(missing)]


def mig_profile(resource: str) -> str:
    """Return the profile of a resource of parts of GPUs, such as `1g.10gb`; empty for others."""
    return resource.removeprefix(_MIG) if resource.startswith(_MIG) else ""


def _instance(view: NodeView, counts: Mapping[str, int], resource: str, device_id: str) -> int:
    """Return the number of a part of MIG among those of its profile in its GPU, from 1 on; 0 for all else."""
    if not mig_profile(resource):
        return 0
    ids = device_ids(view.name, view.labels, counts, resource)
    each = max(len(ids) // max(len(gpus(view.name, view.labels, counts)), 1), 1)
    return ids.index(device_id) % each + 1


def _divide(uses: Sequence[_Use]) -> None:
    """Give each user its part: by the profile of MIG, else equal parts of time and memory."""
    whole = sum(1 for use in uses if not mig_profile(use.user.resource))
    for use in uses:
        use.part = _part_of(mig_profile(use.user.resource)) or 1 / whole
        use.weight *= use.part


def _part_of(profile: str) -> float:
    """Return the part of a GPU that a profile such as `3g.40gb` has; 0 if it is none."""
    slices = profile.partition("g")[0]
    return min(int(slices) / _SLICES, 1.0) if slices.isdecimal() else 0.0


def _of_node(gpu: Gpu, view: NodeView, before: _GpuWork | None) -> _GpuWork:
    """Return the work of a GPU, which goes on if the node has only changed."""
    model = model_of(gpu)
    work = _GpuWork(gpu, model, driver_version(view.labels, model))
    if before is not None:
        work.done, work.uses = before.done, before.uses
    return work


def _reading(work: _GpuWork, age: float, now: float) -> GpuReading:
    gpu, model = work.gpu, work.model
    room = max((gpu.memory or model.memory) - model.reserved, 0)
    users = tuple([_as_user(use, room, now) for use in work.uses])
    load = min(sum([use.weight * use.work.rate(now) for use in work.uses]), 1.0)
    busy = work.busy(now)
    used = min(sum([user.framebuffer for user in users]), room)
    power = model.power
    span = power.limit - power.idle
    clock = model.sm_clock
    return GpuReading(
        gpu=gpu,
        model=model,
        driver=work.driver,
        utilization=load,
        memory_utilization=load * _MEMORY_WORK,
        framebuffer_used=used,
        framebuffer_free=room - used,
        framebuffer_reserved=model.reserved,
        power=power.idle + span * load,
        temperature=_between(model.temperature.idle, model.temperature.load, load),
        memory_temperature=_between(
            model.memory_temperature.idle, model.memory_temperature.load, load
        ),
        sm_clock=clock.load if users else clock.idle,
        memory_clock=model.memory_clock,
        busy=busy,
        energy=_MILLI * (power.idle * age + span * busy),
        users=users,
    )


def _as_user(use: _Use, room: int, now: float) -> GpuUser:
    user, own_room = use.user, round(room * use.part)
    return GpuUser(
        namespace=user.namespace,
        pod=user.pod,
        uid=user.uid,
        container=user.container,
        device_id=user.device_id,
        resource=user.resource,
        utilization=min(use.work.rate(now) / use.devices, 1.0),
        framebuffer=use.framebuffer(own_room, now),
        room=own_room,
        instance=user.instance,
    )


def _between(low: float, high: float, part: float) -> float:
    return low + (high - low) * part

"""The state of the GPUs of fake nodes: what each does, draws and holds, by the containers that have it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kwokctl.errors import ExpressionError
from kwokctl.fleet.device_health import (
    DEVICE_HEALTH,
    DEVICE_INVENTORY,
    all_devices,
    read_health,
    read_inventory,
)
from kwokctl.fleet.devices import Gpu, gpu_of, gpus, is_device
from kwokctl.kubelet.fleet.views import NodeView
from kwokctl.kubelet.telemetry.gpu_faults import gpu_faults
from kwokctl.kubelet.telemetry.gpu_reading import GpuReading, GpuUser
from kwokctl.kubelet.telemetry.gpu_work import GpuUse, GpuWork, reading_of, work_of
from kwokctl.kubelet.telemetry.mig_parts import instance_of, mig_parts, mig_profile, part_of
from kwokctl.kubelet.usage.node_meters import FleetMeters, NodeMeters
from kwokctl.kubelet.usage.usage_rules import FRAMEBUFFER


class NodeGpus:
    """The GPUs of a node."""

    def __init__(self, meters: NodeMeters) -> None:
        self.meters = meters
        self.version = -1
        self._view: NodeView | None = None
        self._works: dict[int, GpuWork] = {}

    def follow(self, now: float) -> None:
        """Continue with the present state of the node and its pods."""
        if self.version == self.meters.version:
            return
        self.version = self.meters.version
        view, before = self.meters.view, self._works
        if view is not self._view:
            self._works = {
                gpu.index: work_of(gpu, view, before.get(gpu.index)) for gpu in _present(view)
            }
            self._view = view
        uses = self._uses() if self._works else {}
        entries, age = view.faults, max(now - view.created, 0.0)
        for index, work in self._works.items():
            work.follow(uses.get(index, ()), gpu_faults(entries, index), age, now)
            work.free = ()
        self._note_free_parts(uses)

    def readings(self, now: float) -> Iterator[GpuReading]:
        """Return the state of each GPU at a time."""
        age = max(now - self.meters.view.created, 0.0)
        for work in self._works.values():
            yield reading_of(work, age, now)

    def _note_free_parts(self, uses: Mapping[int, Sequence[GpuUse]]) -> None:
        """Note the parts of MIG that no running container has."""
        used = {use.user.device_id for each in uses.values() for use in each}
        for part in mig_parts(self.meters.view, device_counts(self.meters.view)):
            work = self._works.get(part.gpu)
            if work is None or part.device_id in used:
                continue
            room = round(work.room * part_of(mig_profile(part.resource)))
            unused = GpuUser(
                namespace="", pod="", uid="", container="", device_id=part.device_id,
                resource=part.resource, room=room, instance=part.instance,
            )  # fmt: skip
            work.free = (*work.free, unused)

    def _uses(self) -> Mapping[int, Sequence[GpuUse]]:
        """Return the running containers that use a GPU, by its index."""
        found: dict[int, list[GpuUse]] = {}
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
                    instance=instance_of(view, counts, each.resource, each.device_id),
                )  # fmt: skip
                use = GpuUse(
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
    lost = {each.gpu for each in view.faults if each.device == "missing"}
    found = [
        each for each in gpus(view.name, view.labels, device_counts(view)) if each.index not in lost
    ]
    try:
        missing = read_health(view.annotations.get(DEVICE_HEALTH, "")).missing
    except ExpressionError:
        return found
    return [gpu for gpu in found if {str(gpu.index), gpu.uuid}.isdisjoint(missing)]


def _divide(uses: Sequence[GpuUse]) -> None:
    """Give each user its part: by the profile of MIG, else equal parts of time and memory."""
    whole = sum(1 for use in uses if not mig_profile(use.user.resource))
    for use in uses:
        use.part = part_of(mig_profile(use.user.resource)) or 1 / whole
        use.weight *= use.part

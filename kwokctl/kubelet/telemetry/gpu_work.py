"""The work that a GPU does for its containers, and what follows from it. Pure.

The part of its time in which a GPU works is the sum of what its users use. All else follows from it in a straight line
between the values of an idle GPU and those of one under full load, so a counter is a factor times the integral of that
part, which the curves know as a formula: it advances with time, however often it is read.
"""

from collections.abc import Sequence

import msgspec

from kwokctl.fleet.devices import Gpu
from kwokctl.kubelet.fleet.views import NodeView
from kwokctl.kubelet.telemetry.gpu_faults import SOUND, GpuFaults
from kwokctl.kubelet.telemetry.gpu_models import GpuModel, driver_version, model_of
from kwokctl.kubelet.telemetry.gpu_reading import Counted, GpuReading, GpuUser, Withheld
from kwokctl.kubelet.usage.pod_meters import Meter

_MEMORY_WORK = 0.5
"""The part of the working time in which memory is read or written; no source gives it."""
_MEBI = 1024 * 1024
_MILLI = 1000.0


class GpuUse(msgspec.Struct):
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
        return self.weight * max(self.work.total(now) - self.before, 0.0)

    def framebuffer(self, room: int, now: float) -> int:
        """Return the memory that is used of this room, in MiB: an amount up to 1 is a share of it."""
        amount = self.memory.rate(now)
        return min(round(amount * room if amount <= 1 else amount / self.devices / _MEBI), room)


class GpuWork(msgspec.Struct):
    """The work that a GPU has done, and the containers for which it works."""

    gpu: Gpu
    model: GpuModel
    driver: str
    done: float = 0.0
    """Seconds of work for those who have left."""
    uses: tuple[GpuUse, ...] = ()
    free: tuple[GpuUser, ...] = ()
    """The parts of MIG that no container uses."""
    faults: GpuFaults = SOUND
    begins: dict[str, Counted] = msgspec.field(default_factory=dict)
    """The values of counters when they began to grow at half their rate, by the pattern of their names."""
    withheld: dict[str, Counted] = msgspec.field(default_factory=dict)
    """The amounts that counters lack because of faults that are over: counters never fall, and never catch up."""

    def follow(self, uses: Sequence[GpuUse], faults: GpuFaults, age: float, now: float) -> None:
        """Work for these containers from now on, with these faults; `age` is that of the node in seconds."""
        counted = self.counted(age, now)
        self.done = counted.busy
        if faults != self.faults:
            self._slow_down(faults, counted)
            self.faults = faults
        known = {id(use.work) for use in self.uses}
        for use in uses:
            use.before = use.work.total(now) if id(use.work) in known else 0.0
        self.uses = tuple(uses)

    @property
    def room(self) -> int:
        """The framebuffer that programs may use, in MiB."""
        return max((self.gpu.memory or self.model.memory) - self.model.reserved, 0)

    def busy(self, now: float) -> float:
        """Return the seconds of work until a time."""
        until = min(now, self.faults.stands_at)
        return self.done + sum([use.busy(until) for use in self.uses])

    def counted(self, age: float, now: float) -> Counted:
        """Return what counters are made of, by the age of the node in seconds."""
        power, busy = self.model.power, self.busy(now)
        span = power.limit - power.idle
        return Counted(busy, _MILLI * (power.idle * age + span * busy))

    def lacking(self, now: Counted) -> tuple[Withheld, ...]:
        """Return what counters lack at a moment."""
        if not (self.begins or self.withheld):
            return ()
        found = dict(self.withheld)
        for pattern, begin in self.begins.items():
            found[pattern] = _with_half(found.get(pattern), begin, now)
        return tuple(Withheld(pattern, amount) for pattern, amount in found.items())

    def _slow_down(self, faults: GpuFaults, now: Counted) -> None:
        falling = {each.pattern for each in faults.changes if each.change == "fall"}
        for pattern in self.begins.keys() - falling:
            begin = self.begins.pop(pattern)
            self.withheld[pattern] = _with_half(self.withheld.get(pattern), begin, now)
        for pattern in falling - self.begins.keys():
            self.begins[pattern] = now


def _with_half(before: Counted | None, begin: Counted, now: Counted) -> Counted:
    """Return an amount that grew by half of what came between two moments."""
    had = before or Counted(0.0, 0.0)
    return Counted(
        had.busy + (now.busy - begin.busy) / 2, had.energy + (now.energy - begin.energy) / 2
    )


def work_of(gpu: Gpu, view: NodeView, before: GpuWork | None) -> GpuWork:
    """Return the work of a GPU, which goes on if the node has only changed."""
    model = model_of(gpu)
    work = GpuWork(gpu, model, driver_version(view.labels, model))
    if before is not None:
        work.done, work.uses, work.faults = before.done, before.uses, before.faults
        work.begins, work.withheld = before.begins, before.withheld
    return work


def reading_of(work: GpuWork, age: float, now: float) -> GpuReading:
    """Return the state of a GPU; `age` is that of its node in seconds."""
    gpu, model = work.gpu, work.model
    room = work.room
    hangs, stands = now >= work.faults.hangs_at, now >= work.faults.stands_at
    users = tuple([_as_user(use, room, now, hangs=hangs) for use in work.uses])
    load = min(sum([use.weight * use.work.rate(now) for use in work.uses]), 1.0)
    activity = 0.0 if stands else load
    used = min(sum([user.framebuffer for user in users]), room)
    power, clock, counted = model.power, model.sm_clock, work.counted(age, now)
    return GpuReading(
        gpu=gpu,
        model=model,
        driver=work.driver,
        utilization=1.0 if hangs and users else activity,
        activity=activity,
        memory_utilization=activity * _MEMORY_WORK,
        framebuffer_used=used,
        framebuffer_free=room - used,
        framebuffer_reserved=model.reserved,
        power=power.idle + (power.limit - power.idle) * activity,
        temperature=_between(model.temperature.idle, model.temperature.load, activity),
        memory_temperature=_between(
            model.memory_temperature.idle, model.memory_temperature.load, activity
        ),
        sm_clock=clock.load if users else clock.idle,
        memory_clock=model.memory_clock,
        busy=counted.busy,
        energy=counted.energy,
        users=users,
        free=work.free,
        now=now,
        faults=work.faults,
        withheld=work.lacking(counted),
    )


def _as_user(use: GpuUse, room: int, now: float, *, hangs: bool) -> GpuUser:
    user, own_room = use.user, round(room * use.part)
    rate = min(use.work.rate(now) / use.devices, 1.0)
    return GpuUser(
        namespace=user.namespace,
        pod=user.pod,
        uid=user.uid,
        container=user.container,
        device_id=user.device_id,
        resource=user.resource,
        utilization=1.0 if hangs else rate,
        activity=0.0 if hangs else rate,
        framebuffer=use.framebuffer(own_room, now),
        room=own_room,
        instance=user.instance,
    )


def _between(low: float, high: float, part: float) -> float:
    return low + (high - low) * part

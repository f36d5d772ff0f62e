"""Estimates what a cluster of fake nodes and pods will need, before it is made. Pure.

The figures were measured with `python -m benchmarks.capacity` (Kubernetes v1.36.3, etcd 3.6.16, two
cores, built-in templates, all five components): clusters of 2,000 to 10,000 nodes and 20,000 to
100,000 pods were made, and etcd's file and the largest resident memory of each process in the half
minute after each step were written down. The heartbeats of 10,000 nodes were followed for fourteen
minutes, and 10,000 pods of 20 KB compared with as many of 1 KB. Programs in Go take up to twice what
they hold, so a figure may be a quarter too high or low; those of etcd are rather too high. What the
kubelet server takes was measured by itself (`python -m benchmarks.usage`).
"""

from collections.abc import Iterator

import msgspec

from kwokctl.components.heartbeat import Heartbeat
from kwokctl.config.quantity import to_text
from kwokctl.errors import CapacityError

NODE_BYTES = 2_100
"""The bytes of a node of the built-in template in etcd."""
POD_BYTES = 2_300
"""The same of a pod."""
FULL = 0.8
"""The share of its quota that etcd may be filled to; the rest is a reserve."""

LEASE_BYTES = 400
"""The bytes of one revision of a lease in etcd's file."""
REVISION_BYTES = 500
"""The bytes that etcd adds to a larger value: its key, its revision, and pages that are not full."""
_NODE_REVISIONS = 2
"""The writes of a node during its creation: the controller-manager may add one."""
POD_REVISIONS = 3
"""The same of a pod that the scheduler places: it is created, bound and started."""
_POD_EVENT_BYTES = 1_300
"""The event that a pod was placed, which stays for an hour."""
_KEPT_SECONDS = 600
"""The seconds that old revisions stay: every five minutes the API server compacts those older than five."""

_MIB = 1 << 20
_STATUS_SECONDS = {True: 300, False: 20}
"""The shortest time in seconds between two refreshes of a node's status by the default Stages: with leases, and without."""


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes and pods that a cluster will have in all, and the bytes of each in etcd."""

    nodes: int
    pods: int
    node_size: int = NODE_BYTES
    pod_size: int = POD_BYTES
    is_placed: bool = False
    """Whether pods are made with their nodes, so that the scheduler need not write them."""
    is_metered: bool = False
    """Whether a component asks what all of them use, as metrics-server does."""

    @property
    def surplus(self) -> int:
        """The bytes of all objects beyond those of as many objects of the built-in templates."""
        more_pods = self.pods * (self.pod_size - POD_BYTES)
        return self.nodes * (self.node_size - NODE_BYTES) + more_pods


class _Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of memory that a program takes: for itself, and for each object and byte of it."""

    base: int
    node: int
    pod: int
    byte: float
    """For each byte of surplus."""
    lease_write: int = 0
    """For each renewal a second: what of the newest history is kept."""

    def of(self, fleet: Fleet, renewals: float) -> int:
        """Return the bytes for a fleet with a number of renewals a second."""
        kept = self.base + fleet.nodes * self.node + fleet.pods * self.pod
        kept += int(fleet.surplus * self.byte + renewals * self.lease_write)
        return max(kept, self.base)


_APISERVER = _Memory(base=300 * _MIB, node=40_000, pod=26_000, byte=4.0, lease_write=350_000)
_CONTROLLER = _Memory(base=40 * _MIB, node=5_000, pod=1_700, byte=0.0)
_IDLE_KUBELET = _Memory(base=40 * _MIB, node=0, pod=0, byte=0.0)
_KUBELET = _Memory(base=40 * _MIB, node=10_000, pod=3_000, byte=0.0)
"""The kubelet server, before it is asked what all of them use, and since."""
_RENEWAL = {"etcd": 165e-6, "api": 5.9e-3}
"""CPU seconds of all programs for a renewal of a Lease, by the way it is written (the idle clusters of
docs/explanation/performance.md, whose other work is in it)."""
_NODE_ROUND, _POD_ROUND = 350e-6, 10e-6
"""CPU seconds that it takes to tell once what a node, and a pod, uses."""
_OTHERS = _Memory(base=240 * _MIB, node=55_000, pod=19_000, byte=4.5, lease_write=800_000)
"""etcd, kube-controller-manager and kube-scheduler together."""


class CapacityPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The needs of a cluster of a size, and whether this machine meets them. Sizes are bytes."""

    nodes: int
    pods: int
    lease_writes_per_second: float
    etcd_bytes: int
    """The size to which etcd's file grows: the objects, and their history."""
    etcd_bytes_per_hour: int
    """History that heartbeats write in an hour; ten minutes of it are kept."""
    etcd_quota: int
    apiserver_memory: int
    controller_memory: int
    kubelet_memory: int
    others_memory: int
    """etcd, kube-controller-manager and kube-scheduler."""
    heartbeat_processors: float
    """The number of processors that the heartbeats keep busy."""
    usage_round_seconds: float
    """CPU time in which the kubelet server tells once what all use; 0 if nothing asks for that."""
    machine_memory: int
    """0 if it is not known."""
    fits: bool
    why: str
    """A sentence: why it fits, or what is too small."""
    remedy: str = ""
    """The remedy if it does not fit."""

    @property
    def memory(self) -> int:
        """The memory that all programs need together."""
        ours = self.controller_memory + self.kubelet_memory
        return self.apiserver_memory + ours + self.others_memory


def estimate(
    fleet: Fleet, *, heartbeat: Heartbeat, quota: int, memory: int = 0, path: str = "etcd"
) -> CapacityPlan:
    """Estimate the needs of a cluster with these nodes and pods.

    `quota` is etcd's, and `memory` this machine's (0 if not known), both in bytes; `path` is the way in
    which Leases are written, `etcd` or `api`.
    """
    renewals = fleet.nodes * 4 / heartbeat.lease_seconds if heartbeat.lease_seconds else 0.0
    refreshes = _refreshes(fleet.nodes, heartbeat)
    history = renewals * LEASE_BYTES + refreshes * _stored(fleet.node_size)
    one_node = _stored(fleet.node_size) * _NODE_REVISIONS + LEASE_BYTES
    objects = fleet.nodes * one_node + fleet.pods * _one_pod(fleet)
    kubelet = _KUBELET if fleet.is_metered else _IDLE_KUBELET
    programs = (_APISERVER, _CONTROLLER, kubelet, _OTHERS)
    needs = [program.of(fleet, renewals) for program in programs]
    etcd_bytes = int(objects + history * _KEPT_SECONDS)
    found = list(_lacks(etcd_bytes, quota, sum(needs), memory))
    return CapacityPlan(
        nodes=fleet.nodes,
        pods=fleet.pods,
        lease_writes_per_second=round(renewals, 1),
        etcd_bytes=etcd_bytes,
        etcd_bytes_per_hour=int(history * 3600),
        etcd_quota=quota,
        apiserver_memory=needs[0],
        controller_memory=needs[1],
        kubelet_memory=needs[2],
        others_memory=needs[3],
        heartbeat_processors=round(renewals * _RENEWAL[path], 2),
        usage_round_seconds=_usage_round(fleet) if fleet.is_metered else 0.0,
        machine_memory=memory,
        fits=not found,
        why="; ".join(lack for lack, _ in found) or _comfort(etcd_bytes, quota, sum(needs)),
        remedy="; ".join(remedy for _, remedy in found),
    )


def demand(plan: CapacityPlan) -> None:
    """Raise CapacityError, with the remedy, unless the plan fits."""
    if not plan.fits:
        raise CapacityError(plan.why, hint=plan.remedy)


def _lacks(etcd_bytes: int, quota: int, needed: int, memory: int) -> Iterator[tuple[str, str]]:
    """List what is too small, each with its remedy."""
    if etcd_bytes > quota * FULL:
        wanted = quota
        while etcd_bytes > wanted * FULL:
            wanted *= 2
        yield (
            f"etcd would grow to {to_text(etcd_bytes)}, more than {FULL:.0%} of its quota of "
            + to_text(quota),
            f"create the cluster with --etcd-quota-backend-size {to_text(wanted)}",
        )
    if memory and needed > memory:
        yield (
            f"the programs would need {to_text(needed)} of memory, and the machine has "
            + to_text(memory),
            "use fewer or smaller objects, or leave out components (--disable kube-scheduler)",
        )


def _comfort(etcd_bytes: int, quota: int, needed: int) -> str:
    return (
        f"etcd grows to {to_text(etcd_bytes)} of {to_text(quota)}, and the programs need "
        f"{to_text(needed)} of memory"
    )


def _refreshes(nodes: int, heartbeat: Heartbeat) -> float:
    """Return how often a second the status of some node is refreshed."""
    if heartbeat.is_off:
        return 0.0
    usual = _STATUS_SECONDS[heartbeat.lease_seconds > 0]
    return nodes / max(usual, heartbeat.status_milliseconds / 1000)


def _usage_round(fleet: Fleet) -> float:
    return round(fleet.nodes * _NODE_ROUND + fleet.pods * _POD_ROUND, 2)


def _one_pod(fleet: Fleet) -> int:
    """Return what etcd's file holds of a pod soon after it was made."""
    once = _stored(fleet.pod_size)
    return once if fleet.is_placed else once * POD_REVISIONS + _POD_EVENT_BYTES


def _stored(size: int) -> int:
    """Return what one revision of a value takes in etcd's file."""
    return size + REVISION_BYTES

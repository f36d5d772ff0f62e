"""The reaction of Kubernetes' own controllers to a fault, with their defaults. Pure.

Sources: pkg/controller/nodelifecycle and pkg/controller/devicetainteviction of Kubernetes 1.36, and measurements with an API server,
scheduler and controller-manager of that release on fake nodes: a silent node became Unknown after 42 to 53 s.
"""

from collections.abc import Iterator, Sequence

from kwokctl.faults.classes.class_schema import FaultClassSpec, FaultSignal

_EVICTION = "for one node of a zone in 10 s; a pod is evicted 300 s after that, or after its own tolerationSeconds"
_NOT_READY = (
    "at once: taint node.kubernetes.io/not-ready:NoSchedule, and the pods of the node are not Ready",
    f"taint node.kubernetes.io/not-ready:NoExecute, {_EVICTION}",
)
_SILENT = (
    "after 40 to 55 s without status and Lease: Ready and the pressures are Unknown, and the pods of the node not Ready",
    "then taint node.kubernetes.io/unreachable:NoSchedule",
    f"taint node.kubernetes.io/unreachable:NoExecute, {_EVICTION}",
    "55 % or more of a zone silent, at least 3 nodes: no evictions in a zone of up to 50 nodes, else one node in 100 s",
    "a whole zone silent: one node in 10 s; all zones silent: no evictions",
)
_LATE = (
    "after 40 to 55 s without status and Lease, until the next renewal: Ready is Unknown, and the pods are not Ready",
    "meanwhile taint node.kubernetes.io/unreachable; a pod is evicted if it tolerates that for a shorter time",
)
_FAILED = (
    "a pod that fails is replaced by its controller; a Job counts it against its backoffLimit, or as its "
    "podFailurePolicy says"
)
_FAILING_PODS = frozenset({"init-container", "app-container", "memory-limit", "admission"})
_PRESSURE = "at once: taint node.kubernetes.io/{}:NoSchedule"
_TAINT_OF = {
    "MemoryPressure": "memory-pressure",
    "DiskPressure": "disk-pressure",
    "PIDPressure": "pid-pressure",
    "NetworkUnavailable": "network-unavailable",
}


def reactions(spec: FaultClassSpec, signals: Sequence[FaultSignal]) -> Iterator[str]:
    """Yield what controllers and scheduler do about a fault that is shown by these signals."""
    ready = {
        each.status for signal in signals for each in signal.conditions if each.type == "Ready"
    }
    if "False" in ready:
        yield from _NOT_READY
    if spec.effects.kubelet in ("silent", "rebooting"):
        yield from _SILENT
    if spec.effects.kubelet == "late":
        yield from _LATE
    for signal in signals:
        yield from _of_signal(signal)
    pod, workload = spec.effects.pod, spec.effects.workload
    fails = workload is not None and workload.effect == "fail"
    if fails or (pod is not None and pod.fails in _FAILING_PODS):
        yield _FAILED


def _of_signal(signal: FaultSignal) -> Iterator[str]:
    for condition in signal.conditions:
        if condition.type in _TAINT_OF:
            yield _PRESSURE.format(_TAINT_OF[condition.type])
    effects = {each.effect for each in signal.taints} | {
        each.effect for each in signal.device_taints
    }
    if "NoSchedule" in effects:
        yield "the scheduler places no further pods there that do not tolerate the taint"
    if "NoExecute" in effects:
        yield "pods that do not tolerate the taint are evicted within a second or so"
    if signal.devices is not None:
        yield "the scheduler counts fewer devices; a pod that has a device keeps it"

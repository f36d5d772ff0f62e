"""The usage of a node and its pods, in the form of a kubelet's `/stats/summary`.

https://pkg.go.dev/k8s.io/kubelet/pkg/apis/stats/v1alpha1#Summary
"""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from kwokctl.expr.cel.cel_errors import CelValueError
from kwokctl.expr.cel.values.quantities import parse_quantity
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kubelet.usage.node_meters import NodeMeters
from kwokctl.kubelet.usage.pod_meters import PodMeters

_NANO = 1e9


class _Meters(Protocol):
    def usage(self, resource: str, container: str = "") -> float: ...

    def cumulative_usage(self, resource: str, container: str = "") -> float: ...


def summary(node: NodeMeters, now: float) -> bytes:
    """Return the summary of a node, at the moment that its meters are looked at."""
    time = format_time(now)
    used = _used(node, time)
    used["memory"].update(_available(node))
    own = {"nodeName": node.view.name, **_start(node.view.created), **used}
    pods = [_pod(pod, time) for pod in node.pods.values()]
    return msgspec.json.encode({"node": own, "pods": pods})


def _pod(pod: PodMeters, time: str) -> dict[str, Json]:
    view = pod.view
    return {
        "podRef": {"name": view.name, "namespace": view.namespace, "uid": view.uid},
        **_start(view.start_time or view.created),
        "containers": [
            {"name": name, **_start(meters.view.started_at), **_used(pod, time, name)}
            for name, meters in pod.containers.items()
        ],
        **_used(pod, time),
    }


def _used(meters: _Meters, time: str, container: str = "") -> dict[str, dict[str, Json]]:
    memory = int(meters.usage("memory", container))
    return {
        "cpu": {
            "time": time,
            "usageNanoCores": int(meters.usage("cpu", container) * _NANO),
            "usageCoreNanoSeconds": int(meters.cumulative_usage("cpu", container) * _NANO),
        },
        "memory": {
            "time": time,
            "usageBytes": memory,
            "workingSetBytes": memory,
            "rssBytes": memory,
        },
    }


def _available(node: NodeMeters) -> Mapping[str, int]:
    try:
        whole = float(parse_quantity(node.view.capacity.get("memory", "")))
    except CelValueError:
        return {}
    return {"availableBytes": max(int(whole - node.usage("memory")), 0)}


def _start(seconds: float) -> dict[str, str]:
    return {"startTime": format_time(seconds)} if seconds else {}

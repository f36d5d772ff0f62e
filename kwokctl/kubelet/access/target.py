"""Finds the node of a request."""

from kwokctl.embedded.http.messages import Request
from kwokctl.kubelet.access.gate import NodeOf
from kwokctl.kubelet.fleet.views import FleetView

_OF_PODS = frozenset({"containerLogs", "exec", "attach", "portForward", "run"})


def node_of(fleet: FleetView) -> NodeOf:
    """Return what finds it: the node of the pod in the path, or the one that the path names."""

    async def find(request: Request) -> str:
        first, *more = request.segments
        if first in _OF_PODS and len(more) >= 2:
            pod = await fleet.pod(more[0], more[1])
            return pod.node if pod is not None else ""
        if first in {"metrics", "stats"} and len(more) >= 2 and more[0] == "nodes":
            return more[1]
        return ""

    return find

"""The resources that the pods of each node take together, updated as pods come and go."""

from collections import Counter, defaultdict

import msgspec

from kwokctl.controller.lifecycle.admission.claims import Claims
from kwokctl.controller.lifecycle.admission.ports import HostPorts
from kwokctl.controller.lifecycle.admission.requests import Amounts


class _NodePods(msgspec.Struct):
    """The pods of one node, and their sum."""

    requests: dict[str, Amounts] = msgspec.field(default_factory=dict)
    """By the uid of the pod."""
    used: Counter[str] = msgspec.field(default_factory=Counter)
    ports: dict[str, HostPorts] = msgspec.field(default_factory=dict)
    """Of those that take ports of the node."""

    def add(self, uid: str, claims: Claims) -> None:
        self.requests[uid] = claims.requests
        self.used.update(_counted(claims.requests))
        if claims.ports:
            self.ports[uid] = claims.ports

    def remove(self, uid: str) -> None:
        self.ports.pop(uid, None)
        requests = self.requests.pop(uid, None)
        if requests is not None:
            self.used.subtract(_counted(requests))


class Commitments:
    """The resources that admitted pods take from their nodes."""

    def __init__(self) -> None:
        self._nodes: defaultdict[str, _NodePods] = defaultdict(_NodePods)

    def take(self, node: str, uid: str, claims: Claims) -> None:
        """Count a pod, or count it again."""
        pods = self._nodes[node]
        pods.remove(uid)
        pods.add(uid, claims)

    def counts(self, node: str, uid: str) -> bool:
        """Return whether a pod is counted."""
        return node in self._nodes and uid in self._nodes[node].requests

    def release(self, node: str, uid: str) -> None:
        """Do not count a pod any more."""
        pods = self._nodes.get(node)
        if pods is None:
            return
        pods.remove(uid)
        if not pods.requests:
            del self._nodes[node]

    def ports(self, node: str, *, without: str) -> HostPorts:
        """Return the ports that the pods of a node take, without one of them."""
        pods = self._nodes.get(node)
        if pods is None or not pods.ports:
            return ()
        return tuple(port for uid, own in pods.ports.items() if uid != without for port in own)

    def used(self, node: str, *, without: str) -> dict[str, int]:
        """Return what the pods of a node request, without one of them, and under "pods" their number."""
        pods = self._nodes.get(node)
        if pods is None:
            return {}
        total = pods.used.copy()
        own = pods.requests.get(without)
        if own is not None:
            total.subtract(_counted(own))
        return total


def _counted(requests: Amounts) -> dict[str, int]:
    return {"pods": 1, **dict(requests)}

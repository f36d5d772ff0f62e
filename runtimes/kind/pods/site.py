"""Addresses and paths as a pod of the node sees them; it uses the node's own network and files."""

from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    ComponentName,
    NodeAddress,
)
from kwokctl.runtime import HOST
from runtimes.engine.site import GATEWAY, LOOPBACK, ON_HOST, EngineSite

_OWN_LOOPBACK = "localhost"

PORTS = {ETCD: 2379, KUBE_APISERVER: 6443, KUBE_CONTROLLER_MANAGER: 10257, KUBE_SCHEDULER: 10259}
"""The ports on which kubeadm, and tools that know its clusters, expect the control plane
(https://kubernetes.io/docs/reference/networking/ports-and-protocols/)."""


class KindSite(EngineSite, frozen=True):
    """Files have the same names as on the host; ports are those of kubeadm."""

    def address(
        self, component: ComponentName, port: int, *, dialler: ComponentName | None = None
    ) -> str:
        """Return a loopback address: of the node for what runs there, else of this host.

        The node's own is given by name: the host's may be another address that the user chose.
        """
        if dialler is None or dialler in ON_HOST:
            return f"{LOOPBACK}:{port}"
        if component in ON_HOST:
            return f"{HOST}:{port}"
        return f"{_OWN_LOOPBACK}:{self.port(component, port)}"

    def port(self, component: ComponentName, host_port: int) -> int:
        """Return kubeadm's own port of a component that it makes."""
        return PORTS.get(component, host_port)

    @property
    def has_own_nodes(self) -> bool:
        """Return true: kind's node is a real one."""
        return True

    def node_address(self) -> NodeAddress:
        """Return the host as the node sees it; a name for it the node does not know."""
        return NodeAddress(name=GATEWAY, ip=GATEWAY)

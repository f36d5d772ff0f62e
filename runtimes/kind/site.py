"""How the world looks to a pod of the node, which uses the node's own network and files."""

from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    ComponentName,
    NodeAddress,
)
from runtimes.engine.gateway import GATEWAY
from runtimes.engine.on_host import ON_HOST

_LOOPBACK = "127.0.0.1"
_OWN_LOOPBACK = "localhost"
_EVERYWHERE = "0.0.0.0"  # noqa: S104 - inside the node's network

PORTS = {ETCD: 2379, KUBE_APISERVER: 6443, KUBE_CONTROLLER_MANAGER: 10257, KUBE_SCHEDULER: 10259}
"""Where kubeadm, and whoever knows its clusters, looks for the control plane
(https://kubernetes.io/docs/reference/networking/ports-and-protocols/)."""


@dataclass(frozen=True, slots=True)
class KindSite:
    """Files have the names they have on the host; ports have those that kubeadm gives them."""

    shares_sockets: bool

    def bind(self, component: ComponentName) -> str:
        """Return all addresses of the node, or the host's loopback address."""
        return _LOOPBACK if component in ON_HOST else _EVERYWHERE

    def path(self, host_path: Path) -> PurePath:
        """Return the path itself: the node sees the cluster's folder where it lies."""
        return PurePosixPath(host_path)

    def socket(self, host_path: Path) -> PurePath | None:
        """Return the socket itself if the engine's containers run on this very kernel."""
        return PurePosixPath(host_path) if self.shares_sockets else None

    def address(
        self, component: ComponentName, port: int, *, dialler: ComponentName | None = None
    ) -> str:
        """Return a loopback address: of the node for what runs there, else of this host.

        The node's own is said by name, for the host's may be another address that the user chose.
        """
        if dialler is None or dialler in ON_HOST:
            return f"{_LOOPBACK}:{port}"
        return f"{_OWN_LOOPBACK}:{self.port(component, port)}"

    def port(self, component: ComponentName, host_port: int) -> int:
        """Return kubeadm's own port of a component that it makes."""
        return PORTS.get(component, host_port)

    @property
    def has_own_nodes(self) -> bool:
        """Tell that there is a real node: the one of kind."""
        return True

    def node_address(self) -> NodeAddress:
        """Return the host as the node sees it; a name for it the node does not know."""
        return NodeAddress(name=GATEWAY, ip=GATEWAY)

"""How the world looks to a container of a cluster, and to the one component that is none."""

from dataclasses import dataclass

from kwokctl.model import ComponentName, NodeAddress
from runtimes.engine.gateway import GATEWAY, HOST
from runtimes.engine.on_host import ON_HOST
from runtimes.engine.site import LOOPBACK, EngineSite


@dataclass(frozen=True, slots=True)
class DockerSite(EngineSite):
    """Files and ports have the names they have on the host, so that both can talk of them."""

    def address(
        self, component: ComponentName, port: int, *, dialler: ComponentName | None = None
    ) -> str:
        """Return a name of the cluster's network, or for who is on the host the published port."""
        if dialler is None or dialler in ON_HOST:
            return f"{LOOPBACK}:{port}"
        return f"{component}:{port}"

    def port(self, component: ComponentName, host_port: int) -> int:  # noqa: ARG002 - the port's signature
        """Return the port itself."""
        return host_port

    @property
    def has_own_nodes(self) -> bool:
        """Tell that every node is a fake one."""
        return False

    def node_address(self) -> NodeAddress:
        """Return the host as containers see it."""
        return NodeAddress(name=HOST, ip=GATEWAY)

"""How the world looks to a container of a cluster, and to the one component that is none."""

from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from kwokctl.model import ComponentName, NodeAddress
from runtimes.engine.gateway import GATEWAY, HOST
from runtimes.engine.on_host import ON_HOST

_LOOPBACK = "127.0.0.1"
_EVERYWHERE = "0.0.0.0"  # noqa: S104 - inside a network of the cluster's own


@dataclass(frozen=True, slots=True)
class DockerSite:
    """Files and ports have the names they have on the host, so that both can talk of them."""

    shares_sockets: bool

    def bind(self, component: ComponentName) -> str:
        """Return all addresses of a container, or the host's loopback address."""
        return _LOOPBACK if component in ON_HOST else _EVERYWHERE

    def path(self, host_path: Path) -> PurePath:
        """Return the path itself: what is mounted is mounted where it lies."""
        return PurePosixPath(host_path)

    def socket(self, host_path: Path) -> PurePath | None:
        """Return the socket itself if the engine's containers run on this very kernel."""
        return PurePosixPath(host_path) if self.shares_sockets else None

    def address(
        self, component: ComponentName, port: int, *, dialler: ComponentName | None = None
    ) -> str:
        """Return a name of the cluster's network, or for who is on the host the published port."""
        if dialler is None or dialler in ON_HOST:
            return f"{_LOOPBACK}:{port}"
        return f"{component}:{port}"

    def port(self, component: ComponentName, host_port: int) -> int:  # noqa: ARG002 - see above
        """Return the port itself."""
        return host_port

    @property
    def has_own_nodes(self) -> bool:
        """Tell that every node is a fake one."""
        return False

    def node_address(self) -> NodeAddress:
        """Return the host as containers see it."""
        return NodeAddress(name=HOST, ip=GATEWAY)

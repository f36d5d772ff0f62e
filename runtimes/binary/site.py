"""How the world looks to a process of this host: as it looks to us."""

from dataclasses import dataclass
from pathlib import Path, PurePath

from kwokctl.model import ComponentName, NodeAddress

_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class HostSite:
    """Files, sockets and ports are where they are."""

    def bind(self, component: ComponentName) -> str:  # noqa: ARG002 - one host
        """Return the loopback address."""
        return _LOOPBACK

    def path(self, host_path: Path) -> PurePath:
        """Return the path itself."""
        return host_path

    def socket(self, host_path: Path) -> PurePath | None:
        """Return the socket itself."""
        return host_path

    def address(
        self,
        component: ComponentName,  # noqa: ARG002 - one host
        port: int,
        *,
        dialler: ComponentName | None = None,  # noqa: ARG002 - one host
    ) -> str:
        """Return the loopback address, on which every component can be dialled."""
        return f"{_LOOPBACK}:{port}"

    def port(self, component: ComponentName, host_port: int) -> int:  # noqa: ARG002 - the port's signature
        """Return the port itself."""
        return host_port

    @property
    def has_own_nodes(self) -> bool:
        """Tell that every node is a fake one."""
        return False

    def node_address(self) -> NodeAddress:
        """Return this host, as every process on it names it."""
        return NodeAddress(name="localhost", ip=_LOOPBACK)

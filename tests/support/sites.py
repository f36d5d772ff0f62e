"""Sites as component builders meet them."""

from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from kwokctl.model import ComponentName, NodeAddress


@dataclass(frozen=True, slots=True)
class HostLikeSite:
    """Components run on this host: files and sockets are where they are."""

    def bind(self, component: ComponentName) -> str:
        return "127.0.0.1"

    def path(self, host_path: Path) -> PurePath:
        return host_path

    def socket(self, host_path: Path) -> PurePath | None:
        return host_path

    def address(
        self, component: ComponentName, port: int, *, dialler: ComponentName | None = None
    ) -> str:
        return f"127.0.0.1:{port}"

    def port(self, component: ComponentName, host_port: int) -> int:
        return host_port

    @property
    def has_own_nodes(self) -> bool:
        return False

    def node_address(self) -> NodeAddress:
        return NodeAddress(name="localhost", ip="127.0.0.1")


@dataclass(frozen=True, slots=True)
class ContainerLikeSite:
    """Each component has a network of its own, sees its files elsewhere, and no sockets."""

    def bind(self, component: ComponentName) -> str:
        return "0.0.0.0"

    def path(self, host_path: Path) -> PurePath:
        return PurePosixPath("/etc/kwok") / host_path.name

    def socket(self, host_path: Path) -> PurePath | None:
        return None

    def address(
        self, component: ComponentName, port: int, *, dialler: ComponentName | None = None
    ) -> str:
        return f"{component}:{port}" if dialler else f"127.0.0.1:{port}"

    def port(self, component: ComponentName, host_port: int) -> int:
        return host_port

    @property
    def has_own_nodes(self) -> bool:
        return False

    def node_address(self) -> NodeAddress:
        return NodeAddress(name="kwok-kubelet", ip="192.0.2.1")

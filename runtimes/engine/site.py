"""What is the same of the world for whatever an engine runs, and for what stays on the host."""

from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from kwokctl.model import ComponentName
from runtimes.engine.on_host import ON_HOST

LOOPBACK = "127.0.0.1"
_EVERYWHERE = "0.0.0.0"  # noqa: S104 - inside a network of the cluster's own


@dataclass(frozen=True, slots=True)
class EngineSite:
    """Files have the names they have on the host, so that both can talk of them."""

    shares_sockets: bool

    def bind(self, component: ComponentName) -> str:
        """Return all addresses of a container, or the host's loopback address."""
        return LOOPBACK if component in ON_HOST else _EVERYWHERE

    def path(self, host_path: Path) -> PurePath:
        """Return the path itself: what is mounted is mounted where it lies."""
        return PurePosixPath(host_path)

    def socket(self, host_path: Path) -> PurePath | None:
        """Return the socket itself if the engine's containers run on this very kernel."""
        return PurePosixPath(host_path) if self.shares_sockets else None

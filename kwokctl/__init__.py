"""kwokctl: a real Kubernetes control plane with thousands of fake nodes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kwokctl.library.cluster import Cluster

__all__ = ["Cluster", "__version__"]
__version__ = "0.2.0"

if not TYPE_CHECKING:  # type checkers would take any name for one that there is

    def __getattr__(name: str) -> object:
        """Load the class when it is requested: other parts of kwokctl need only the version."""
        if name == "Cluster":
            from kwokctl.library.cluster import Cluster

            return Cluster
        raise AttributeError(f"module 'kwokctl' has no attribute '{name}'")

"""The names and labels by which a cluster's containers and network are known to the engine."""

from dataclasses import dataclass
from pathlib import Path

from kwokctl.model import ClusterName, ComponentName

CLUSTER = "io.kwokctl.cluster"
FOLDER = "io.kwokctl.folder"
COMPONENT = "io.kwokctl.component"
SPECIFICATION = "io.kwokctl.specification"
"""A digest of what a container was made from."""


@dataclass(frozen=True, slots=True)
class Naming:
    """The names of one cluster."""

    cluster: ClusterName
    folder: Path
    """Where the cluster lies: two work directories may both have a cluster of this name."""

    @property
    def network(self) -> str:
        """The network of the cluster."""
        return f"kwok-{self.cluster}"

    def container(self, component: ComponentName) -> str:
        """Return the name of a component's container."""
        return f"kwok-{self.cluster}-{component}"

    @property
    def labels(self) -> dict[str, str]:
        """What everything of the cluster carries, and nothing of any other."""
        return {CLUSTER: self.cluster, FOLDER: str(self.folder)}

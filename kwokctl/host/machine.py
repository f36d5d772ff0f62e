"""Bundles what runtimes may use of this machine."""

from dataclasses import dataclass

from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.model import ClusterName


@dataclass(frozen=True, slots=True)
class Host:
    """What a runtime may use of this machine."""

    workdir: WorkDir

    def cluster(self, name: ClusterName) -> ClusterPaths:
        """Return the files of the cluster called `name`."""
        return self.workdir.cluster(name)

"""The machine as runtimes are given it."""

from dataclasses import dataclass

from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.model import ClusterName


@dataclass(frozen=True, slots=True)
class Host:
    """What a runtime may know of this machine."""

    workdir: WorkDir

    def cluster(self, name: ClusterName) -> ClusterPaths:
        """Return the files of the cluster called `name`."""
        return self.workdir.cluster(name)

"""Bundles what runtimes may use of this machine."""

import msgspec

from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.model import ClusterName


class Host(msgspec.Struct, frozen=True):
    """The parts of this machine that a runtime may use."""

    workdir: WorkDir

    def cluster(self, name: ClusterName) -> ClusterPaths:
        """Return the files of the cluster called `name`."""
        return self.workdir.cluster(name)

"""Bundles what runtimes may use of this machine."""

import msgspec

from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.model import ClusterName


class Host(msgspec.Struct, frozen=True):
    """What a runtime may use of this machine."""

    workdir: WorkDir

    def cluster(self, name: ClusterName) -> ClusterPaths:
        """Return the files of the cluster called `name`."""
        return self.workdir.cluster(name)

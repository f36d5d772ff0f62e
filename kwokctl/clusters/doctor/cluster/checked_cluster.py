"""The cluster that the checks of `doctor` examine."""

import time
from collections.abc import Callable

import msgspec

from kwokctl.clusters.overview.figures import Overview
from kwokctl.clusters.overview.gather import etcd_of, look
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.etcd.kv.kv import Kv
from kwokctl.host.paths import ClusterPaths
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import ClusterName
from kwokctl.runtime import Runtime


class CheckedCluster(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster, and a first look at it."""

    home: Home
    saved: Saved
    runtime: Runtime
    seen: Overview
    """One look at it as a whole."""
    wall: Callable[[], float] = time.time  # noqa: TID251 - the clock itself: tests pass another

    @property
    def name(self) -> ClusterName:
        """The name of the cluster."""
        return self.saved.name

    @property
    def command(self) -> str:
        """The command with which kwokctl is called for it."""
        return f"kwokctl --name {self.name}"

    @property
    def paths(self) -> ClusterPaths:
        """Its files."""
        return self.home.paths(self.name)

    @property
    def is_stopped_by_user(self) -> bool:
        """Whether nothing runs because its user wants it so."""
        return self.paths.stopped.exists()

    def api(self) -> Pool:
        """Return connections to its API server, to be entered."""
        return Pool(load_access(self.paths.own_kubeconfig))

    def etcd(self) -> Kv:
        """Return a client of its etcd, to be entered."""
        return etcd_of(self.saved, self.runtime, self.home)


async def checked_cluster(home: Home, name: ClusterName) -> CheckedCluster:
    """Look at a cluster; NotFoundError if it does not exist."""
    saved = load(home.paths(name), name)
    runtime = home.runtime(saved.options.runtime)
    return CheckedCluster(home=home, saved=saved, runtime=runtime, seen=await look(home, name))

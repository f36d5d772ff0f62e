"""A cluster that a rewind has reached, whose etcd is in memory."""

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.clusters.time_travel.reach import Reach
from kwokctl.clusters.time_travel.stored_marks import Marks
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import ClusterName
from tests.support.fake_runtime import FakeRuntime
from tests.support.ranged_etcd import RangedEtcd


def reach_of(home: Home, name: ClusterName, kv: RangedEtcd) -> Reach:
    """Return what a rewind needs, of a cluster that was saved."""
    paths = home.paths(name)
    return Reach(
        home=home,
        saved=load(paths, name),
        runtime=FakeRuntime(),
        kv=kv,
        # Of values that are no objects there is nothing to ask an API server.
        client=Client(Pool(Access(server="http://127.0.0.1:1"))),
        controller=None,
        prefix="/registry",
        uid="uid",
        marks=Marks(paths, name),
    )

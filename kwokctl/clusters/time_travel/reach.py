"""The connections to a running cluster for marks and rewinds: its etcd, its API server, and its marks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.clusters.stopped_components import demand_running
from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.clusters.time_travel.stored_marks import Marks
from kwokctl.components.definitions import etcd, kube_apiserver
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.scale_protocol import ControllerClient
from kwokctl.errors import ApiError, ConflictError
from kwokctl.etcd.kv.kv import Kv
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.kube.resource import NAMESPACES
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import ETCD, KUBE_APISERVER, KWOK_CONTROLLER, ClusterName
from kwokctl.runtime import Runtime


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """The connections to one running cluster, and its marks."""

    home: Home
    saved: Saved
    runtime: Runtime
    kv: Kv
    client: Client
    controller: ControllerClient | None
    """None for a cluster that was created without one."""
    prefix: str
    uid: str
    """The uid that identifies the cluster; empty if it has just started."""
    marks: Marks

    @property
    def store(self) -> ObjectStore:
        """The writer that bypasses the API server."""
        return ObjectStore(self.kv)

    @property
    def scope(self) -> RewindScope:
        """The keys that marks cover."""
        return RewindScope(self.prefix)


def marks_of(home: Home, name: ClusterName) -> Marks:
    """Return the marks of a cluster, whether it runs or not; NotFoundError if it does not exist."""
    paths = home.paths(name)
    load(paths, name)
    return Marks(paths, name)


@asynccontextmanager
async def reached(home: Home, name: ClusterName) -> AsyncIterator[Reach]:
    """Connect to a cluster; ComponentError, with a hint, if etcd or the API server does not run.

    Raises ConflictError if the API server uses another etcd.
    """
    paths = home.paths(name)
    saved = load(paths, name)
    runtime = home.runtime(saved.options.runtime)
    await demand_running(home, runtime, name, ETCD, KUBE_APISERVER)
    setting = saved.setting(runtime, paths)
    at = etcd.target(setting)
    async with (
        Kv(at.address, ca=at.ca, cert=at.cert, key=at.key) as kv,
        Pool(load_access(paths.own_kubeconfig)) as pool,
        Pool(Access(server=f"http://{setting.address(KWOK_CONTROLLER)}")) as controller,
    ):
        client, prefix = Client(pool), kube_apiserver.prefix(setting)
        yield Reach(
            home=home,
            saved=saved,
            runtime=runtime,
            kv=kv,
            client=client,
            controller=ControllerClient(controller, paths.controller_token)
            if KWOK_CONTROLLER in saved.names
            else None,
            prefix=prefix,
            uid=await cluster_uid(client, kv, prefix),
            marks=Marks(paths, name),
        )


_SYSTEM = "kube-system"
_TRIES = 3
"""The most comparisons of API server and etcd: another client may write between the two reads."""
_MISSING = 404


async def cluster_uid(client: Client, kv: Kv, prefix: str) -> str:
    """Return the uid of the namespace `kube-system`, which identifies a cluster.

    Empty in a cluster that has just started. Raises ConflictError unless the API server stores that
    namespace in this etcd under this prefix.
    """
    key = Keys(prefix).key(NAMESPACES, None, _SYSTEM)
    for _ in range(_TRIES):
        try:
            metadata = (await client.get(NAMESPACES, None, _SYSTEM))["metadata"]
        except ApiError as e:
            if e.status == _MISSING:
                return ""
            raise
        found = await kv.get(key)
        if found and str(found.mod_revision) == metadata["resourceVersion"]:
            uid: str = metadata["uid"]
            return uid
    raise ConflictError(
        f"the API server does not keep its objects in this etcd under '{prefix}'",
        hint="nothing was changed; see what runs with: kwokctl status",
    )

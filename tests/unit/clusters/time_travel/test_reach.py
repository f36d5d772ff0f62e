"""An etcd is taken for the cluster's only if the API server keeps its objects there."""

import pytest

from kwokctl.clusters.time_travel.reach import cluster_uid
from kwokctl.errors import ApiError, ConflictError
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import Handler, Reply, Request, serving
from tests.support.ranged_etcd import RangedEtcd

KEY = b"/registry/namespaces/kube-system"


async def _uid(handle: Handler, etcd: RangedEtcd, prefix: str = "/registry") -> str:
    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        return await cluster_uid(Client(pool), etcd, prefix)


def _showing(etcd: RangedEtcd, *, behind: int = 0) -> Handler:
    """Show the namespace as an API server of this etcd does, at first with older revisions."""
    lags = iter(range(behind, -1, -1))

    async def handle(request: Request, reply: Reply) -> None:
        version = etcd.stored[KEY].mod_revision - next(lags, 0)
        await reply.json({"metadata": {"uid": "its-own", "resourceVersion": str(version)}})

    return handle


async def test_the_uid_of_a_namespace_tells_clusters_apart() -> None:
    etcd = RangedEtcd()
    etcd.put(KEY, b"{}")

    assert await _uid(_showing(etcd), etcd) == "its-own"
    assert await _uid(_showing(etcd, behind=1), etcd) == "its-own"


async def test_an_etcd_of_others_and_another_prefix_are_refused() -> None:
    etcd, other = RangedEtcd(), RangedEtcd()
    etcd.put(KEY, b"{}")

    with pytest.raises(ConflictError, match="does not keep its objects in this etcd"):
        await _uid(_showing(etcd), other)
    with pytest.raises(ConflictError, match="under '/other'"):
        await _uid(_showing(etcd), etcd, "/other")


async def test_a_cluster_that_has_just_begun_has_no_uid_yet() -> None:
    async def missing(request: Request, reply: Reply) -> None:
        await reply.refuse(404, "NotFound", "not found")

    assert await _uid(missing, RangedEtcd()) == ""


async def test_an_api_server_that_refuses_is_an_error() -> None:
    async def refused(request: Request, reply: Reply) -> None:
        await reply.refuse(403, "Forbidden", "no")

    with pytest.raises(ApiError):
        await _uid(refused, RangedEtcd())

"""Corrects what objects of a fork say of the cluster that it was made from."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import msgspec

from kwokctl.clusters.forking import real_nodes
from kwokctl.clusters.forking.kubelet_addresses import ForkedNode, KubeletPlace, Move, server_of
from kwokctl.clusters.launching.readiness import wait_ready
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.definitions import etcd
from kwokctl.components.definitions.etcd import EtcdOptions
from kwokctl.components.setting import Setting
from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.etcd_plane import EtcdRoute
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.open_plane import open_plane
from kwokctl.dataplane.pacing import MOST_UNSEEN, Window
from kwokctl.dataplane.port import DataPlane
from kwokctl.errors import ApiError
from kwokctl.etcd.kv.kv import Kv
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import CONFIG_MAPS, NODES, SERVICES
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import AUTHORITY, KUBE_APISERVER
from kwokctl.runtime import RegistersNodes, Runtime

_AUTHENTICATION = "extension-apiserver-authentication"
"""The ConfigMap in which extensions of the API server find the authorities that it trusts."""
_MISSING = 404


class Corrections(msgspec.Struct, frozen=True, kw_only=True):
    """The corrections that a fork needs."""

    setting: Setting
    """That of the fork."""
    former: KubeletPlace | None = None
    """The kubelet server of the source; None if that is not known."""
    has_other_authorities: bool = False
    """Whether the API server trusts other authorities than that of the source."""
    nodes: Sequence[Mapping[str, Json]] = ()
    """The real nodes of the fork, as they were registered."""


async def wait_served(home: Home, saved: Saved) -> None:
    """Return when the API server can be asked: a launch does not wait for its last components.

    Those are the first ones in a cluster without controllers.
    """
    runtime = home.runtime(saved.options.runtime)
    first = next(iter(saved.plan(runtime, home.paths(saved.name)).waves()))
    await wait_ready(runtime, saved.name, first)


def registered(runtime: Runtime, fork: Saved) -> Sequence[Mapping[str, Json]]:
    """Return the real nodes that a fork has of its own."""
    return runtime.registered(fork.name) if isinstance(runtime, RegistersNodes) else ()


async def mend(wanted: Corrections) -> None:
    """Change objects that describe the source so that they describe the fork."""
    async with Pool(load_access(wanted.setting.paths.own_kubeconfig)) as pool:
        client = Client(pool)
        await _point_service(client, wanted.setting)
        if wanted.has_other_authorities:
            await _forget_authorities(client)
        async with unwatched_plane(wanted.setting, pool) as plane:
            foreign = await _correct_nodes(client, plane, wanted)
        await _replace_nodes(client, wanted, foreign)


async def _point_service(client: Client, setting: Setting) -> None:
    """Set the port of the API server's Service to the port on which it listens."""
    chosen = setting.options.component(KUBE_APISERVER).port
    port = setting.site.port(KUBE_APISERVER, chosen)
    path = SERVICES.path("default", "kubernetes")
    body = {"spec": {"ports": [{"port": 443, "targetPort": port}]}}
    await client.call("PATCH", path, msgspec.json.encode(body), content_type=PatchType.STRATEGIC)


async def _forget_authorities(client: Client) -> None:
    """Delete the list to which the API server only adds; it makes it again."""
    try:
        await client.call("DELETE", CONFIG_MAPS.path("kube-system", _AUTHENTICATION))
    except ApiError as e:
        if e.status != _MISSING:
            raise


async def _correct_nodes(
    client: Client, plane: DataPlane, wanted: Corrections
) -> Mapping[str, str]:
    """Move the kubelets of fake nodes; return the real nodes of other clusters, with their clusters."""
    own = {node["metadata"]["name"] for node in wanted.nodes}
    now = server_of(wanted.setting)
    foreign: dict[str, str] = {}
    async for page in list_pages(client.pool, ListQuery(resource=NODES)):
        nodes = [ForkedNode(msgspec.json.decode(each)) for each in page.objects]
        real = {node.name: made for node in nodes if (made := real_nodes.maker_of(node))}
        if now:
            move = Move(former=wanted.former, now=now)
            await move.of(plane, [node for node in nodes if node.name not in real])
        foreign |= {name: made for name, made in real.items() if name not in own}
    return foreign


async def _replace_nodes(client: Client, wanted: Corrections, foreign: Mapping[str, str]) -> None:
    """Put the real nodes of the fork, if it has any, in place of those of other clusters."""
    for name in foreign:
        await real_nodes.forget(client, name)
    for node in wanted.nodes:
        await real_nodes.register(client, node)
    if wanted.nodes:
        own: Json = wanted.nodes[0]
        first = ForkedNode(own)
        authority = (wanted.setting.paths.pki / f"{AUTHORITY}.crt").read_bytes()
        former = sorted(set(foreign.values()))
        await real_nodes.rename(client, former, real_nodes.maker_of(first), authority)


_WALL = time.time  # noqa: TID251 - the clock itself: it is passed on from here


@asynccontextmanager
async def unwatched_plane(setting: Setting, pool: Pool) -> AsyncIterator[DataPlane]:
    """Yield a plane that writes as the cluster's data path says, as fast as etcd takes it.

    The caller reports with `seen` what it has written: there is no watch that could fall behind.
    """
    async with AsyncExitStack() as stack:
        route = None
        if setting.writes_to_etcd:
            at = etcd.target(setting)
            kv = Kv(at.address, ca=at.ca, cert=at.cert, key=at.key)
            await stack.enter_async_context(kv)
            prefix = setting.options.of(EtcdOptions).prefix
            route = EtcdRoute(address=at.address, store=ObjectStore(kv), keys=Keys(prefix))
        yield await open_plane(
            ApiPlane(pool), route, _WALL, pace=partial(Window, first=MOST_UNSEEN)
        )

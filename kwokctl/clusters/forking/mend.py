"""Corrects what objects of a fork say of the cluster that it was made from."""

from functools import partial

import msgspec

from kwokctl.clusters.launching.readiness import wait_ready
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.setting import Setting
from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import CONFIG_MAPS, NODES, SERVICES
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KUBE_APISERVER, KWOK_KUBELET, ComponentName
from kwokctl.tasks import for_each

_AUTHENTICATION = "extension-apiserver-authentication"
"""Where extensions of the API server find the authorities that it trusts."""
_AT_ONCE = 32
_MISSING = 404


class _Node(msgspec.Struct):
    metadata: dict[str, Json]
    status: dict[str, Json]


async def wait_served(home: Home, saved: Saved) -> None:
    """Return when the API server can be asked: a launch does not wait for its last components.

    Those are the first ones in a cluster without controllers.
    """
    runtime = home.runtime(saved.options.runtime)
    first = next(iter(saved.plan(runtime, home.paths(saved.name)).waves()))
    await wait_ready(runtime, saved.name, first)


async def mend(source: Setting, fork: Setting, *, has_own_authorities: bool) -> None:
    """Put ports of the fork where objects have those of the source."""
    async with Pool(load_access(fork.paths.own_kubeconfig)) as pool:
        client = Client(pool)
        await _point_service(client, _inside(fork, KUBE_APISERVER))
        if has_own_authorities:
            await _forget_authorities(client)
        if KWOK_KUBELET in fork.artifacts:
            ports = (_port(source, KWOK_KUBELET), _port(fork, KWOK_KUBELET))
            await _move_kubelets(client, *ports)


async def mend_foreign(setting: Setting) -> None:
    """Correct the same where nothing is known of the cluster whose objects they were."""
    async with Pool(load_access(setting.paths.own_kubeconfig)) as pool:
        client = Client(pool)
        await _point_service(client, _inside(setting, KUBE_APISERVER))
        await _forget_authorities(client)
        if KWOK_KUBELET in setting.artifacts:
            await _move_kubelets(client, None, _port(setting, KWOK_KUBELET))


async def _point_service(client: Client, port: int) -> None:
    """Let the Service of the API server lead to its port."""
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


async def _move_kubelets(client: Client, former: int | None, port: int) -> None:
    """Let each node whose kubelet had a port, any if that is None, have this server."""
    async for page in list_pages(client.pool, ListQuery(resource=NODES)):
        nodes = [msgspec.json.decode(each, type=_Node) for each in page.objects]
        found = [n for n in nodes if _kubelet_port(n) not in (0, port)]
        names = [n.metadata["name"] for n in found if former in (None, _kubelet_port(n))]
        await for_each(names, partial(_move_kubelet, client, port), at_once=_AT_ONCE)


async def _move_kubelet(client: Client, port: int, name: str) -> None:
    body = {"status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}}
    path = NODES.path(None, name, "status")
    await client.call("PATCH", path, msgspec.json.encode(body), content_type=PatchType.MERGE)


def _kubelet_port(node: _Node) -> int:
    endpoints = node.status.get("daemonEndpoints") or {}
    port: int = (endpoints.get("kubeletEndpoint") or {}).get("Port", 0)
    return port


def _port(setting: Setting, name: ComponentName) -> int:
    return setting.options.component(name).port


def _inside(setting: Setting, name: ComponentName) -> int:
    """Return the port at which a component listens."""
    return setting.site.port(name, _port(setting, name))

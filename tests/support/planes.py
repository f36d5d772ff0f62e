"""A cluster's etcd and API server, reached as the product itself reaches them."""

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.etcd_plane import EtcdPlane, EtcdRoute
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.etcd.kv.kv import Kv, prefix_end
from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import ClusterName
from kwokctl.replacing import replace
from tests.support.installed import PATIENCE, Installed

KEYS = Keys("/registry")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """One cluster."""

    client: Client
    """For those who know nothing of etcd."""
    plane: EtcdPlane
    kv: Kv


def paths(cluster: Installed) -> ClusterPaths:
    """Return the files of a cluster."""
    return WorkDir(cluster.workdir).cluster(ClusterName(cluster.name))


@asynccontextmanager
async def connected(cluster: Installed, *, connections: int = 24) -> AsyncIterator[Client]:
    """Ask the API server of a cluster."""
    access = await asyncio.to_thread(load_access, paths(cluster).kubeconfig)
    async with Pool(access, connections=connections) as pool:
        yield Client(pool)


async def answer_to_token(cluster: Installed, token: str) -> int:
    """Return what an API server answers to a token when it is asked who that is."""
    access = await asyncio.to_thread(load_access, paths(cluster).kubeconfig)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    only_token = replace(access, token=token, cert=None, key=None)
    async with Pool(only_token) as pool:
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        return (await pool.request("POST", path, body=json.dumps(review).encode())).status


@asynccontextmanager
async def reached(cluster: Installed) -> AsyncIterator[Reached]:
    """Reach the API server of a cluster and its etcd, each by connections of its own."""
    access = await asyncio.to_thread(load_access, paths(cluster).own_kubeconfig)
    target = f"unix:{paths(cluster).etcd_socket}"
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(connected(cluster))
        kv = await stack.enter_async_context(Kv(target))
        pool = await stack.enter_async_context(Pool(access))
        own = await stack.enter_async_context(Kv(target))
        route = EtcdRoute(address=target, store=ObjectStore(own), keys=KEYS)
        plane = EtcdPlane(ApiPlane(pool), route, time.time)
        yield Reached(client=client, plane=plane, kv=kv)


def until_stored(
    cluster: Installed,
    resource: Resource,
    namespace: str | None,
    number: int,
    *,
    by: subprocess.Popen[str] | None = None,
) -> None:
    """Return as soon as etcd has so many more, or fewer, objects of a kind than now.

    Fails when the process that changes them, `by`, ends before.
    """

    async def look() -> None:
        folder = KEYS.folder(resource, namespace)
        before: int | None = None
        async with Kv(f"unix:{paths(cluster).etcd_socket}") as kv, asyncio.timeout(PATIENCE):
            while True:
                ended = by is not None and by.poll() is not None
                found = await kv.count(folder, prefix_end(folder))
                before = found if before is None else before
                if abs(found - before) >= number:
                    return
                assert not ended, by and by.communicate()
                await asyncio.sleep(0.005)

    asyncio.run(look())


def stored(cluster: Installed, resource: Resource, namespace: str | None) -> list[str]:
    """Return the names of the objects of a kind that etcd has."""

    async def look() -> list[str]:
        folder = KEYS.folder(resource, namespace)
        async with Kv(f"unix:{paths(cluster).etcd_socket}") as kv:
            page = await kv.page(folder, prefix_end(folder), keys_only=True)
        return [each.key.removeprefix(folder).decode() for each in page.items]

    return asyncio.run(look())


def objects(cluster: Installed, resource: Resource, label_selector: str = "") -> list[Any]:
    """List and decode the objects of a kind, in all namespaces."""

    async def listed() -> list[Any]:
        async with connected(cluster) as client:
            pages = list_pages(
                client.pool, ListQuery(resource=resource, label_selector=label_selector), limit=0
            )
            return [msgspec.json.decode(raw) async for page in pages for raw in page.objects]

    return asyncio.run(listed())

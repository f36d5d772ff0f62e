""""""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from kwokctl.clusters.scaling.set_admission import SetAdmission, watched
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.transport.pool import Pool
from tests.support.eventually import eventually
from tests.support.fake_api_server import Reply, Request, serving

POLICIES, QUOTAS, NAMESPACES = "validatingadmissionpolicies", "resourcequotas", "namespaces"


def named(name: str, version: int = 7, **metadata: Any) -> Any:
    return {"metadata": {"name": name, "resourceVersion": str(version), **metadata}}


def policy(plural: str) -> Any:
    rules = [{"apiGroups": [""], "resources": [plural]}]
    return {**named("p"), "spec": {"matchConstraints": {"resourceRules": rules}}}


class Cluster:
    """Serves policies, quotas and one namespace; other kinds it does not know."""

    def __init__(self) -> None:
        self.there: dict[str, list[Any]] = {POLICIES: [], QUOTAS: [], NAMESPACES: [named("load")]}
        self.news: dict[str, asyncio.Queue[tuple[str, Any]]] = {
            plural: asyncio.Queue() for plural in self.there
        }
        self.reported: list[str] = []
        self.left: list[str] = []
        """The plurals that are written through the API now."""

    def leave(self, resources: Collection[Resource]) -> None:
        self.left = sorted(each.plural for each in resources)

    async def serve(self, request: Request, reply: Reply) -> None:
        plural = request.path.rpartition("/")[2]
        if plural not in self.there:
            await reply.refuse(404, "NotFound", "no such kind")
        elif "watch" not in request.query:
            items = self.there[plural]
            await reply.json({"metadata": {"resourceVersion": "7"}, "items": items})
        else:
            await reply.begin()
            while True:
                await reply.event(*await self.news[plural].get())


@asynccontextmanager
async def watching(
    cluster: Cluster, resource: Resource = PODS, *, insists: bool = False
) -> AsyncIterator[SetAdmission]:
    namespace = "load" if resource.namespaced else None
    async with serving(cluster.serve) as server, Pool(Access(server=server.url)) as pool:
        obstacles = SetAdmission(
            pool,
            resource,
            namespace,
            insists=insists,
            leave=cluster.leave,
            report=cluster.reported.append,
        )
        async with watched(obstacles):
            yield obstacles


async def test_nothing_prevents_direct_writes_of_an_ordinary_set() -> None:
    cluster = Cluster()
    cluster.there[POLICIES] = [policy("nodes")]

    async with watching(cluster) as obstacles:
        assert obstacles.why is None
        assert obstacles.namespace_version == 7


async def test_an_obstacle_that_exists_at_the_start_is_not_reported_again() -> None:
    cluster = Cluster()
    cluster.there[POLICIES] = [policy("pods")]

    async with watching(cluster) as obstacles:
        assert obstacles.why == "ValidatingAdmissionPolicy 'p' applies to pods"

    assert cluster.reported == []


async def test_what_applies_to_pods_alone_concerns_only_the_pods_of_nodes() -> None:
    cluster = Cluster()
    cluster.there[POLICIES] = [policy("pods")]

    async with watching(cluster, NODES) as obstacles:
        assert obstacles.why is None
        assert cluster.left == ["pods"]


async def test_an_obstacle_that_comes_and_goes_meanwhile_is_reported() -> None:
    cluster = Cluster()

    async with watching(cluster) as obstacles:
        cluster.news[QUOTAS].put_nowait(("ADDED", named("few", 8)))
        await eventually(lambda: obstacles.why == "the namespace 'load' has a ResourceQuota")
        cluster.news[QUOTAS].put_nowait(("DELETED", named("few", 9)))
        await eventually(lambda: obstacles.why is None)
        assert cluster.left == []
        cluster.news[POLICIES].put_nowait(("ADDED", policy("pods")))
        await eventually(lambda: obstacles.why is not None)
        assert cluster.left == ["pods"]

    assert cluster.reported == [
        "the namespace 'load' has a ResourceQuota",
        "ValidatingAdmissionPolicy 'p' applies to pods",
    ]


async def test_a_namespace_that_is_being_deleted_is_in_everybodys_way() -> None:
    cluster = Cluster()

    async with watching(cluster, insists=True) as obstacles:
        cluster.news[NAMESPACES].put_nowait(("MODIFIED", named("load", 12)))
        await eventually(lambda: obstacles.namespace_version == 12)
        assert obstacles.why is None

        going = named("load", 13, deletionTimestamp="2026-01-01T00:00:00Z")
        cluster.news[NAMESPACES].put_nowait(("MODIFIED", going))
        await eventually(lambda: obstacles.why == "the namespace 'load' is being deleted")


async def test_who_insists_passes_by_webhooks_policies_and_quotas() -> None:
    cluster = Cluster()
    cluster.there |= {POLICIES: [policy("pods")], QUOTAS: [named("few")]}

    async with watching(cluster, insists=True) as obstacles:
        assert obstacles.why is None


async def test_objects_in_no_namespace_have_neither_quota_nor_namespace() -> None:
    cluster = Cluster()
    cluster.there[QUOTAS] = [named("few")]

    async with watching(cluster, NODES) as obstacles:
        assert (obstacles.why, obstacles.namespace_version) == (None, 0)

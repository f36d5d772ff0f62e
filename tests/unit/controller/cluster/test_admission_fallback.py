import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from kwokctl.controller.cluster.admission_fallback import AdmissionFallback
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import EVENTS, LEASES, NODES, PODS, Resource
from kwokctl.kube.transport.pool import Pool
from tests.support.eventually import eventually
from tests.support.fake_api_server import Reply, Request, serving

HOOKS, POLICIES = "validatingwebhookconfigurations", "validatingadmissionpolicies"


def hook(name: str, *plurals: str) -> Any:
    rules = [{"apiGroups": ["*"], "resources": list(plurals)}]
    return {"metadata": {"name": name, "resourceVersion": "7"}, "webhooks": [{"rules": rules}]}


class Cluster:
    """Serves webhooks, and policies that are empty; other kinds it does not know."""

    def __init__(self) -> None:
        self.hooks: list[Any] = []
        self.news: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self.left: list[set[Resource]] = []
        self.may_list = asyncio.Event()
        self.may_list.set()

    def leave(self, resources: Any) -> None:
        self.left.append(set(resources))

    async def serve(self, request: Request, reply: Reply) -> None:
        plural = request.path.rpartition("/")[2]
        if plural not in (HOOKS, POLICIES):
            await reply.refuse(404, "NotFound", "no such kind")
        elif "watch" not in request.query:
            await self.may_list.wait()
            items = self.hooks if plural == HOOKS else []
            await reply.json({"metadata": {"resourceVersion": "7"}, "items": items})
        else:
            await reply.begin()
            while plural == HOOKS:
                kind, body = await self.news.get()
                await reply.event(kind, body)
            await asyncio.Event().wait()


@asynccontextmanager
async def following(cluster: Cluster) -> AsyncIterator[AdmissionFallback]:
    async with serving(cluster.serve) as server, Pool(Access(server=server.url)) as pool:
        fallback = AdmissionFallback(cluster.leave, pool, Random(1))
        task = asyncio.create_task(fallback.run())
        try:
            yield fallback
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_what_there_is_counts_before_anything_is_played() -> None:
    cluster = Cluster()
    cluster.hooks = [hook("a", "pods"), hook("b", "configmaps")]

    async with following(cluster) as fallback:
        await fallback.known()

        assert cluster.left == [{PODS}]


async def test_nothing_is_known_until_every_kind_has_been_listed() -> None:
    cluster = Cluster()
    cluster.may_list.clear()

    async with following(cluster) as fallback:
        waiting = asyncio.create_task(fallback.known())
        await asyncio.sleep(0)
        assert not waiting.done()

        cluster.may_list.set()
        await waiting

    assert cluster.left == []


async def test_webhooks_that_come_and_go_take_effect_at_once() -> None:
    cluster = Cluster()

    async with following(cluster) as fallback:
        await fallback.known()
        cluster.news.put_nowait(("ADDED", hook("a", "*")))
        await eventually(lambda: cluster.left == [{NODES, PODS, LEASES, EVENTS}])
        cluster.news.put_nowait(("MODIFIED", hook("a", "nodes/status")))
        await eventually(lambda: len(cluster.left) == 2)
        cluster.news.put_nowait(("DELETED", hook("a", "nodes/status")))
        await eventually(lambda: len(cluster.left) == 3)

    assert cluster.left[1:] == [{NODES}, set()]

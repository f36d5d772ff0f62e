"""Kinds that a cluster does not serve for a moment."""

import asyncio
from random import Random
from typing import Any

from kwokctl.kube.client import Client
from kwokctl.kube.collections.defined_kinds import DefinedKinds, FollowedKind, NamedObject
from kwokctl.kube.collections.watch import EventType
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import FAULTS
from kwokctl.kube.transport.pool import Pool
from kwokctl.tasks import beside
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.watches import forever, is_watch, page, pod


async def test_what_was_deleted_while_its_kind_was_not_served_is_reported() -> None:
    lists = iter((page(pod("a", 1), pod("b", 2), version=10), page(pod("b", 2), version=12)))
    has_ended = asyncio.Event()

    async def handle(request: Request, reply: Reply) -> None:
        if "customresourcedefinitions" in request.path:
            if is_watch(request):
                await forever()
            await reply.json(page(pod("faults.kwokctl.dev", 1), version=10))
        elif not is_watch(request):
            await reply.json(next(lists))
        elif has_ended.is_set():
            await forever()
        else:
            has_ended.set()
            await reply.refuse(404, "NotFound", "the server could not find the requested resource")

    told: asyncio.Queue[str] = asyncio.Queue()

    def note(event: EventType, found: Any) -> None:
        told.put_nowait(f"{event} {found.metadata.name}")

    def gone() -> None:
        told.put_nowait("gone")

    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        kinds = DefinedKinds(
            Client(pool), (FollowedKind(FAULTS, NamedObject, note),), Random(1), gone=gone
        )
        async with beside(kinds.run()), asyncio.timeout(20):
            assert [await told.get() for _ in range(4)] == [
                "ADDED a",
                "ADDED b",
                "ADDED b",
                "DELETED a",
            ]

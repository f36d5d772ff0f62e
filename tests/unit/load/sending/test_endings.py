"""When what was made has ended: as its conditions say, when it is deleted, or if it is gone already."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.load.arrival import Made
from kwokctl.load.client.sender import LoadSender
from kwokctl.load.sending.endings import Endings
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.load_rig import load_of


def pod(uid: str, phase: str = "Running") -> dict[str, Any]:
    metadata = {"name": uid, "namespace": "default", "uid": uid, "resourceVersion": "7"}
    return {"metadata": metadata, "status": {"phase": phase}}


def made(uid: str, kind: str = "Pod") -> Made:
    return Made("v1", kind, "default", uid, uid)


@asynccontextmanager
async def following(
    listed: list[dict[str, Any]], happens: "asyncio.Queue[tuple[str, dict[str, Any]]]"
) -> AsyncIterator[Endings]:
    """Follow the pods of a cluster that has some, and in which something happens then."""

    async def handle(request: Request, reply: Reply) -> None:
        assert request.path == "/api/v1/pods"
        assert request.query["labelSelector"] == "a=b"
        if "watch" not in request.query:
            await reply.json({"metadata": {"resourceVersion": "5"}, "items": listed})
            return
        await reply.begin()
        while True:
            await reply.event(*await happens.get())

    async with (
        serving(handle) as at,
        Pool(Access(server=at.url)) as pool,
        asyncio.TaskGroup() as tasks,
    ):
        spec = load_of({"every": "1s"}, count=1).spec
        endings = Endings(spec, LoadSender(Client(pool), spec), "a=b", tasks)
        yield endings
        endings.close()


async def test_objects_end_by_their_phase_and_by_their_deletion() -> None:
    happens: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
    listed = [pod("done", "Succeeded"), pod("runs"), pod("goes"), pod("other")]
    async with following(listed, happens) as endings:
        await endings.all_of([made("done"), made("data", "ConfigMap")])
        both = asyncio.ensure_future(endings.all_of([made("runs"), made("goes")]))
        happens.put_nowait(("MODIFIED", pod("runs", "Failed")))
        happens.put_nowait(("MODIFIED", pod("goes")))
        await endings.all_of([made("runs")])
        assert not both.done()
        happens.put_nowait(("DELETED", pod("goes")))
        await both


async def test_what_has_gone_before_it_was_watched_has_ended() -> None:
    async with following([pod("there")], asyncio.Queue()) as endings:
        await endings.all_of([made("gone")])


async def test_only_some_kinds_end() -> None:
    async with following([], asyncio.Queue()) as endings:
        assert endings.come_for([made("a", "ConfigMap"), made("b")])
        assert not endings.come_for([made("a", "ConfigMap"), made("b", "Deployment")])
        assert not endings.come_for([])


async def test_what_has_come_and_gone_while_the_watch_was_interrupted_has_ended() -> None:
    """The watch has shown neither: its server forgets what it has missed, and lists what there is then."""

    async def handle(request: Request, reply: Reply) -> None:
        if "watch" not in request.query:
            await reply.json({"metadata": {"resourceVersion": "5"}, "items": [pod("there")]})
            return
        await reply.begin()
        if not is_open.is_set():
            is_open.set()
            await is_made.wait()
            await reply.event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})
            await reply.end()
        await asyncio.Event().wait()

    is_open, is_made = asyncio.Event(), asyncio.Event()
    spec = load_of({"every": "1s"}, count=1).spec
    async with (
        asyncio.timeout(20),
        serving(handle) as at,
        Pool(Access(server=at.url)) as pool,
        asyncio.TaskGroup() as tasks,
    ):
        endings = Endings(spec, LoadSender(Client(pool), spec), "a=b", tasks)
        there = asyncio.ensure_future(endings.all_of([made("there")]))
        await is_open.wait()
        gone = asyncio.ensure_future(endings.all_of([made("gone")]))
        await asyncio.sleep(0)  # from now on it is waited for
        is_made.set()
        await gone
        assert not there.done()
        there.cancel()
        endings.close()

"""The proxy follows Faults, and says which it carries out."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any

import msgspec

from kwokctl.api_proxy.api_fault import ApiFault
from kwokctl.api_proxy.open_api_faults import OpenApiFaults
from kwokctl.faults.objects.fault_schema import ACKNOWLEDGED, FaultPageSpec
from kwokctl.faults.overlays.definitions import definition_of
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from tests.support.api_faults import CATALOGUE, stored_api_fault
from tests.support.fake_api_server import FakeApiServer, Reply, Request, serving

_FAULTS = "/apis/kwokctl.dev/v1alpha1"
NOON = 1767268800.0


class Served:
    """An API server with Faults, and the proxy's view of them."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self.is_served = True
        self.has_page = True
        self.listed: list[dict[str, Any]] = []
        self.said: list[str] = []
        self.cuts: list[str] = []
        self.found: OpenApiFaults

    async def answer(self, request: Request, reply: Reply) -> None:
        """Answer what the proxy asks."""
        page = "/faultpages/" in request.path
        if not self.is_served or (page and not self.has_page):
            await reply.refuse(404, "NotFound", "no such thing")
        elif request.path == _FAULTS:
            await reply.json({"resources": [{"name": "faults", "kind": "Fault", "namespaced": False}]})  # fmt: skip
        elif request.path == "/apis":
            await reply.json({"groups": []})
        elif request.method == "PATCH":
            self.said.append(json.loads(request.body)["metadata"]["annotations"][ACKNOWLEDGED])
            await reply.json({})
        elif page:
            spec = FaultPageSpec(definition=definition_of(CATALOGUE, request.path.split("/")[-1], ()))  # fmt: skip
            await reply.json({"metadata": {"name": "p"}, "spec": msgspec.to_builtins(spec)})
        elif "watch" in request.query:
            await reply.begin()
            while True:
                await reply.event(*await self.events.get())
        else:
            await reply.json({"metadata": {"resourceVersion": "1"}, "items": self.listed})

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait for something."""
        async with asyncio.timeout(60):
            while not holds():
                await asyncio.sleep(0.01)

    def names(self) -> list[str]:
        """Return the faults that are carried out."""
        return [each.name for each in self.found.open.values()]


def body(name: str = "broken", class_name: str = "api-5xx", **status: Any) -> dict[str, Any]:
    """Return a Fault that has begun; its page is called as its class."""
    fault = stored_api_fault(class_name)
    found: dict[str, Any] = msgspec.to_builtins(fault)
    found["metadata"] |= {"name": name, "uid": f"uid-{name}", "resourceVersion": "5"}
    found["status"] |= {"definition": class_name, **status}
    return found


@asynccontextmanager
async def following(served: Served) -> AsyncIterator[FakeApiServer]:
    """Follow the faults of an API server."""

    def cut(fault: ApiFault) -> int:
        served.cuts.append(fault.name)
        return 1

    async with serving(served.answer) as server, Pool(Access(server=server.url)) as pool:
        served.found = OpenApiFaults(Client(pool), cut, lambda: NOON, Random(1))
        running = asyncio.get_running_loop().create_task(served.found.run())
        try:
            yield server
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def test_a_fault_that_has_begun_is_carried_out_and_that_is_said_once() -> None:
    served = Served()
    served.listed = [body()]
    async with following(served):
        await served.until(lambda: served.said)
        served.events.put_nowait(("MODIFIED", body(phase="Landed")))
        served.events.put_nowait(("ADDED", body("second")))
        await served.until(lambda: len(served.said) == 2)

        assert served.names() == ["broken", "second"]
    assert served.said == ["2026-01-01T12:00:00.000000000Z"] * 2
    assert served.names() == []


async def test_one_that_is_said_to_be_carried_out_is_so_after_a_restart_and_not_said_again() -> (
    None
):
    served = Served()
    known = body(phase="Landed")
    known["metadata"]["annotations"] = {ACKNOWLEDGED: "2026-01-01T11:00:00Z"}
    served.listed = [known]
    async with following(served):
        await served.until(served.names)

    assert served.said == []


async def test_a_fault_ends_when_it_is_cleared_or_deleted() -> None:
    served = Served()
    served.listed = [body("a"), body("b"), body("c", phase="Pending", clock=None)]
    async with following(served):
        await served.until(lambda: served.names() == ["a", "b"])
        served.events.put_nowait(("MODIFIED", body("a", phase="Cleared")))
        await served.until(lambda: served.names() == ["b"])
        served.events.put_nowait(("DELETED", body("b")))
        await served.until(lambda: not served.names())


async def test_faults_of_nodes_are_left_alone() -> None:
    served = Served()
    other = body("other")
    other["spec"] |= {"class": "xid-79", "target": {"count": 1}}
    served.listed = [other, body()]
    async with following(served):
        await served.until(served.names)

        assert served.names() == ["broken"]


async def test_watches_are_cut_until_the_fault_ends() -> None:
    served = Served()
    cutter = body(class_name="watch-cut")
    cutter["spec"]["parameters"] = {"every": "10ms"}
    served.listed = [cutter]
    async with following(served):
        await served.until(lambda: len(served.cuts) >= 3)
        served.events.put_nowait(("DELETED", cutter))
        await served.until(lambda: not served.names())
        number = len(served.cuts)
        served.events.put_nowait(("ADDED", body("next")))
        await served.until(served.names)

        assert len(served.cuts) == number


async def test_a_fault_that_cannot_be_read_is_not_said_to_be_carried_out() -> None:
    served = Served()
    wrong = body("wrong")
    wrong["spec"]["parameters"] = {"code": 999}
    served.listed = [wrong, body()]
    async with following(served):
        await served.until(lambda: served.said)

        assert served.names() == ["broken"]
        assert len(served.said) == 1


async def test_the_kind_may_come_later() -> None:
    served = Served()
    served.is_served = False
    async with following(served) as server:
        await served.until(lambda: server.requests)
        served.listed, served.is_served = [body()], True
        await served.until(lambda: served.names() == ["broken"])

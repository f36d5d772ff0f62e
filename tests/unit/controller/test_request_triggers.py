"""Which kinds of requests are watched, and what the log says of those that the cluster does not serve."""

import asyncio
from collections.abc import Mapping
from random import Random
from typing import Any, cast

import msgspec
import pytest

from kwokctl.controller.repairs.request_triggers import MOST_KINDS, RequestTriggers
from kwokctl.errors import NotFoundError
from kwokctl.faults.repairs.policy_schema import RepairPolicySpec
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.tasks import beside
from tests.support import virtual_time
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.watches import forever, is_watch, page, pod


class Serving:
    """A cluster that serves none of the kinds, and notes which it was asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    async def resource_for(self, api_version: str, kind: str) -> Any:
        self.asked.add(kind)
        raise NotFoundError(f"this cluster does not serve '{kind}'", hint="it serves v1")


def policy(*kinds: str) -> RepairPolicySpec:
    triggers = [
        {"action": "reboot", "request": {"apiVersion": "a/v1", "kind": kind}} for kind in kinds
    ]
    return msgspec.convert({"triggers": triggers}, RepairPolicySpec)


def followed(*steps: Mapping[str, RepairPolicySpec]) -> set[str]:
    """Follow what these policies name, one after the other; return the kinds that were asked for."""
    cluster = Serving()

    async def main() -> None:
        triggers = RequestTriggers(cast("Client", cluster), lambda: None, Random(1))
        running = asyncio.create_task(triggers.run())
        for policies in steps:
            triggers.watch_for(policies)
            await asyncio.sleep(20)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    virtual_time.run(main())
    return cluster.asked


def test_of_kinds_that_are_not_served_the_log_names_a_few(
    caplog: pytest.LogCaptureFixture,
) -> None:
    steps = [{"p": policy(*(f"K{step}x{number}" for number in range(20)))} for step in range(5)]

    assert len(followed(*steps)) == 100

    said = [each.message for each in caplog.records if each.levelname == "WARNING"]
    assert len([each for each in said if "does not serve 'K" in each]) == 5
    assert len(said) == 6
    assert "are not logged" in said[-1]


def test_a_kind_that_is_not_served_is_named_with_what_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    followed({"p": policy("RebootNode")})

    [said] = [each.message for each in caplog.records if each.levelname == "WARNING"]
    assert "does not serve 'RebootNode'" in said
    assert "it serves v1" in said


def test_of_too_many_kinds_the_first_are_watched_and_the_log_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    many = {f"p-{number}": policy(*(f"K{number}x{n}" for n in range(60))) for number in range(3)}

    asked = followed(many, {**many, "q": policy("K")})

    assert len(asked) == MOST_KINDS
    assert {f"K0x{number}" for number in range(60)} < asked
    said = [each.message for each in caplog.records if "only the first 100" in each.message]
    assert len(said) == 1
    assert "name 180 kinds" in said[0]


async def test_a_request_that_was_deleted_while_its_kind_was_not_served_asks_no_more() -> None:
    lists = iter((page(pod("a", 1), pod("b", 2), version=10), page(pod("b", 2), version=12)))
    has_ended, is_looked_at = asyncio.Event(), asyncio.Event()

    async def handle(request: Request, reply: Reply) -> None:
        if not is_watch(request):
            await reply.json(next(lists))
        elif has_ended.is_set():
            is_looked_at.set()
            await forever()
        else:
            has_ended.set()
            await reply.refuse(404, "NotFound", "the server could not find the requested resource")

    class Found(Client):
        async def resource_for(self, api_version: str, kind: str) -> Resource:
            return Resource("a", "v1", "rebootnodes", "RebootNode", namespaced=False)

        def forget(self, resource: Resource) -> None:
            pass

    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        triggers = RequestTriggers(Found(pool), lambda: None, Random(1))
        triggers.watch_for({"p": policy("RebootNode")})
        async with beside(triggers.run()), asyncio.timeout(20):
            await is_looked_at.wait()
        assert triggers.requests["a/v1", "RebootNode"].keys() == {"uid-b"}

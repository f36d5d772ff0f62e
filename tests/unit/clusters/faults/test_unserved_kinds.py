"""Commands that list Faults of an API server that does not serve them, and that delete some that are gone."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwokctl.clusters.faults.clear import FaultsToClear, clear, delete
from kwokctl.clusters.faults.stop_storm import remove_storm
from kwokctl.clusters.faults.stored_faults import decode_fault, stored_faults
from kwokctl.clusters.faults.stored_schedules import decode_schedule
from kwokctl.clusters.state.home import cluster_name
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.retry import may_pass
from tests.support.changing_kind import named
from tests.support.fake_api_server import FakeApiServer, Reply, Request, serving
from tests.support.served_home import served_home
from tests.support.watches import page

NAME = cluster_name("kwok")

DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/faults.kwokctl.dev"


@asynccontextmanager
async def answering(
    *, defined: bool = True, deletion: int = 0
) -> AsyncIterator[tuple[FakeApiServer, Client]]:
    """Serve no Faults; `deletion` is the status with which deletions are refused."""

    async def handle(request: Request, reply: Reply) -> None:
        if request.method == "DELETE":
            await reply.refuse(deletion, "Refused", "it is not there")
        elif defined and request.path == DEFINITION:
            await reply.json(named("faults.kwokctl.dev"))
        else:
            await reply.refuse(404, "NotFound", "the server could not find the requested resource")

    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        yield server, Client(pool)


async def test_a_kind_that_is_defined_and_not_served_yet_is_not_taken_for_empty() -> None:
    async with answering() as (_, client):
        with pytest.raises(ApiError, match="does not serve Faults yet") as caught:
            await stored_faults(client)
    assert may_pass(caught.value)


async def test_a_cluster_that_does_not_define_them_has_no_faults() -> None:
    async with answering(defined=False) as (_, client):
        assert await stored_faults(client) == []


@pytest.mark.parametrize("status", [404, 409])
async def test_a_fault_that_is_gone_or_whose_name_another_has_is_cleared(status: int) -> None:
    spec = {"class": "xid-79", "target": {"nodes": ["n"]}}
    fault = decode_fault.decode(json.dumps(named("a", spec=spec)))
    async with answering(deletion=status) as (server, client):
        await delete(client, fault)
    assert json.loads(server.requests[0].body) == {"preconditions": {"uid": "uid-a"}}


async def test_the_pages_of_a_schedule_that_has_taken_the_name_stay() -> None:
    schedule = decode_schedule(json.dumps(named("a", spec={"horizon": "1h"})))
    async with answering(deletion=409) as (server, client):
        await remove_storm(client, schedule)
    assert len(server.requests) == 1


async def test_those_that_are_gone_meanwhile_need_not_be_there(tmp_path: Path) -> None:
    deleted: list[str] = []

    async def handle(request: Request, reply: Reply) -> None:
        if request.method == "DELETE":
            deleted.append(request.path.rpartition("/")[2])
            await reply.json({})
        else:
            spec = {"class": "xid-79", "target": {"nodes": ["n"]}}
            await reply.json(page(named("a", spec=spec), named("b", spec=spec), version=1))

    async with served_home(tmp_path, NAME, handle) as home:
        done = await clear(home, NAME, FaultsToClear(names=("gone", "b"), if_there=True))
        with pytest.raises(NotFoundError, match="there is no Fault 'gone'"):
            await clear(home, NAME, FaultsToClear(names=("gone", "a")))

    assert (done.names, deleted) == (("b",), ["b"])

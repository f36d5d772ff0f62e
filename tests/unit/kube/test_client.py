from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kwokctl.errors import ApiError, NotFoundError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import FakeApiServer, Handler, Reply, Request, serving

_POD = {"metadata": {"name": "a"}}


@asynccontextmanager
async def _client(handle: Handler) -> AsyncIterator[tuple[FakeApiServer, Client]]:
    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        yield server, Client(pool)


async def _pod(request: Request, reply: Reply) -> None:
    await reply.json(_POD)


async def _missing(request: Request, reply: Reply) -> None:
    await reply.refuse(404, "NotFound", 'pods "a" not found')


async def test_single_objects_are_read_created_and_replaced() -> None:
    async with _client(_pod) as (server, client):
        assert await client.get(PODS, "default", "a") == _POD
        assert await client.find(PODS, "default", "a") == _POD
        await client.create(PODS, "default", b'{"x":1}', dry_run=True)
        await client.update(NODES, None, "n", b"{}")
    lines = [
        (r.method, r.path, {k: v for k, v in r.query.items() if k != "fieldManager"})
        for r in server.requests
    ]
    pod = "/api/v1/namespaces/default/pods/a"
    assert lines == [
        ("GET", pod, {}),
        ("GET", pod, {}),
        ("POST", "/api/v1/namespaces/default/pods", {"dryRun": "All"}),
        ("PUT", "/api/v1/nodes/n", {}),
    ]
    assert {r.query["fieldManager"] for r in server.requests[2:]} == {"kwokctl"}


async def test_a_refusal_contains_the_message_of_the_server() -> None:
    async with _client(_missing) as (_, client):
        with pytest.raises(ApiError, match='pods "a" not found') as caught:
            await client.get(PODS, "default", "a")
        assert (caught.value.status, caught.value.reason) == (404, "NotFound")
        assert await client.find(PODS, "default", "a") is None


async def test_find_does_not_take_other_refusals_for_absence() -> None:
    async def forbid(request: Request, reply: Reply) -> None:
        await reply.refuse(403, "Forbidden", "not for you")

    async with _client(forbid) as (_, client):
        with pytest.raises(ApiError, match="not for you"):
            await client.find(PODS, "default", "a")


async def test_a_refusal_that_is_no_status_becomes_the_message() -> None:
    async def answer(request: Request, reply: Reply) -> None:
        await reply.send(b"<html>bad gateway</html>", status=502)

    async with _client(answer) as (_, client):
        with pytest.raises(ApiError, match="bad gateway") as caught:
            await client.get(PODS, "default", "a")
    assert (caught.value.status, caught.value.reason) == (502, "BadGateway")


async def test_an_empty_refusal_still_has_a_message() -> None:
    async def answer(request: Request, reply: Reply) -> None:
        await reply.send(b"", status=599)

    async with _client(answer) as (_, client):
        with pytest.raises(ApiError, match="599"):
            await client.get(PODS, "default", "a")


async def test_a_list_is_read_page_by_page() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        more = "" if "continue" in request.query else "token&x"
        name = "b" if "continue" in request.query else "a"
        metadata = {"resourceVersion": "5", "continue": more}
        await reply.json({"metadata": metadata, "items": [{"metadata": {"name": name}}]})

    async with _client(handle) as (server, client):
        query = ListQuery(resource=PODS, field_selector="spec.nodeName=n")
        pages = [page async for page in list_pages(client.pool, query, limit=1)]
    assert [bytes(raw) for page in pages for raw in page.objects] == [
        b'{"metadata": {"name": "a"}}',
        b'{"metadata": {"name": "b"}}',
    ]
    assert [dict(r.query) for r in server.requests] == [
        {"fieldSelector": "spec.nodeName=n", "limit": "1"},
        {"fieldSelector": "spec.nodeName=n", "limit": "1", "continue": "token&x"},
    ]


async def _discovery(request: Request, reply: Reply) -> None:
    if request.path == "/apis":
        await reply.json({"groups": [{"versions": [{"groupVersion": "x.io/v2"}]}]})
    elif request.path == "/apis/x.io/v2":
        things = {"name": "things", "kind": "Thing", "namespaced": True}
        await reply.json({"resources": [things, {**things, "name": "things/status"}]})
    else:
        await reply.refuse(404, "NotFound", "the server could not find the requested resource")


async def test_a_kind_is_looked_up_once() -> None:
    async with _client(_discovery) as (server, client):
        for _ in range(2):
            found = await client.resource_for("x.io/v2", "Thing")
            assert found == Resource("x.io", "v2", "things", "Thing", namespaced=True)
    assert [r.path for r in server.requests] == ["/apis/x.io/v2"]


async def test_well_known_kinds_need_no_look_up() -> None:
    async with _client(_discovery) as (server, client):
        assert await client.resource_for("v1", "Pod") == PODS
    assert server.requests == []


async def test_an_unknown_kind_is_reported_with_the_served_ones() -> None:
    async with _client(_discovery) as (_, client):
        with pytest.raises(NotFoundError, match=r"no kind 'Thin' in 'x\.io/v2'") as caught:
            await client.resource_for("x.io/v2", "Thin")
        assert caught.value.hint == "it has Thing"
        with pytest.raises(NotFoundError, match=r"does not serve 'x\.io/v1'") as caught:
            await client.resource_for("x.io/v1", "Thing")
        assert caught.value.hint == "it serves v1, x.io/v2"


async def test_a_kind_that_was_forgotten_is_asked_for_again() -> None:
    plurals = iter(("widgets", "gadgets"))

    async def handle(request: Request, reply: Reply) -> None:
        name = next(plurals)
        await reply.json({"resources": [{"name": name, "kind": "Widget", "namespaced": True}]})

    async with _client(handle) as (_, client):
        found = await client.resource_for("example.com/v1", "Widget")
        assert await client.resource_for("example.com/v1", "Widget") is found
        client.forget(found)
        again = await client.resource_for("example.com/v1", "Widget")
        assert (found.plural, again.plural) == ("widgets", "gadgets")

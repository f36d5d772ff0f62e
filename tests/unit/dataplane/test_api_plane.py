""""""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.leases.encode import Lease
from kwokctl.dataplane.port import ObjectKey, Patch, Renewal
from kwokctl.errors import ApiError
from kwokctl.kube.client import PatchType
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import NODES, PODS
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import FakeApiServer, Reply, Request, serving

POD = ObjectKey(PODS, "ns", "p")


@asynccontextmanager
async def answering(
    status: int = 200, body: bytes = b'{"kind":"Pod"}'
) -> AsyncIterator[tuple[ApiPlane, FakeApiServer]]:
    async def handle(_: Request, reply: Reply) -> None:
        await reply.send(body, status=status)

    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        yield ApiPlane(pool), server


def line(request: Request) -> str:
    query = "&".join(f"{key}={value}" for key, value in request.query.items())
    return f"{request.method} {request.path}{'?' if query else ''}{query}"


async def test_a_create_is_one_post_to_the_collection() -> None:
    async with answering(status=201) as (plane, server):
        assert await plane.create(NODES, None, b"{}") == b'{"kind":"Pod"}'

        (request,) = server.requests
        assert line(request) == "POST /api/v1/nodes?fieldManager=kwok"
        assert request.body == b"{}"


@pytest.mark.parametrize(
    ("patch_type", "subresource", "path"),
    [
        (PatchType.STRATEGIC, "status", "/api/v1/namespaces/ns/pods/p/status?fieldManager=kwok"),
        (PatchType.MERGE, "", "/api/v1/namespaces/ns/pods/p?fieldManager=kwok"),
        (PatchType.APPLY, "", "/api/v1/namespaces/ns/pods/p?fieldManager=kwok&force=true"),
    ],
)
async def test_a_patch_is_sent_with_its_content_type(
    patch_type: PatchType, subresource: str, path: str
) -> None:
    async with answering() as (plane, server):
        patch = Patch(document={}, type=patch_type, subresource=subresource)
        assert await plane.patch(POD, patch) == {"kind": "Pod"}

        (request,) = server.requests
        assert line(request) == f"PATCH {path}"
        assert request.headers["content-type"] == patch_type.value


LEASE = Lease({"name": "n"}, holder="me", duration=40, acquired=1.5, renewed=2.5)


async def test_a_lease_that_exists_is_put_and_a_new_one_posted() -> None:
    body = b'{"metadata":{"resourceVersion":"8"}}'
    async with answering(body=body) as (plane, server):
        answers = await plane.renew([Renewal("n", "7", LEASE), Renewal("m", "", LEASE)])

        path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        lines = {line(request): json.loads(request.body) for request in server.requests}
        assert lines == {
            f"PUT {path}/n?fieldManager=kwok": {
                **LEASE.document(),
                "metadata": {"name": "n", "resourceVersion": "7"},
            },
            f"POST {path}?fieldManager=kwok": LEASE.document(),
        }
        assert [answer.version for answer in answers] == ["8", "8"]
        assert "resourceVersion" not in LEASE.metadata


async def test_a_lease_that_is_refused_stops_no_other() -> None:
    async with answering(status=409, body=b"{}") as (plane, _):
        (answer,) = await plane.renew([Renewal("n", "7", LEASE)])

        assert answer.error is not None
        assert answer.error.status == 409
        assert answer.version == ""


async def test_a_deletion_names_grace_and_uid_only_if_given() -> None:
    async with answering() as (plane, server):
        await plane.delete(POD, grace_seconds=0, uid="u")
        await plane.delete(POD)

        exact, plain = server.requests
        assert line(plain) == "DELETE /api/v1/namespaces/ns/pods/p"
        assert json.loads(exact.body) == {"gracePeriodSeconds": 0, "preconditions": {"uid": "u"}}
        assert plain.body == b""


async def test_a_write_as_another_user_sends_the_impersonation_header() -> None:
    async with answering() as (plane, server):
        await plane.create(PODS, "ns", b"{}", as_user="system:node:n")
        await plane.patch(POD, Patch(document={}, type=PatchType.MERGE, as_user="a\r\nX: y"))
        await plane.create(PODS, "ns", b"{}")

        named, odd, plain = server.requests
        assert named.headers["impersonate-user"] == "system:node:n"
        assert "x" not in odd.headers
        assert "impersonate-user" not in plain.headers


async def test_a_refusal_is_an_error_with_the_reason() -> None:
    status = {"message": "pods p not found", "reason": "NotFound", "code": 404}
    async with answering(404, json.dumps(status).encode()) as (plane, _):
        with pytest.raises(ApiError, match="pods p not found") as caught:
            await plane.patch(POD, Patch(document={}, type=PatchType.MERGE))

    assert (caught.value.status, caught.value.reason) == (404, "NotFound")

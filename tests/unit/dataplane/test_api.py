import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from kwokctl.dataplane.api import ApiPlane
from kwokctl.dataplane.port import PatchType, Target
from kwokctl.errors import ApiError
from kwokctl.kube.access import Access
from kwokctl.kube.http import Pool
from kwokctl.kube.resource import LEASES, NODES, PODS

POD = Target(PODS, "ns", "p")


@dataclass
class Server:
    """Answers every request with the same, and remembers what it was asked."""

    status: int = 200
    answer: bytes = b'{"kind":"Pod"}'
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next(
                    (int(line[16:]) for line in head.split("\r\n") if line.startswith("Content-Length: ")),
                    0,
                )
                self.heads.append(head)
                self.bodies.append(await reader.readexactly(length))
                answer = f"HTTP/1.1 {self.status} X\r\nContent-Length: {len(self.answer)}\r\n\r\n"
                writer.write(answer.encode() + self.answer)
        except asyncio.IncompleteReadError:
            writer.close()

    @property
    def line(self) -> str:
        return self.heads[-1].split("\r\n")[0].removesuffix(" HTTP/1.1")


@asynccontextmanager
async def plane_to(server: Server) -> AsyncIterator[ApiPlane]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    plane = ApiPlane(Pool(Access(server=f"http://127.0.0.1:{port}")))
    try:
        yield plane
    finally:
        await plane.close()
        listening.close()
        await asyncio.sleep(0.01)


async def test_a_create_is_one_post_to_the_collection() -> None:
    server = Server(status=201)
    async with plane_to(server) as plane:
        assert await plane.create(NODES, None, b"{}") == b'{"kind":"Pod"}'

    assert server.line == "POST /api/v1/nodes?fieldManager=kwok"
    assert server.bodies == [b"{}"]


@pytest.mark.parametrize(
    ("patch_type", "subresource", "line"),
    [
        (PatchType.STRATEGIC, "status", "/api/v1/namespaces/ns/pods/p/status?fieldManager=kwok"),
        (PatchType.MERGE, "", "/api/v1/namespaces/ns/pods/p?fieldManager=kwok"),
        (PatchType.APPLY, "", "/api/v1/namespaces/ns/pods/p?fieldManager=kwok&force=true"),
    ],
)
async def test_a_patch_says_how_it_is_to_be_read(
    patch_type: PatchType, subresource: str, line: str
) -> None:
    server = Server()
    async with plane_to(server) as plane:
        await plane.patch(POD, b"{}", patch_type, subresource=subresource)

    assert server.line == f"PATCH {line}"
    assert f"Content-Type: {patch_type.value}\r\n" in server.heads[0]


async def test_a_replacement_is_one_put() -> None:
    server = Server()
    async with plane_to(server) as plane:
        await plane.replace(Target(LEASES, "kube-node-lease", "n"), b"{}")

    path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n"
    assert server.line == f"PUT {path}?fieldManager=kwok"


async def test_a_deletion_names_grace_and_uid_only_if_given() -> None:
    server = Server()
    async with plane_to(server) as plane:
        await plane.delete(POD, grace_seconds=0, uid="u")
        await plane.delete(POD)

    assert server.line == "DELETE /api/v1/namespaces/ns/pods/p"
    assert json.loads(server.bodies[0]) == {"gracePeriodSeconds": 0, "preconditions": {"uid": "u"}}
    assert server.bodies[1] == b""


async def test_a_write_as_somebody_else_says_so() -> None:
    server = Server()
    async with plane_to(server) as plane:
        await plane.create(PODS, "ns", b"{}", as_user="system:node:n")
        await plane.patch(POD, b"{}", PatchType.MERGE, as_user="a\r\nX: y")
        await plane.create(PODS, "ns", b"{}")

    assert "Impersonate-User: system:node:n\r\n" in server.heads[0]
    assert "\nX: y" not in server.heads[1]
    assert "Impersonate-User" not in server.heads[2]


async def test_a_refusal_is_an_error_with_the_reason() -> None:
    status = {"message": "pods p not found", "reason": "NotFound", "code": 404}
    server = Server(status=404, answer=json.dumps(status).encode())
    async with plane_to(server) as plane:
        with pytest.raises(ApiError, match="pods p not found") as caught:
            await plane.patch(POD, b"{}", PatchType.MERGE)

    assert (caught.value.status, caught.value.reason) == (404, "NotFound")

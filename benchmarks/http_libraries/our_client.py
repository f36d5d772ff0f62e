"""The client of the product."""

from collections.abc import AsyncIterator

from benchmarks.http_libraries.http_client import CONNECTIONS
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool, Response


class OurClient:
    """`kwokctl.kube.transport`."""

    def __init__(self, access: Access) -> None:
        self._pool = Pool(access, connections=CONNECTIONS)

    async def request(self, method: str, path: str, body: bytes, content_type: str) -> Response:
        return await self._pool.request(method, path, body=body, content_type=content_type)

    async def pieces(self, path: str) -> AsyncIterator[bytes]:
        async with self._pool.stream(path) as stream:
            async for piece in stream:
                yield piece

    async def close(self) -> None:
        await self._pool.close()

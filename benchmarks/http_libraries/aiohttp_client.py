"""aiohttp."""

from collections.abc import AsyncIterator

import aiohttp

from benchmarks.http_libraries.http_client import CONNECTIONS, JSON
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.dial import tls_context
from kwokctl.kube.transport.wire import Response


class AiohttpClient:
    """One session."""

    def __init__(self, access: Access) -> None:
        context = tls_context(ca=access.ca, cert=access.cert, key=access.key)
        connector = aiohttp.TCPConnector(limit=CONNECTIONS, ssl=context)
        headers = {"Authorization": access.authorization} if access.authorization else {}
        self._session = aiohttp.ClientSession(
            access.server, connector=connector, headers=headers | {"Accept": JSON}
        )

    async def request(self, method: str, path: str, body: bytes, content_type: str) -> Response:
        headers = {"Content-Type": content_type}
        async with self._session.request(
            method, path, data=body or None, headers=headers
        ) as answer:
            return Response(answer.status, await answer.read(), list(answer.raw_headers))

    async def pieces(self, path: str) -> AsyncIterator[bytes]:
        async with self._session.get(path) as answer:
            async for piece in answer.content.iter_any():
                yield piece

    async def close(self) -> None:
        await self._session.close()

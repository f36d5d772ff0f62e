"""httpx."""

from collections.abc import AsyncIterator

import httpx

from benchmarks.http_libraries.http_client import CONNECTIONS, JSON
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.dial import tls_context
from kwokctl.kube.transport.wire import Response


class HttpxClient:
    """Its asynchronous client with HTTP/1.1, which is the cheaper one at this."""

    def __init__(self, access: Access) -> None:
        self._client = httpx.AsyncClient(
            base_url=access.server,
            verify=tls_context(ca=access.ca, cert=access.cert, key=access.key),
            headers={"Accept": JSON},
            limits=httpx.Limits(max_connections=CONNECTIONS),
            trust_env=False,
            timeout=30,
        )

    async def request(self, method: str, path: str, body: bytes, content_type: str) -> Response:
        headers = {"Content-Type": content_type}
        answer = await self._client.request(method, path, content=body, headers=headers)
        return Response(answer.status_code, answer.content, answer.headers.raw)

    async def pieces(self, path: str) -> AsyncIterator[bytes]:
        async with self._client.stream("GET", path) as answer:
            async for piece in answer.aiter_raw():
                yield piece

    async def close(self) -> None:
        await self._client.aclose()

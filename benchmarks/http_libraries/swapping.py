"""Sends the requests of the product by another library; its watches stay ours."""

import os
from types import ModuleType
from typing import Any

from benchmarks.http_libraries.clients import client
from benchmarks.http_libraries.http_client import JSON, HttpClient
from benchmarks.swap import LIBRARY
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.wire import Response


def change(module: ModuleType) -> None:
    own = module.Pool

    class SwappedPool(own):  # type: ignore[misc, valid-type]  # the class is known only now
        def __init__(self, access: Access, **options: object) -> None:
            super().__init__(access, **options)
            self._access = access
            self._other: HttpClient | None = None

        async def request(
            self,
            method: str,
            path: str,
            *,
            body: bytes = b"",
            content_type: str = JSON,
            **more: Any,
        ) -> Response:
            if any(more.values()):
                # Another encoding, or another user: seldom, and not what is measured.
                answer: Response = await super().request(
                    method, path, body=body, content_type=content_type, **more
                )
                return answer
            if self._other is None:
                self._other = client(os.environ[LIBRARY], self._access)
            return await self._other.request(method, path, body, content_type)

        async def close(self) -> None:
            if self._other is not None:
                await self._other.close()
            await super().close()

    vars(module)["Pool"] = SwappedPool

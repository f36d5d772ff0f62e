"""What a client for HTTP is here."""

from collections.abc import AsyncIterator
from typing import Protocol

from kwokctl.kube.transport.wire import Response

JSON = "application/json"
CONNECTIONS = 64


class HttpClient(Protocol):
    """Sends requests, many at a time, and reads answers that have no end."""

    async def request(self, method: str, path: str, body: bytes, content_type: str) -> Response: ...

    def pieces(self, path: str) -> AsyncIterator[bytes]: ...

    async def close(self) -> None: ...

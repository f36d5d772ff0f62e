"""What a client for HTTP is here."""

from collections.abc import AsyncIterator
from typing import Protocol

from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.wire import Response

JSON = "application/json"
CONNECTIONS = 64
OURS = "ours"
CLIENTS = (OURS, "pycurl", "aiohttp", "urllib3", "requests", "httpx")


class HttpClient(Protocol):
    """Sends requests, many at a time, and reads answers that have no end."""

    async def request(self, method: str, path: str, body: bytes, content_type: str) -> Response: ...

    def pieces(self, path: str) -> AsyncIterator[bytes]: ...

    async def close(self) -> None: ...


def client(name: str, access: Access) -> HttpClient:
    """Return a client of a library, which is imported only now."""
    match name:
        case "pycurl":
            from benchmarks.http_libraries.pycurl_client import PycurlClient

            return PycurlClient(access)
        case "aiohttp":
            from benchmarks.http_libraries.aiohttp_client import AiohttpClient

            return AiohttpClient(access)
        case "urllib3":
            from benchmarks.http_libraries.threaded_clients import Urllib3Client

            return Urllib3Client(access)
        case "requests":
            from benchmarks.http_libraries.threaded_clients import RequestsClient

            return RequestsClient(access)
        case "httpx":
            from benchmarks.http_libraries.httpx_client import HttpxClient

            return HttpxClient(access)
        case _:
            from benchmarks.http_libraries.our_client import OurClient

            return OurClient(access)

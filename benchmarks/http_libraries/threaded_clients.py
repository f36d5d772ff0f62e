"""urllib3, and requests on top of it. Both block, so each request takes a thread meanwhile."""

import asyncio
import tempfile
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import urllib3

from benchmarks.http_libraries.http_client import CONNECTIONS
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.dial import tls_context
from kwokctl.kube.transport.wire import Response

_PIECE = 1 << 16
_TIMEOUT = 30.0


class _Threaded(ABC):
    """Runs blocking calls in threads."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(CONNECTIONS)

    async def request(self, method: str, path: str, body: bytes, content_type: str) -> Response:
        loop = asyncio.get_running_loop()
        words = (method, path, body, content_type)
        return await loop.run_in_executor(self._threads, self.send, *words)

    async def pieces(self, path: str) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        come = await loop.run_in_executor(self._threads, self.read, path)
        while piece := await loop.run_in_executor(self._threads, next, come, b""):
            yield piece

    async def close(self) -> None:
        self._threads.shutdown()

    @abstractmethod
    def send(self, method: str, path: str, body: bytes, content_type: str) -> Response:
        """Send a request and return its answer."""

    @abstractmethod
    def read(self, path: str) -> Iterator[bytes]:
        """Return the body of an answer as it comes."""


class Urllib3Client(_Threaded):
    """One pool of connections."""

    def __init__(self, access: Access) -> None:
        super().__init__()
        context = tls_context(ca=access.ca, cert=access.cert, key=access.key)
        self._pool = urllib3.connection_from_url(
            access.server, maxsize=CONNECTIONS, ssl_context=context, timeout=_TIMEOUT
        )

    def send(self, method: str, path: str, body: bytes, content_type: str) -> Response:
        headers = {"Content-Type": content_type}
        answer = self._pool.request(method, path, body=body, headers=headers)
        return Response(answer.status, answer.data, [])

    def read(self, path: str) -> Iterator[bytes]:
        answer = self._pool.request("GET", path, preload_content=False)
        return iter(lambda: answer.read1(_PIECE), b"")


class RequestsClient(_Threaded):
    """One session for all threads."""

    def __init__(self, access: Access) -> None:
        import requests  # not for urllib3
        from requests.adapters import HTTPAdapter  # the same

        super().__init__()
        self._server = access.server
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.mount("https://", HTTPAdapter(pool_maxsize=CONNECTIONS))
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name, "ca.crt")
        file.write_bytes(access.ca or b"")
        self._session.verify = str(file)

    def send(self, method: str, path: str, body: bytes, content_type: str) -> Response:
        headers = {"Content-Type": content_type}
        answer = self._session.request(
            method, self._server + path, data=body, headers=headers, timeout=_TIMEOUT
        )
        return Response(answer.status_code, answer.content, [])

    def read(self, path: str) -> Iterator[bytes]:
        answer = self._session.get(self._server + path, stream=True, timeout=_TIMEOUT)
        return answer.iter_content(None)

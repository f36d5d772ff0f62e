"""pycurl: libcurl's multi interface; the event loop reports the sockets that are ready."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

import pycurl

from benchmarks.http_libraries.http_client import CONNECTIONS
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.wire import Response

_TIMEOUT_MS = 30_000


class PycurlClient:
    """One multi handle, and an easy handle a request, which are kept."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._loop = asyncio.get_running_loop()
        self._idle: list[pycurl.Curl] = []
        self._running: dict[pycurl.Curl, Callable[[str], None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, CONNECTIONS)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)

    async def request(self, method: str, path: str, body: bytes, content_type: str) -> Response:
        chunks: list[bytes] = []
        headers: list[bytes] = []
        handle = self._idle.pop() if self._idle else self._made()
        handle.setopt(pycurl.URL, self._access.server + path)
        handle.setopt(pycurl.CUSTOMREQUEST, method)
        handle.setopt(pycurl.HTTPHEADER, [*self._fixed(), f"Content-Type: {content_type}"])
        handle.setopt(pycurl.POSTFIELDS, body)
        handle.setopt(pycurl.TIMEOUT_MS, _TIMEOUT_MS)
        handle.setopt(pycurl.WRITEFUNCTION, chunks.append)
        handle.setopt(pycurl.HEADERFUNCTION, headers.append)
        done: asyncio.Future[None] = self._loop.create_future()
        self._start(handle, lambda fault: _settle(done, fault))
        await done
        self._idle.append(handle)
        parted = [line.rstrip().partition(b": ")[::2] for line in headers[1:] if b":" in line]
        return Response(handle.getinfo(pycurl.RESPONSE_CODE), b"".join(chunks), parted)

    async def pieces(self, path: str) -> AsyncIterator[bytes]:
        come: deque[bytes] = deque()
        news = asyncio.Event()
        handle = self._made()
        handle.setopt(pycurl.URL, self._access.server + path)
        handle.setopt(pycurl.HTTPHEADER, self._fixed())

        def take(piece: bytes) -> None:
            come.append(piece)
            news.set()

        handle.setopt(pycurl.WRITEFUNCTION, take)
        handle.setopt(pycurl.BUFFERSIZE, 1 << 18)
        self._start(handle, lambda _: take(b""))
        while True:
            await news.wait()
            news.clear()
            whole = b"".join(come)
            is_over = not come[-1]
            come.clear()
            if whole:
                yield whole
            if is_over:
                return

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._multi.close()

    def _fixed(self) -> list[str]:
        given = self._access.authorization
        return ["Accept: application/json", "Expect:"] + (
            [f"Authorization: {given}"] if given else []
        )

    def _made(self) -> pycurl.Curl:
        handle = pycurl.Curl()
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        handle.setopt(pycurl.NOSIGNAL, 1)
        for option, content in (
            (pycurl.CAINFO_BLOB, self._access.ca),
            (pycurl.SSLCERT_BLOB, self._access.cert),
            (pycurl.SSLKEY_BLOB, self._access.key),
        ):
            if content is not None:
                handle.setopt(option, content)
        return handle

    def _start(self, handle: pycurl.Curl, finish: Callable[[str], None]) -> None:
        self._running[handle] = finish
        self._multi.add_handle(handle)

    def _on_socket(self, event: int, socket: int, _multi: object, _data: object) -> None:
        self._loop.remove_reader(socket)
        self._loop.remove_writer(socket)
        if event in (pycurl.POLL_IN, pycurl.POLL_INOUT):
            self._loop.add_reader(socket, self._act, socket, pycurl.CSELECT_IN)
        if event in (pycurl.POLL_OUT, pycurl.POLL_INOUT):
            self._loop.add_writer(socket, self._act, socket, pycurl.CSELECT_OUT)

    def _on_timer(self, milliseconds: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if milliseconds >= 0:
            self._timer = self._loop.call_later(
                milliseconds / 1000, self._act, pycurl.SOCKET_TIMEOUT, 0
            )

    def _act(self, socket: int, what: int) -> None:
        self._multi.socket_action(socket, what)
        queued = 1
        while queued:
            queued, ended, failed = self._multi.info_read()
            for handle in ended:
                self._end(handle, "")
            for handle, _, why in failed:
                self._end(handle, why)

    def _end(self, handle: pycurl.Curl, fault: str) -> None:
        self._multi.remove_handle(handle)
        self._running.pop(handle)(fault)


def _settle(done: asyncio.Future[None], fault: str) -> None:
    if done.cancelled():
        return
    if fault:
        done.set_exception(OSError(fault))
    else:
        done.set_result(None)

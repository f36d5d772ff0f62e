"""A site that publishes files over HTTP on this machine, and fails as configured."""

import hashlib
import io
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mmap import mmap
from threading import Event, Thread

from tests.support.release_faults import fail

_MARKED = 1 << 16
"""Bytes at the beginning of a file that its tag stands for."""
_PIECE = 4096


@dataclass(slots=True)
class Request:
    """One request, as it came."""

    path: str
    range: str | None
    host: str


@dataclass(slots=True)
class ReleaseSite:
    """Files by path. `faults` are used up one a request: a status, `cut` after a part of
    what was to come, or a word of `release_faults`."""

    address: str
    files: dict[str, bytes | mmap] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    """The address where a file is, by its path."""
    cut_at: float = 0.5
    """The part after which `cut` ends the connection."""
    rate: int = 0
    """Bytes a second for each connection; 0 for as fast as it goes."""
    faults: dict[str, list[int | str]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    ranges: bool = True
    tagged: bool = True
    over: Event = field(default_factory=Event)
    """Set in the end: what stalls goes on."""

    def publish(self, path: str, content: bytes | mmap) -> str:
        """Publish a file with its checksum beside it, and return its address."""
        self.files[path] = content
        self.files[f"{path}.sha256"] = hashlib.sha256(content).hexdigest().encode()
        return f"{self.address}{path}"

    def asked(self, path: str) -> list[Request]:
        """Return the requests for a path."""
        return [request for request in self.requests if request.path == path]


def archived(**files: bytes | mmap) -> bytes:
    """Return an archive as projects release it, with the files in a folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"release/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@contextmanager
def release_site(handler: "type[SiteHandler] | None" = None) -> Iterator[ReleaseSite]:
    """Serve a site until the block ends, by a handler of one's own or the usual one."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler or SiteHandler)
    server.daemon_threads = True
    site = ReleaseSite(f"http://127.0.0.1:{server.server_port}")
    SiteHandler.sites[server.server_port] = site
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class SiteHandler(BaseHTTPRequestHandler):
    """Answers the requests for a site."""

    sites: dict[int, ReleaseSite] = {}  # noqa: RUF012 - shared on purpose, by port
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        pass

    @property
    def site(self) -> ReleaseSite:
        """The site whose port was dialled."""
        assert isinstance(self.server, ThreadingHTTPServer)
        return self.sites[self.server.server_port]

    def asked_for(self) -> str:
        """Return the path of the file that is asked for; a proxy is asked for an address."""
        return self.path.removeprefix("http://" + self.headers["Host"])

    def do_GET(self) -> None:
        site, path = self.site, self.asked_for()
        site.requests.append(Request(path, self.headers["Range"], self.headers["Host"]))
        fault = next(iter(site.faults.get(path, [])), None)
        if fault is not None:
            site.faults[path].pop(0)
        if elsewhere := site.redirects.get(path):
            self._lead(elsewhere)
            return
        content = site.files.get(path)
        if content is None or isinstance(fault, int):
            self._refuse(fault if isinstance(fault, int) else 404)
            return
        if fault and fault != "cut":
            self.close_connection = True
            fail(fault, self, bytes(content), site.over)
            return
        self._send(site, content, cut=fault == "cut")

    def _refuse(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _lead(self, elsewhere: str) -> None:
        self.send_response(302)
        self.send_header("Location", elsewhere)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, site: ReleaseSite, content: bytes | mmap, *, cut: bool) -> None:
        size = len(content)
        tag = f'"{hashlib.sha256(content[:_MARKED]).hexdigest()[:8]}"'
        first = self._first(site, tag)
        if first is not None and first >= size:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200 if first is None else 206)
        if first is not None:
            self.send_header("Content-Range", f"bytes {first}-{size - 1}/{size}")
        if site.tagged:
            self.send_header("ETag", tag)
        start = first or 0
        self.send_header("Content-Length", str(size - start))
        self.end_headers()
        end = start + int((size - start) * site.cut_at) if cut else size
        self._write(site, memoryview(content)[start:end])
        self.close_connection = cut

    def _write(self, site: ReleaseSite, content: memoryview) -> None:
        """Send as fast as the site does."""
        if not site.rate:
            self.wfile.write(content)
            return
        began = time.monotonic()
        for start in range(0, len(content), _PIECE):
            site.over.wait(max(0.0, began + start / site.rate - time.monotonic()))
            self.wfile.write(content[start : start + _PIECE])

    def _first(self, site: ReleaseSite, tag: str) -> int | None:
        wanted = self.headers["Range"]
        if not (wanted and site.ranges and self.headers["If-Range"] in (None, tag)):
            return None
        return int(wanted.removeprefix("bytes=").removesuffix("-"))

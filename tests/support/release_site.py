"""A site that publishes files over HTTP on this machine, and fails as configured."""

import hashlib
import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

from tests.support.release_faults import fail


@dataclass(slots=True)
class Request:
    """One request, as it came."""

    path: str
    range: str | None
    host: str


@dataclass(slots=True)
class ReleaseSite:
    """Files by path. `faults` are used up one a request: a status, `cut` after half
    the bytes, or a word of `release_faults`."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[int | str]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    ranges: bool = True
    tagged: bool = True
    over: Event = field(default_factory=Event)
    """Set in the end: what stalls goes on."""

    def publish(self, path: str, content: bytes) -> str:
        """Publish a file with its checksum beside it, and return its address."""
        self.files[path] = content
        self.files[f"{path}.sha256"] = hashlib.sha256(content).hexdigest().encode()
        return f"{self.address}{path}"

    def asked(self, path: str) -> list[Request]:
        """Return the requests for a path."""
        return [request for request in self.requests if request.path == path]


def archived(**files: bytes) -> bytes:
    """Return an archive as projects release it, with the files in a folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"release/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@contextmanager
def release_site() -> Iterator[ReleaseSite]:
    """Serve a site until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    site = ReleaseSite(f"http://127.0.0.1:{server.server_port}")
    _Handler.sites[server.server_port] = site
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    sites: dict[int, ReleaseSite] = {}  # noqa: RUF012 - shared on purpose, by port
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        pass

    def do_GET(self) -> None:
        assert isinstance(self.server, ThreadingHTTPServer)
        site = self.sites[self.server.server_port]
        path = self.path.removeprefix("http://" + self.headers["Host"])
        site.requests.append(Request(path, self.headers["Range"], self.headers["Host"]))
        fault = next(iter(site.faults.get(path, [])), None)
        if fault is not None:
            site.faults[path].pop(0)
        content = site.files.get(path)
        if content is None or isinstance(fault, int):
            self._refuse(fault if isinstance(fault, int) else 404)
            return
        if fault and fault != "cut":
            self.close_connection = True
            fail(fault, self, content, site.over)
            return
        self._send(site, content, cut=fault == "cut")

    def _refuse(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, site: ReleaseSite, content: bytes, *, cut: bool) -> None:
        tag = f'"{hashlib.sha256(content).hexdigest()[:8]}"'
        first = self._first(site, tag)
        if first is not None and first >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200 if first is None else 206)
        rest = content[first or 0 :]
        if first is not None:
            span = f"bytes {first}-{len(content) - 1}/{len(content)}"
            self.send_header("Content-Range", span)
        if site.tagged:
            self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: len(rest) // 2] if cut else rest)
        self.close_connection = cut

    def _first(self, site: ReleaseSite, tag: str) -> int | None:
        wanted = self.headers["Range"]
        if not (wanted and site.ranges and self.headers["If-Range"] in (None, tag)):
            return None
        return int(wanted.removeprefix("bytes=").removesuffix("-"))

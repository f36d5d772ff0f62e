"""A container engine with configured answers, on a unix socket."""

import json
import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

Answer = tuple[int, Any]
_API = "1.41"
_VERSION = {"ApiVersion": _API, "Version": "20.10"}


def framed(*parts: bytes) -> bytes:
    """Return what an engine sends of a command that writes these parts to its standard output."""
    return b"".join(struct.pack(">BxxxL", 1, len(part)) + part for part in parts)


class FakeEngine(socketserver.ThreadingUnixStreamServer):
    """Answers each `METHOD /path` with a status and a body, and notes what was asked.

    A body of bytes is sent as it is, any other as JSON. `first` has answers that are given before.
    """

    daemon_threads = True

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), _Handler)
        self.url = f"unix://{path}"
        self.is_podman = False
        self.pings_with_version = True
        self.asked: list[str] = []
        self.first: dict[str, list[Answer]] = {}
        self.answers: dict[str, Answer] = {
            "GET /_ping": (200, b"OK"),
            "GET /version": (200, _VERSION),
            "GET /info": (200, {}),
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is sent in one piece, as an engine's arrives at a client that is slow.
    wbufsize = -1

    def _answer(self) -> None:
        self._take_body()
        engine = self.server
        assert isinstance(engine, FakeEngine)
        path = self.path.partition("?")[0].removeprefix(f"/v{_API}")
        asked = f"{self.command} {path}"
        engine.asked.append(asked)
        status, body = engine.answers.get(asked, (404, {"message": f"no answer to {asked}"}))
        if before := engine.first.get(asked):
            status, body = before.pop(0)
        # Whatever follows the headers of a 204 would be read as the next answer.
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        content = b"" if status == HTTPStatus.NO_CONTENT else sent
        self.send_response(status)
        if engine.pings_with_version:
            self.send_header("Api-Version", _API)
        if engine.is_podman:
            self.send_header("Libpod-API-Version", "4.3.1")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        # What a command writes ends with the connection.
        self.close_connection = self.close_connection or isinstance(body, bytes)

    def _take_body(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
            self.rfile.readline()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def address_string(self) -> str:
        return "a unix socket"

    def log_message(self, *words: object) -> None:
        pass


@contextmanager
def fake_engine(folder: Path) -> Iterator[FakeEngine]:
    """Serve a fake engine on a socket in a folder, whose path must be short."""
    with FakeEngine(folder / "e.sock") as engine:
        thread = threading.Thread(target=engine.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield engine
        finally:
            engine.shutdown()
            thread.join()

"""A registry of container images on the loopback address, from which an engine can pull."""

import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_TYPES = "application/vnd.docker"
_MANIFEST = f"{_TYPES}.distribution.manifest.v2+json"


class Registry(ThreadingHTTPServer):
    """Serves what is published in it (https://distribution.github.io/distribution/spec/api/)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.host = f"127.0.0.1:{self.server_port}"
        self.asked: list[str] = []
        self.found: dict[str, tuple[str, bytes]] = {}
        """Media type and content, by path."""

    def publish(
        self,
        name: str,
        tag: str,
        file: Path,
        *,
        architecture: str = "amd64",
        folder: str = "usr/local/bin",
    ) -> str:
        """Publish an image that holds a file, a program where such images have it; return its name."""
        repository = f"{self.host}/{name}:{tag}"
        layer = _layer(f"{folder}/{file.name}", file.read_bytes())
        config = _text(
            {
                "architecture": architecture,
                "os": "linux",
                "config": {},
                "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
            }
        )
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": self._blob(name, f"{_TYPES}.container.image.v1+json", config),
            "layers": [self._blob(name, f"{_TYPES}.image.rootfs.diff.tar.gzip", layer)],
        }
        for reference in (tag, _digest(_text(manifest))):
            self.found[f"/v2/{name}/manifests/{reference}"] = (_MANIFEST, _text(manifest))
        return repository

    def digest(self, name: str, tag: str) -> str:
        """Return the digest of an image that was published."""
        return _digest(self.found[f"/v2/{name}/manifests/{tag}"][1])

    def _blob(self, name: str, kind: str, content: bytes) -> dict[str, Any]:
        digest = _digest(content)
        self.found[f"/v2/{name}/blobs/{digest}"] = ("application/octet-stream", content)
        return {"mediaType": kind, "size": len(content), "digest": digest}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        registry = self.server
        assert isinstance(registry, Registry)
        registry.asked.append(self.path)
        status, kind, content = 200, "application/json", b"{}"
        if self.path != "/v2/":
            if self.path in registry.found:
                kind, content = registry.found[self.path]
            else:
                error = {"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}
                status, content = 404, _text({"errors": [error]})
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Docker-Content-Digest", _digest(content))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815 - the name that the server looks for

    def log_message(self, *words: object) -> None:
        pass


def _layer(path: str, content: bytes) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        head = tarfile.TarInfo(path)
        head.size, head.mode = len(content), 0o755
        tar.addfile(head, io.BytesIO(content))
    return written.getvalue()


def _text(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@contextmanager
def registry() -> Iterator[Registry]:
    """Serve an empty registry; connections that are open when it ends are cut."""
    with Registry() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

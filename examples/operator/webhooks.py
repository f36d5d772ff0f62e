"""The operator's webhooks: a default for a Shelf, a bound for its books, and a conversion from and to its former version."""

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

USUAL, MOST = 3, 100


def default(request: Any) -> dict[str, Any]:
    if "books" in (request["object"].get("spec") or {}):
        return {"allowed": True}
    patch = [{"op": "add", "path": "/spec", "value": {"books": USUAL}}]
    encoded = base64.b64encode(json.dumps(patch).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


def check(request: Any) -> dict[str, Any]:
    books = request["object"]["spec"]["books"]
    refusal = {"message": f"{books} books do not fit on a shelf: {MOST} do"}
    return {"allowed": True} if books <= MOST else {"allowed": False, "status": refusal}


def convert(request: Any) -> dict[str, Any]:
    wanted = request["desiredAPIVersion"]
    converted = [_in_version(each, wanted) for each in request["objects"]]
    return {"result": {"status": "Success"}, "convertedObjects": converted}


def _in_version(shelf: Any, wanted: str) -> dict[str, Any]:
    spec = shelf.get("spec") or {}
    number = next(iter(spec.values()), None)
    name = "count" if wanted.endswith("v1beta1") else "books"
    return {**shelf, "apiVersion": wanted, "spec": {} if number is None else {name: number}}


_ANSWERS = {"/default": default, "/check": check, "/convert": convert}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = review["request"]
        answer = _ANSWERS[self.path.partition("?")[0]](request)
        head = {"apiVersion": review["apiVersion"], "kind": review["kind"]}
        body = json.dumps({**head, "response": {"uid": request["uid"], **answer}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(host: str, port: int, folder: Path) -> Iterator[None]:
    """Serve them in a thread, with the certificate in a folder."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    with ThreadingHTTPServer((host, port), _Handler) as server:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield
        server.shutdown()
        thread.join()

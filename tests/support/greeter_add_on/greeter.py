#!/usr/bin/env python3
"""A controller of an add-on, as small as can be: reads its greetings, and refuses config maps."""

import http.server
import json
import ssl
import sys
import threading
from pathlib import Path
from typing import Any

FLAGS = dict(word.removeprefix("--").split("=", 1) for word in sys.argv[1:])


class Health(http.server.BaseHTTPRequestHandler):
    """Answers with the greeting."""

    def do_GET(self) -> None:
        answer(self, Path(FLAGS["greeting"]).read_bytes())


class Webhook(http.server.BaseHTTPRequestHandler):
    """Refuses what it is asked about."""

    def do_POST(self) -> None:
        review: Any = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        response = {
            "uid": review["request"]["uid"],
            "allowed": False,
            "status": {"message": "no greeting"},
        }
        body = {"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}
        answer(self, json.dumps(body).encode())


def answer(request: http.server.BaseHTTPRequestHandler, body: bytes) -> None:
    """Send a body."""
    request.send_response(200)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def main() -> None:
    """Serve both ports."""
    at = FLAGS["bind"]
    webhooks = http.server.ThreadingHTTPServer((at, int(FLAGS["hook"])), Webhook)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    folder = Path(FLAGS["certs"])
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    webhooks.socket = context.wrap_socket(webhooks.socket, server_side=True)
    threading.Thread(target=webhooks.serve_forever, daemon=True).start()
    http.server.ThreadingHTTPServer((at, int(FLAGS["port"])), Health).serve_forever()


if __name__ == "__main__":
    main()

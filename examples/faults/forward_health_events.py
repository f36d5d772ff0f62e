#!/usr/bin/env python3
"""Receive the signals of faults from `kwokctl fault log --follow --sink`, and forward each as a health event of NVSentinel.

    ./forward_health_events.py --listen 8080 [--forward http://127.0.0.1:9090/v1/health-events]
    kwokctl fault log --follow --sink http://127.0.0.1:8080/

Platform connectors of NVSentinel take `HealthEvents` over gRPC on a socket of the node. This program writes the same message as JSON,
as protobuf maps it, to standard output, or posts it to a gateway that speaks gRPC. Python's standard library is all that it needs.
"""

import argparse
import json
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def health_event(signal):
    """Return the health event of a signal; None for what no health monitor would report."""
    if not signal["check"]:
        return None
    is_healthy = signal["phase"] == "cleared"
    impacted = {"GPU": signal["gpu"], "PCI": signal["pci"], "GPU_UUID": signal["uuid"]}
    return {
        "version": 1,
        "agent": f"kwokctl-{signal['dialect']}",
        "componentClass": "NODE" if signal["gpu"] is None else "GPU",
        "checkName": signal["check"],
        "isFatal": signal["fatal"] and not is_healthy,
        "isHealthy": is_healthy,
        "message": "No Health Failures" if is_healthy else signal["message"] or signal["signal"],
        "recommendedAction": "NONE" if is_healthy else signal["action"] or "UNKNOWN",
        "errorCode": [] if signal["xid"] is None or is_healthy else [str(signal["xid"])],
        "entitiesImpacted": [
            {"entityType": kind, "entityValue": str(value)}
            for kind, value in impacted.items()
            if value not in (None, "")
        ],
        "metadata": {"fault": signal["fault"], "class": signal["class"], "signal": signal["id"]},
        "generatedTimestamp": signal["time"],
        "nodeName": signal["node"],
    }


def forward(event, to):
    """Post an event, or print it; an error of the gateway is raised, so that kwokctl sends the signal again."""
    body = json.dumps({"version": 1, "events": [event]})
    if not to:
        print(body, flush=True)
        return
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(to, body.encode(), headers, method="POST")
    urllib.request.urlopen(request, timeout=10).close()


class Receiver(BaseHTTPRequestHandler):
    """Answers a signal once it is forwarded."""

    protocol_version = "HTTP/1.1"
    to = ""

    def do_POST(self):
        signal = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            if (event := health_event(signal)) is not None:
                forward(event, self.to)
            self.answer(204)
        except OSError as e:
            self.answer(502, str(e).encode())

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Log no requests."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--listen", type=int, required=True, metavar="PORT")
    parser.add_argument("--forward", default="", metavar="URL")
    words = parser.parse_args()
    Receiver.to = words.forward
    ThreadingHTTPServer(("127.0.0.1", words.listen), Receiver).serve_forever()

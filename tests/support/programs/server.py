"""Replaces a component: serves HTTP, logs, and ends as its arguments say.

    server.py PORT [--bind ADDRESS] [--deaf] [--eat MEBIBYTES] [--say TEXT] [--socket NAME]

`--deaf` ignores SIGTERM, as a component that hangs does. `--eat` takes memory before anything is served.
`--socket` listens at a unix socket in the folder that it works in, too, as etcd does, or ends where it
may not.
"""

import argparse
import os
import signal
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/die":
            sys.stderr.write("fatal: told to die\n")
            sys.stderr.flush()
            # Not by a signal: the first process of a container would not die of its own.
            os._exit(9)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *words: object) -> None:
        sys.stderr.write(f"served {self.path}\n")
        sys.stderr.flush()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--bind", default="127.0.0.1")
    parser.add_argument("--deaf", action="store_true")
    parser.add_argument("--say", default="hello")
    parser.add_argument("--socket", default="")
    parser.add_argument("--eat", type=int, default=0)
    words = parser.parse_args()
    eaten = bytearray(words.eat << 20)
    eaten[::4096] = b"x" * len(eaten[::4096])
    if words.deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    beside = socket.socket(socket.AF_UNIX)
    if words.socket:
        beside.bind(words.socket)
        beside.listen()
    server = HTTPServer((words.bind, words.port), Handler)
    if not words.deaf:
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    sys.stderr.write(f"{words.say}\n")
    sys.stderr.flush()
    server.serve_forever()
    sys.stderr.write("bye\n")


if __name__ == "__main__":
    main()

"""A port of this machine behind which a unix socket is served, as an engine in a virtual machine is."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def relay(path: str) -> Iterator[int]:
    """Yield a port whose connections lead to the socket at `path`."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as target:
                target.connect(path)
                back = threading.Thread(target=_pass_on, args=(target, self.request))
                back.start()
                _pass_on(self.request, target)
                back.join()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(65536):
            sink.sendall(part)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)

"""An etcd that answers over gRPC, as far as snapshots and reading go."""

import hashlib
import struct
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from kwokctl.etcd import shim


def bolt_database(pages: int = 4) -> bytes:
    """Return what passes for a database: a meta page, and pages of something."""
    meta = bytes(16) + struct.pack("<I", 0xED0CDAED)
    body = b"".join(bytes([n % 256]) * 4096 for n in range(pages))
    return (meta + body)[: 4096 * pages]


def snapshot_of(database: bytes) -> bytes:
    """Return a snapshot file: the database, then its sum."""
    return database + hashlib.sha256(database).digest()


class FakeEtcd:
    """A member with a snapshot to send."""

    def __init__(self) -> None:
        self.parts: Sequence[bytes] = [snapshot_of(bolt_database())]
        self.breaks = False
        """Whether a snapshot ends with an error after its parts."""
        self.stalls = False
        """Whether a snapshot never ends after its parts."""
        self.left = threading.Event()
        """Set when the reader of a stalled snapshot has disconnected."""

    def status(self, request: Any, context: grpc.ServicerContext) -> Any:
        rpc = shim.load().etcdrpc
        return rpc.StatusResponse(
            version="3.6.0", dbSize=4096, leader=7, header=rpc.ResponseHeader(revision=42)
        )

    def snapshot(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        # Before the first part: gRPC does not go on with this for a reader that has disconnected meanwhile.
        if self.stalls and not context.add_callback(self.left.set):
            self.left.set()
        for part in self.parts:
            yield shim.load().etcdrpc.SnapshotResponse(blob=part)
        if self.breaks:
            context.abort(grpc.StatusCode.DATA_LOSS, "the disk is gone")
        if self.stalls:
            self.left.wait()


@contextmanager
def serving(etcd: FakeEtcd, socket: Path) -> Iterator[str]:
    """Run a server at a unix socket; yield its target."""
    rpc = shim.load().etcdrpc
    threads = ThreadPoolExecutor(max_workers=4)
    server = grpc.server(threads)
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(
                "etcdserverpb.Maintenance",
                {
                    "Status": grpc.unary_unary_rpc_method_handler(
                        etcd.status,
                        rpc.StatusRequest.FromString,
                        rpc.StatusResponse.SerializeToString,
                    ),
                    "Snapshot": grpc.unary_stream_rpc_method_handler(
                        etcd.snapshot,
                        rpc.SnapshotRequest.FromString,
                        rpc.SnapshotResponse.SerializeToString,
                    ),
                },
            ),
        )
    )
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    try:
        yield f"unix:{socket}"
    finally:
        etcd.left.set()
        server.stop(None).wait()
        threads.shutdown()

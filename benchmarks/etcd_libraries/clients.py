"""The clients that are compared. Each is imported only by the process that measures it."""

from typing import Protocol

from benchmarks.etcd_libraries.transport import transport
from kwokctl.etcd.kv.kv import KeyPage, Kv, Txn, TxnAnswer

OURS, PROTOBUF = "ours", "grpc.aio and protobuf"
CLIENTS = (OURS, "h2", "grpc.aio", "grpc futures", PROTOBUF)


class Store(Protocol):
    """What the product asks of etcd."""

    async def txn(self, txn: Txn) -> TxnAnswer: ...

    async def page(self, start: bytes, end: bytes, *, limit: int = 0) -> KeyPage: ...

    async def close(self) -> None: ...


def client(name: str, target: str) -> Store:
    """Return a client; all but the last have our encoding of messages, over another transport."""
    if name == PROTOBUF:
        from benchmarks.etcd_libraries.protobuf_store import (  # see above
            ProtobufStore,
        )

        return ProtobufStore(target)
    kv = Kv(target)
    if name != OURS:
        kv.channel = transport(name, target)  # type: ignore[assignment]  # it has what Kv uses
    return kv

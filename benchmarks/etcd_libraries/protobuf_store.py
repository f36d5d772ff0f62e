"""grpcio as its users know it: generated stubs, and messages of the protobuf runtime."""

from typing import Any

import grpc

from benchmarks.etcd_libraries.grpcio_transport import OPTIONS
from kwokctl.etcd import shim
from kwokctl.etcd.kv.kv import Compare, KeyPage, KeyValue, Operation, Put, Txn, TxnAnswer


class ProtobufStore:
    """`grpc.aio` with the stubs of the etcd3 package."""

    def __init__(self, target: str) -> None:
        self._rpc = shim.load().etcdrpc
        self._channel = grpc.aio.insecure_channel(target, options=OPTIONS)
        self._stub = self._rpc.KVStub(self._channel)

    async def txn(self, txn: Txn) -> TxnAnswer:
        request = self._rpc.TxnRequest(
            compare=[self._compare(each) for each in txn.compares],
            success=[self._put(each) for each in txn.then],
        )
        answer = await self._stub.Txn(request, timeout=30)
        return TxnAnswer(answer.succeeded, answer.header.revision, ())

    async def page(self, start: bytes, end: bytes, *, limit: int = 0) -> KeyPage:
        request = self._rpc.RangeRequest(key=start, range_end=end, limit=limit)
        answer = await self._stub.Range(request, timeout=30)
        items = [KeyValue(each.key, each.value, each.mod_revision) for each in answer.kvs]
        return KeyPage(items, answer.more, answer.header.revision)

    async def close(self) -> None:
        await self._channel.close()

    def _compare(self, compare: Compare) -> Any:
        kinds = self._rpc.Compare
        if compare.of_creation:
            return kinds(target=kinds.CREATE, key=compare.key, create_revision=compare.revision)
        return kinds(target=kinds.MOD, key=compare.key, mod_revision=compare.revision)

    def _put(self, operation: Operation) -> Any:
        assert isinstance(operation, Put)
        put = self._rpc.PutRequest(key=operation.key, value=operation.value)
        return self._rpc.RequestOp(request_put=put)

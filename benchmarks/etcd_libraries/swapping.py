"""Puts another transport in the place of our Channel, with the errors that callers go by."""

import os
from types import ModuleType

import grpc

from benchmarks.etcd_libraries.transport import Transport, transport
from benchmarks.swap import LIBRARY
from kwokctl.etcd.grpc.call_errors import gone, refused
from kwokctl.etcd.grpc.dial_etcd import EtcdAddress


class SwappedChannel:
    """A Channel over the transport that the environment names."""

    def __init__(self, address: EtcdAddress) -> None:
        self._target = address.target
        self._transport: Transport | None = None

    async def call(self, path: str, message: bytes, *, within: float) -> bytes:
        if self._transport is None:
            self._transport = transport(os.environ[LIBRARY], self._target)
        try:
            return await self._transport.call(path, message, within=within)
        except grpc.RpcError as e:
            code = e.code()
            if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise gone(self._target, e.details()) from e
            raise refused(code.value[0], e.details()) from e

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.close()


def change(module: ModuleType) -> None:
    vars(module)["Channel"] = SwappedChannel

"""grpcio as a transport: it carries bytes, and knows nothing of etcd's messages."""

import asyncio
from typing import Any

import grpc

OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0)]


class AioTransport:
    """`grpc.aio`, grpcio's own binding to asyncio."""

    def __init__(self, target: str) -> None:
        self._channel = grpc.aio.insecure_channel(target, options=OPTIONS)
        self._methods: dict[str, Any] = {}

    async def call(self, path: str, message: bytes, *, within: float) -> bytes:
        method = self._methods.get(path)
        if method is None:
            method = self._methods[path] = self._channel.unary_unary(path)
        answer: bytes = await method(message, timeout=within)
        return answer

    async def close(self) -> None:
        await self._channel.close()


class FutureTransport:
    """grpcio's futures, whose callbacks come in a thread of grpcio and are passed to the event loop."""

    def __init__(self, target: str) -> None:
        self._channel = grpc.insecure_channel(target, options=OPTIONS)
        self._methods: dict[str, Any] = {}

    async def call(self, path: str, message: bytes, *, within: float) -> bytes:
        method = self._methods.get(path)
        if method is None:
            method = self._methods[path] = self._channel.unary_unary(path)
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bytes] = loop.create_future()
        method.future(message, timeout=within).add_done_callback(
            lambda call: loop.call_soon_threadsafe(_hand_over, call, waiter)
        )
        return await waiter

    async def close(self) -> None:
        self._channel.close()


def _hand_over(call: Any, waiter: asyncio.Future[bytes]) -> None:
    if waiter.cancelled():
        return
    if error := call.exception():
        waiter.set_exception(error)
    else:
        waiter.set_result(call.result())

"""gRPC calls to one etcd, over one connection at a time that is dialled when it is needed."""

import asyncio
from collections.abc import AsyncGenerator

from kwokctl.errors import EtcdGoneError, UnavailableError
from kwokctl.etcd.grpc.call import Opening, RpcCall, StreamCall
from kwokctl.etcd.grpc.call_errors import NotProcessedError, gone, unreachable
from kwokctl.etcd.grpc.dial_etcd import EtcdAddress, dial
from kwokctl.etcd.grpc.grpc_connection import GrpcConnection

_PAUSE = 0.05
"""Seconds from one attempt to dial to the next."""
_TRIES = 5
"""The most sends of a call that the server has refused without processing it."""


class Channel:
    """Calls methods of one etcd. Use it within one event loop."""

    def __init__(self, address: EtcdAddress) -> None:
        """Dial nothing yet."""
        self._address = address
        self._openings: dict[str, Opening] = {}
        self._connection: GrpcConnection | None = None
        self._retired: set[GrpcConnection] = set()
        self._dialling = asyncio.Lock()
        self._dialled_at = float("-inf")
        self._attempts = 0
        self._failure: EtcdGoneError | UnavailableError | None = None
        self._is_closed = False
        self._token = ""

    def authorize(self, token: str) -> None:
        """Make all later calls as the user to whom etcd has given this token."""
        self._token = token
        self._openings.clear()

    async def call(self, path: str, message: bytes, *, within: float) -> bytes:
        """Call a method, such as `/etcdserverpb.KV/Txn`, and return the message it answers with.

        Raises EtcdRefusedError when etcd refuses; EtcdGoneError when it is not there or does not
        answer `within` seconds; UnavailableError for certificates that cannot be used. When the
        caller is cancelled, the call is cancelled at etcd, too.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        opening = self._openings.get(path)
        if opening is None:
            opening = self._learn(path)
        for _ in range(_TRIES):
            connection = self._connection
            if connection is None or not connection.is_usable:
                connection = await self._connected(deadline)
            call = RpcCall(opening, message, deadline, loop.create_future())
            connection.start(call)
            try:
                return await call.answer
            except NotProcessedError:
                continue
            except asyncio.CancelledError:
                connection.cancel(call)
                raise
        raise unreachable(self._address.target, "it takes no more calls")

    async def stream(
        self, path: str, message: bytes, *, within: float
    ) -> AsyncGenerator[bytes, None]:
        """Call a method that answers with any number of messages, and yield each of them.

        Raises what `call` does; `within` bounds the time until a connection is there. Close it, by
        `contextlib.aclosing`, to cancel the call at etcd.
        """
        loop = asyncio.get_running_loop()
        opening = self._openings.get(path) or self._learn(path)
        for _ in range(_TRIES):
            connection = self._connection
            if connection is None or not connection.is_usable:
                connection = await self._connected(loop.time() + within)
            call = StreamCall(opening, message, loop.create_future())
            connection.start(call)
            try:
                while (found := await call.next()) is not None:
                    yield found
            except NotProcessedError:
                continue
            finally:
                connection.cancel(call)
            return
        raise unreachable(self._address.target, "it takes no more calls")

    async def close(self) -> None:
        """Close the connection; calls under way fail."""
        self._is_closed = True
        self._retire()
        closing, self._retired = self._retired, set()
        for connection in closing:
            connection.close()
        for connection in closing:
            await connection.lost.wait()

    def _learn(self, path: str) -> Opening:
        opening = self._openings[path] = Opening(
            path,
            self._address.authority,
            is_secure=self._address.is_secure,
            token=self._token,
        )
        return opening

    async def _connected(self, deadline: float) -> GrpcConnection:
        """Return a connection that takes calls; concurrent callers share one attempt to dial."""
        attempts = self._attempts
        try:
            async with asyncio.timeout_at(deadline), self._dialling:
                if self._connection is not None and self._connection.is_usable:
                    return self._connection
                if self._failure is not None and self._attempts != attempts:
                    raise type(self._failure)(str(self._failure), hint=self._failure.hint)
                return await self._dial()
        except TimeoutError:
            raise unreachable(self._address.target, "it does not answer") from None

    async def _dial(self) -> GrpcConnection:
        self._check_open()
        loop = asyncio.get_running_loop()
        pause = self._dialled_at + _PAUSE - loop.time()
        if pause > 0:
            await asyncio.sleep(pause)
        self._retire()
        self._dialled_at = loop.time()
        self._failure = None
        try:
            connection = await dial(self._address)
        except (EtcdGoneError, UnavailableError) as e:
            self._failure = e
            self._attempts += 1
            raise
        try:
            self._check_open()
        except EtcdGoneError:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _check_open(self) -> None:
        if self._is_closed:
            raise gone(self._address.target, "it was closed on our side")

    def _retire(self) -> None:
        """Retire a connection that takes no more calls: it closes when its calls have ended."""
        if self._connection is not None:
            self._retired.add(self._connection)
            self._connection = None
        self._retired = {c for c in self._retired if not c.lost.is_set()}

"""Talks to etcd. The etcd3 package is synchronous: it stays in threads, behind coroutines."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kwokctl.errors import UnavailableError
from kwokctl.etcd import shim

_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    # A socket on this host: no proxy of the environment has anything to do with it.
    ("grpc.enable_http_proxy", 0),
]
_CALL_TIMEOUT = 30.0
_STREAM_TIMEOUT = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What an etcd member says of itself."""

    version: str
    revision: int
    """The store's revision: that of the last write."""
    db_size: int
    """Bytes of the database file."""


class EtcdClient:
    """One etcd member, dialled at a unix socket: its API server and we share it."""

    def __init__(self, target: str) -> None:
        """Dial `target`, such as `unix:/…/etcd.sock`, when it is first asked."""
        scheme, _, address = target.partition(":")
        self._host, self._port = scheme, address
        self._target = target
        self._opened: Any = None

    async def status(self) -> Status:
        """Ask for version, revision and size; waits until etcd answers, half a minute at most."""
        return await asyncio.to_thread(self._status)

    async def snapshot(self, take: Callable[[bytes], None]) -> None:
        """Stream a snapshot; `take` gets each part, in a thread."""
        await asyncio.to_thread(self._snapshot, take)

    async def close(self) -> None:
        """Let the connection go."""
        if self._opened is not None:
            await asyncio.to_thread(self._opened.close)

    def _client(self) -> Any:
        if self._opened is None:
            etcd3 = shim.load()
            self._opened = etcd3.client(
                host=self._host, port=self._port, timeout=_STREAM_TIMEOUT, grpc_options=_OPTIONS
            )
        return self._opened

    def _status(self) -> Status:
        request = shim.load().etcdrpc.StatusRequest()
        with _named(self._target):
            answer = self._client().maintenancestub.Status(
                request, _CALL_TIMEOUT, wait_for_ready=True
            )
        return Status(
            version=answer.version, revision=answer.header.revision, db_size=answer.dbSize
        )

    def _snapshot(self, take: Callable[[bytes], None]) -> None:
        request = shim.load().etcdrpc.SnapshotRequest()
        with _named(self._target):
            for part in self._client().maintenancestub.Snapshot(request, _STREAM_TIMEOUT):
                take(part.blob)


@contextmanager
def _named(target: str) -> Iterator[None]:
    """Turn gRPC's errors into ours."""
    import grpc  # noqa: PLC0415 - a fifth of a second, only for those who talk to etcd

    try:
        yield
    except grpc.RpcError as e:
        raise UnavailableError(f"etcd at {target} does not answer: {e.details()}") from e

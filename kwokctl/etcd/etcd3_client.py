"""Calls etcd through the etcd3 package, which is synchronous and so runs in threads."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from kwokctl.errors import UnavailableError
from kwokctl.etcd import shim
from kwokctl.etcd.kv.maintenance import MemberStatus, read_status

T = TypeVar("T")

_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    # A socket on this host: no proxy of the environment has anything to do with it.
    ("grpc.enable_http_proxy", 0),
    # Two clients in one process, of two clusters say, share nothing.
    ("grpc.use_local_subchannel_pool", 1),
    # An etcd that is just starting is there in a tenth of a second: look often.
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 250),
]
_CALL_TIMEOUT = 30.0
_STREAM_TIMEOUT = 3600.0


class EtcdClient:
    """One etcd member. What is cancelled ends at once, in its thread too."""

    def __init__(
        self,
        target: str,
        *,
        ca: Path | None = None,
        cert: Path | None = None,
        key: Path | None = None,
    ) -> None:
        """Dial `unix:/…/etcd.sock` or `host:port` when it is first asked, with TLS if `ca` is given.

        Without a `ca` the connection is plain. `cert` and `key` are the client certificate.
        """
        self._target = target
        self._files = {"ca_cert": ca, "cert_cert": cert, "cert_key": key}
        self._opened: Any = None

    async def status(self) -> MemberStatus:
        """Ask for version, revision and size; waits until etcd answers, half a minute at most."""
        client = await self._client()
        answer = await self._call(
            client.maintenancestub.Status, shim.load().etcdrpc.StatusRequest()
        )
        # The library's descriptions are older than etcd; fields that they do not name are decoded nevertheless.
        return read_status(answer.SerializeToString())

    async def snapshot(self, take: Callable[[bytes], None]) -> None:
        """Stream a snapshot; `take` gets each part, in a thread, and is waited for by etcd."""
        client = await self._client()
        request = shim.load().etcdrpc.SnapshotRequest()
        parts = client.maintenancestub.Snapshot(request, _STREAM_TIMEOUT)

        def drain() -> None:
            for part in parts:
                take(part.blob)

        await self._in_thread(parts, drain)

    async def close(self) -> None:
        """Close the connection."""
        if self._opened is not None:
            await asyncio.to_thread(self._opened.close)
            self._opened = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _client(self) -> Any:
        if self._opened is None:
            self._opened = await asyncio.to_thread(self._open)
        return self._opened

    def _open(self) -> Any:
        # The library logs as errors what we raise as exceptions.
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")
        host, _, port = self._target.partition(":")
        if host != "unix":
            host, _, port = self._target.rpartition(":")
        files = {name: str(path) for name, path in self._files.items() if path is not None}
        try:
            return shim.load().client(host=host, port=port, grpc_options=_OPTIONS, **files)
        except OSError as e:
            why = f"'{e.filename}': {e.strerror}"
            raise UnavailableError(f"etcd's certificates cannot be read: {why}") from e

    async def _call(self, method: Any, request: object) -> Any:
        call = method.future(request, _CALL_TIMEOUT, wait_for_ready=True)
        return await self._in_thread(call, call.result)

    async def _in_thread(self, call: Any, work: Callable[[], T]) -> T:
        """Wait for `work` in a thread; when cancelled, cancel the gRPC call that it waits for."""
        import grpc  # takes a fifth of a second, which only commands that use etcd need

        running = asyncio.get_running_loop().run_in_executor(None, work)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            call.cancel()
            with suppress(Exception):
                await running
            raise
        except grpc.RpcError as e:
            why = e.details() if isinstance(e, grpc.Call) else str(e)
            raise UnavailableError(f"etcd at '{self._target}' does not answer: {why}") from e
        finally:
            call.cancel()

"""Client of etcd's key-value service, fast enough to write thousands of keys per second."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Self

from kwokctl.etcd.grpc.channel import Channel
from kwokctl.etcd.grpc.dial_etcd import EtcdAddress
from kwokctl.etcd.kv import answer_decoding, request_encoding
from kwokctl.etcd.kv.operations import (
    Answer,
    Compare,
    Delete,
    Get,
    KeyChange,
    KeyPage,
    KeyValue,
    Operation,
    Put,
    Txn,  # noqa: TID251 - the client, which sends transactions
    TxnAnswer,
)
from kwokctl.etcd.kv.watching import followed

__all__ = [
    "Answer",
    "Compare",
    "Delete",
    "Get",
    "KeyChange",
    "KeyPage",
    "KeyValue",
    "Kv",
    "Operation",
    "Put",
    "Txn",
    "TxnAnswer",
    "prefix_end",
]  # fmt: skip

_RANGE = "/etcdserverpb.KV/Range"
_DELETE_RANGE = "/etcdserverpb.KV/DeleteRange"
_TXN = "/etcdserverpb.KV/Txn"
_COMPACT = "/etcdserverpb.KV/Compact"
_AUTHENTICATE = "/etcdserverpb.Auth/Authenticate"
_GRANT = "/etcdserverpb.Lease/LeaseGrant"
_TIME_TO_LIVE = "/etcdserverpb.Lease/LeaseTimeToLive"

_WITHIN = 30.0
"""Seconds."""


class Kv:
    """One etcd. Many calls may be under way at a time; use it within one event loop.

    Every method raises EtcdGoneError when etcd is not there or does not answer in time (whether it
    has done what was asked is unknown then; the next call dials again), and EtcdRefusedError when
    it refuses. A cancelled call is cancelled at etcd, too.
    """

    def __init__(
        self,
        target: str,
        *,
        ca: Path | None = None,
        cert: Path | None = None,
        key: Path | None = None,
        accepts_any: bool = False,
    ) -> None:
        """Dial `unix:/…/etcd.sock` or `host:port` when it is first asked, with TLS if `ca` is given.

        `cert` and `key` are the client certificate. With `accepts_any` TLS needs no `ca`, and
        proves nothing.
        """
        address = EtcdAddress.of(target, ca=ca, cert=cert, key=key, accepts_any=accepts_any)
        self.channel = Channel(address)
        """For other services of the same etcd."""

    async def get(self, key: bytes) -> KeyValue | None:
        """Return what is stored at a key, or None."""
        answer = await self.channel.call(
            _RANGE, request_encoding.range_request(key), within=_WITHIN
        )
        return answer_decoding.first(answer_decoding.answer_by(answer_decoding.read_page, answer))

    async def page(
        self,
        start: bytes,
        end: bytes,
        *,
        limit: int = 0,
        revision: int = 0,
        keys_only: bool = False,
    ) -> KeyPage:
        """Return the keys of the half-open range [`start`, `end`), in order, at most `limit` if it is not 0.

        With a `revision` they are as they were then; EtcdRefusedError with code 11 (OUT_OF_RANGE) means that it
        has been compacted, or is to come. The next page begins at the last key followed by a zero byte.
        """
        request = request_encoding.range_request(
            start, end, limit=limit, revision=revision, keys_only=keys_only
        )
        answer = await self.channel.call(_RANGE, request, within=_WITHIN)
        return answer_decoding.answer_by(answer_decoding.read_page, answer)

    async def count(self, start: bytes, end: bytes, *, revision: int = 0) -> int:
        """Return how many keys there are in a range, as it was in a revision if one is given."""
        request = request_encoding.count_request(start, end, revision=revision)
        answer = await self.channel.call(_RANGE, request, within=_WITHIN)
        return answer_decoding.answer_by(answer_decoding.read_count, answer)

    async def written(
        self, start: bytes, end: bytes, *, since: int, revision: int = 0
    ) -> list[KeyValue]:
        """Return the keys of a range that were last written at `since` or later."""
        request = request_encoding.written_request(start, end, since=since, revision=revision)
        answer = await self.channel.call(_RANGE, request, within=_WITHIN)
        return answer_decoding.answer_by(answer_decoding.read_page, answer).items

    async def created(self, start: bytes, end: bytes, *, since: int) -> list[KeyValue]:
        """Return the keys of a range, without values, that were made at `since` or later."""
        request = request_encoding.created_request(start, end, since=since)
        answer = await self.channel.call(_RANGE, request, within=_WITHIN)
        return answer_decoding.answer_by(answer_decoding.read_page, answer).items

    async def delete_all(self, start: bytes, end: bytes) -> int:
        """Delete the keys of the half-open range [`start`, `end`), in one revision; return their number."""
        request = request_encoding.deletion_request(start, end)
        answer = await self.channel.call(_DELETE_RANGE, request, within=_WITHIN)
        return answer_decoding.answer_by(answer_decoding.read_deleted, answer)

    async def txn(self, txn: Txn, *, within: float = _WITHIN) -> TxnAnswer:
        """Do a transaction: all of it, or what it has for the other case."""
        request = request_encoding.txn_request(txn)
        answer = await self.channel.call(_TXN, request, within=within)
        return answer_decoding.answer_by(answer_decoding.read_txn, answer)

    def watch(
        self, start: bytes, end: bytes, *, since: int
    ) -> AsyncGenerator[list[KeyChange], None]:
        """Yield what is written to a range at a revision or later, without an end to a key.

        What comes together is yielded together. A connection that is lost is made again, and the
        watch goes on where it was; EtcdGoneError if etcd stays away. EtcdRefusedError with code 11
        (OUT_OF_RANGE) means that what is next has been compacted; ConflictError that etcd has
        another history now. Close it, by `contextlib.aclosing`, to end the watch at etcd.
        """
        return followed(self.channel, start, end, since=since)

    async def log_in(self, user: str, password: str) -> None:
        """Make all later calls as a user of etcd."""
        request = request_encoding.login_request(user, password)
        answer = await self.channel.call(_AUTHENTICATE, request, within=_WITHIN)
        self.channel.authorize(answer_decoding.answer_by(answer_decoding.read_token, answer))

    async def compact(self, revision: int) -> None:
        """Forget what was overwritten or deleted before a revision; wait until that is done."""
        request = request_encoding.compaction_request(revision)
        await self.channel.call(_COMPACT, request, within=_WITHIN)

    async def grant(self, seconds: int) -> int:
        """Make a lease that ends after a number of seconds; return its id."""
        answer = await self.channel.call(
            _GRANT, request_encoding.lease_request(seconds), within=_WITHIN
        )
        return answer_decoding.answer_by(answer_decoding.read_granted, answer)

    async def granted_seconds(self, lease: int) -> int:
        """Return for how many seconds a lease was made; 0 if it has ended."""
        request = request_encoding.lease_request(lease)
        answer = await self.channel.call(_TIME_TO_LIVE, request, within=_WITHIN)
        return answer_decoding.answer_by(answer_decoding.read_granted_seconds, answer)

    async def close(self) -> None:
        """Close the connection; calls under way fail."""
        await self.channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def prefix_end(prefix: bytes) -> bytes:
    """Return where the range of all keys with a prefix ends.

    That is the next key of the same length; a zero byte, which means no end at all, if there is none.
    """
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes((stripped[-1] + 1,)) if stripped else b"\0"

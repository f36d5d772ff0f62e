from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from kwokctl.errors import EtcdGoneError, EtcdRefusedError
from kwokctl.etcd import shim
from kwokctl.etcd.kv import maintenance
from kwokctl.etcd.kv.kv import Compare, Get, KeyValue, Kv, Put, Txn, TxnAnswer
from tests.support.grpc_server import Server, Session
from tests.support.http2_peer import answer, refusal


class Scripted:
    """Gives one answer to all, and keeps what it was asked last."""

    def __init__(self) -> None:
        self.asked = b""
        self.answer = b""
        self.refusal: tuple[int, bytes] | None = None

    def __call__(self, session: Session, stream: int, content: bytes) -> bytes:
        self.asked = content
        return refusal(stream, *self.refusal) if self.refusal else answer(stream, self.answer)


@pytest.fixture
def rpc() -> Any:
    return shim.load().etcdrpc


@pytest.fixture
def etcd() -> Scripted:
    return Scripted()


@pytest.fixture
async def kv(etcd: Scripted) -> AsyncIterator[Kv]:
    with TemporaryDirectory(prefix="etcd-") as folder:
        async with Server(etcd).listening(Path(folder, "s")) as target, Kv(target) as client:
            yield client


async def test_a_transaction_is_sent_and_its_answer_decoded(
    kv: Kv, etcd: Scripted, rpc: Any
) -> None:
    etcd.answer = rpc.TxnResponse(
        header=rpc.ResponseHeader(revision=70), succeeded=True, responses=[{"response_put": {}}]
    ).SerializeToString()

    answer = await kv.txn(Txn((Compare(b"k", 7),), (Put(b"k", b"v"),), (Get(b"k"),)))

    assert answer == TxnAnswer(True, 70, (None,))
    asked = rpc.TxnRequest.FromString(etcd.asked)
    assert [compare.mod_revision for compare in asked.compare] == [7]
    assert [len(asked.success), len(asked.failure)] == [1, 1]


async def test_a_key_is_read_or_not_there(kv: Kv, etcd: Scripted, rpc: Any) -> None:
    assert await kv.get(b"k") is None
    etcd.answer = rpc.RangeResponse(
        kvs=[{"key": b"k", "value": b"v", "create_revision": 3, "mod_revision": 5, "version": 2}]
    ).SerializeToString()

    assert await kv.get(b"k") == KeyValue(b"k", b"v", 5)
    assert rpc.RangeRequest.FromString(etcd.asked) == rpc.RangeRequest(key=b"k")


async def test_a_page_is_requested_with_its_options(kv: Kv, etcd: Scripted, rpc: Any) -> None:
    etcd.answer = rpc.RangeResponse(more=True).SerializeToString()

    page = await kv.page(b"a", b"b", limit=1, revision=4, keys_only=True)

    assert (page.items, page.more) == ([], True)
    assert rpc.RangeRequest.FromString(etcd.asked) == rpc.RangeRequest(
        key=b"a", range_end=b"b", limit=1, revision=4, keys_only=True
    )


async def test_keys_are_counted_without_being_sent(kv: Kv, etcd: Scripted, rpc: Any) -> None:
    etcd.answer = rpc.RangeResponse(count=70_000).SerializeToString()

    assert await kv.count(b"/a", b"/b", revision=9) == 70_000
    asked = rpc.RangeRequest.FromString(etcd.asked)
    assert (asked.key, asked.range_end) == (b"/a", b"/b")
    assert (asked.revision, asked.count_only, asked.keys_only) == (9, True, False)


async def test_a_range_is_deleted_at_once(kv: Kv, etcd: Scripted, rpc: Any) -> None:
    etcd.answer = rpc.DeleteRangeResponse(deleted=70_000).SerializeToString()

    assert await kv.delete_all(b"/a", b"/b") == 70_000
    asked = rpc.DeleteRangeRequest.FromString(etcd.asked)
    assert (asked.key, asked.range_end, asked.prev_kv) == (b"/a", b"/b", False)


async def test_what_was_written_or_made_since_a_revision_is_requested(
    kv: Kv, etcd: Scripted, rpc: Any
) -> None:
    await kv.written(b"/a", b"/b", since=5, revision=9)
    asked = rpc.RangeRequest.FromString(etcd.asked)
    assert (asked.min_mod_revision, asked.min_create_revision, asked.revision) == (5, 0, 9)

    await kv.created(b"/a", b"/b", since=5)
    asked = rpc.RangeRequest.FromString(etcd.asked)
    assert (asked.min_mod_revision, asked.min_create_revision) == (0, 5)
    assert asked.keys_only


async def test_a_compaction_is_requested(kv: Kv, etcd: Scripted, rpc: Any) -> None:
    await kv.compact(12)

    assert rpc.CompactionRequest.FromString(etcd.asked).revision == 12


async def test_kv_grants_a_lease(kv: Kv, etcd: Scripted, rpc: Any) -> None:
    etcd.answer = rpc.LeaseGrantResponse(ID=1 << 62, TTL=3660).SerializeToString()

    assert await kv.grant(3660) == 1 << 62
    assert rpc.LeaseGrantRequest.FromString(etcd.asked).TTL == 3660


@pytest.mark.parametrize(("left", "granted"), [(12, 3660), (-1, 0)])
async def test_kv_reads_for_how_long_a_lease_was_made(
    kv: Kv, etcd: Scripted, rpc: Any, left: int, granted: int
) -> None:
    etcd.answer = rpc.LeaseTimeToLiveResponse(
        ID=7, TTL=left, grantedTTL=granted
    ).SerializeToString()

    assert await kv.granted_seconds(7) == granted
    assert rpc.LeaseTimeToLiveRequest.FromString(etcd.asked).ID == 7


async def test_a_defragmentation_is_requested(kv: Kv, etcd: Scripted) -> None:
    await maintenance.defragment(kv)

    assert etcd.asked == b""


async def test_an_alarm_is_taken_back(kv: Kv, etcd: Scripted, rpc: Any) -> None:
    await maintenance.disarm(kv, maintenance.Alarm(member=7, kind=maintenance.NOSPACE))

    asked = rpc.AlarmRequest.FromString(etcd.asked)
    assert (asked.action, asked.memberID, asked.alarm) == (2, 7, 1)


async def test_a_refusal_is_raised_with_its_status(kv: Kv, etcd: Scripted) -> None:
    etcd.refusal = 14, b"etcdserver: request timed out"

    with pytest.raises(EtcdRefusedError, match="timed out") as refused:
        await kv.get(b"k")

    assert refused.value.code == 14


async def test_an_answer_that_is_no_message_is_an_error(kv: Kv, etcd: Scripted) -> None:
    etcd.answer = b"\x0a\xff"

    with pytest.raises(EtcdGoneError, match="cannot be read"):
        await kv.get(b"k")

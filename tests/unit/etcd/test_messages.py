"""Our messages against those that the protobuf runtime makes of etcd's own descriptors."""

import random
from contextlib import suppress
from typing import Any

import pytest

from kwokctl.etcd import shim
from kwokctl.etcd.kv import answer_decoding, request_encoding
from kwokctl.etcd.kv.kv import (
    Answer,
    Compare,
    Delete,
    Get,
    KeyPage,
    KeyValue,
    Operation,
    Put,
    Txn,
    TxnAnswer,
    prefix_end,
)
from kwokctl.etcd.protobuf import LENGTH, MessageError, fields, tag, varint

SEEDS = range(200)


@pytest.fixture(scope="module")
def rpc() -> Any:
    return shim.load().etcdrpc


class Dice:
    """Makes up transactions, answers and pages, and says the same by means of the runtime."""

    def __init__(self, seed: int, rpc: Any) -> None:
        self._random = random.Random(seed)
        self._rpc = rpc

    def blob(self) -> bytes:
        return self._random.randbytes(self._random.choice((1, 5, 127, 128, 2000, 20_000)))

    def number(self) -> int:
        bits = self._random.choice((0, 1, 7, 8, 14, 21, 28, 35, 63))
        return self._random.getrandbits(bits)

    def txn(self, depth: int = 0) -> tuple[Txn, Any]:
        compares = [self._compare() for _ in range(self._random.randrange(3))]
        then, otherwise = (
            [self._operation(depth) for _ in range(self._random.randrange(4))] for _ in range(2)
        )
        ours = Txn(
            tuple(a for a, _ in compares), tuple(a for a, _ in then), tuple(a for a, _ in otherwise)
        )
        theirs = self._rpc.TxnRequest(
            compare=[b for _, b in compares],
            success=[b for _, b in then],
            failure=[b for _, b in otherwise],
        )
        return ours, theirs

    def _compare(self) -> tuple[Compare, Any]:
        kind = self._rpc.Compare
        key, revision, of_creation = self.blob(), self.number(), self._random.random() < 0.5
        how: dict[str, Any] = {"result": kind.EQUAL, "key": key}
        if of_creation:
            how |= {"target": kind.CREATE, "create_revision": revision}
        else:
            how |= {"target": kind.MOD, "mod_revision": revision}
        return Compare(key, revision, of_creation), kind(**how)

    def _operation(self, depth: int) -> tuple[Operation, Any]:
        key, value, made = self.blob(), self.blob(), self._rpc.RequestOp
        match self._random.randrange(4 if depth < 2 else 3):
            case 0:
                lease = self._random.choice((0, self.number()))
                put = self._rpc.PutRequest(key=key, value=value, lease=lease)
                return Put(key, value, lease), made(request_put=put)
            case 1:
                deletion = self._rpc.DeleteRangeRequest(key=key)
                return Delete(key), made(request_delete_range=deletion)
            case 2:
                return Get(key), made(request_range=self._rpc.RangeRequest(key=key))
            case _:
                ours, theirs = self.txn(depth + 1)
                return ours, made(request_txn=theirs)

    def answer(self) -> tuple[TxnAnswer, Any]:
        return self._answer(self.number(), 0)

    def _answer(self, revision: int, depth: int) -> tuple[TxnAnswer, Any]:
        succeeded = self._random.random() < 0.5
        parts = [self._part(revision, depth) for _ in range(self._random.randrange(4))]
        theirs = self._rpc.TxnResponse(succeeded=succeeded, responses=[b for _, b in parts])
        if depth == 0:
            theirs.header.CopyFrom(self._header(revision))
        elif self._random.random() < 0.5:
            # So does etcd: the header of a nested answer is there, and empty.
            theirs.header.SetInParent()
        return TxnAnswer(succeeded, revision, tuple(a for a, _ in parts)), theirs

    def _header(self, revision: int) -> Any:
        return self._rpc.ResponseHeader(
            cluster_id=self._random.choice((0, self._random.getrandbits(64))),
            member_id=self._random.choice((0, self._random.getrandbits(64))),
            revision=revision,
            raft_term=self.number(),
        )

    def _part(self, revision: int, depth: int) -> tuple[Answer, Any]:
        made, header = self._rpc.ResponseOp, self._rpc.ResponseHeader(revision=revision)
        match self._random.randrange(5 if depth < 2 else 4):
            case 0:
                return None, made(response_put=self._rpc.PutResponse(header=header))
            case 1:
                number = self.number()
                deletion = self._rpc.DeleteRangeResponse(header=header, deleted=number)
                return number, made(response_delete_range=deletion)
            case 2:
                ours, theirs = self._key_value()
                found = self._rpc.RangeResponse(header=header, kvs=[theirs], count=1)
                return ours, made(response_range=found)
            case 3:
                return None, made(response_range=self._rpc.RangeResponse(header=header))
            case _:
                ours_too, theirs = self._answer(revision, depth + 1)
                return ours_too, made(response_txn=theirs)

    def _key_value(self) -> tuple[KeyValue, Any]:
        key, value, modified = self.blob(), self.blob(), self.number()
        if self._random.random() < 0.2:
            value = b""
        lease = self._random.choice((0, 0, self.number()))
        theirs = {
            "key": key,
            "value": value,
            "create_revision": self.number(),
            "mod_revision": modified,
            "version": self.number(),
            "lease": lease,
        }
        return KeyValue(key, value, modified, lease), theirs

    def page(self) -> tuple[KeyPage, Any]:
        items = [self._key_value() for _ in range(self._random.randrange(6))]
        more, revision, count = self._random.random() < 0.5, self.number(), self.number()
        theirs = self._rpc.RangeResponse(
            header=self._header(revision), kvs=[b for _, b in items], more=more, count=count
        )
        return KeyPage([a for a, _ in items], more, revision), theirs


def test_a_compare_and_put_is_these_bytes() -> None:
    txn = Txn((Compare(b"k", 300),), (Put(b"k", b"v"),), (Get(b"k"),))

    assert request_encoding.txn_request(txn) == (
        b"\x0a\x08" + b"\x10\x02" + b"\x1a\x01k" + b"\x30\xac\x02"
        b"\x12\x08" + b"\x12\x06" + b"\x0a\x01k" + b"\x12\x01v"
        b"\x1a\x05" + b"\x0a\x03" + b"\x0a\x01k"
    )


def test_any_transaction_reads_as_it_was_meant(rpc: Any) -> None:
    for seed in SEEDS:
        ours, theirs = Dice(seed, rpc).txn()
        assert rpc.TxnRequest.FromString(request_encoding.txn_request(ours)) == theirs, seed


def test_any_answer_to_a_transaction_is_understood(rpc: Any) -> None:
    for seed in SEEDS:
        ours, theirs = Dice(seed, rpc).answer()
        assert answer_decoding.read_txn(theirs.SerializeToString()) == ours, seed


def test_any_page_is_understood(rpc: Any) -> None:
    for seed in SEEDS:
        ours, theirs = Dice(seed, rpc).page()
        assert answer_decoding.read_page(theirs.SerializeToString()) == ours, seed


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"end": b"b"},
        {"end": b"b", "limit": 500},
        {"end": b"b", "limit": 500, "revision": 1 << 40},
        {"end": b"b", "keys_only": True},
    ],
)
def test_a_range_reads_as_it_was_meant(rpc: Any, options: dict[str, Any]) -> None:
    theirs = rpc.RangeRequest(
        key=b"a", **{"range_end" if name == "end" else name: v for name, v in options.items()}
    )

    assert rpc.RangeRequest.FromString(request_encoding.range_request(b"a", **options)) == theirs


def test_a_compaction_waits_until_the_space_is_free(rpc: Any) -> None:
    theirs = rpc.CompactionRequest(revision=12345, physical=True)

    assert rpc.CompactionRequest.FromString(request_encoding.compaction_request(12345)) == theirs


def test_unknown_fields_are_skipped() -> None:
    strange = (
        tag(100, LENGTH) + b"\x02hi" + tag(5000, 0) + varint(1 << 63)
        + tag(101, 1) + bytes(8) + tag(102, 5) + bytes(4)
    )  # fmt: skip
    page = b"\x12" + varint(7 + len(strange)) + b"\x0a\x01k" + strange + b"\x2a\x02vv"

    assert answer_decoding.read_page(strange + page + strange) == KeyPage(
        [KeyValue(b"k", b"vv", 0)], more=False, revision=0
    )


def test_a_header_with_an_unknown_field_is_decoded() -> None:
    header = b"\x08\x01" + b"\x18\xac\x02" + b"\x20\x05" + b"\x28\x01"
    answer = b"\x0a" + bytes((len(header),)) + header + b"\x10\x01"

    assert answer_decoding.read_txn(answer) == TxnAnswer(succeeded=True, revision=300, answers=())


def test_the_last_of_an_answer_s_bytes_may_not_be_missing(rpc: Any) -> None:
    for seed in range(40):
        whole = Dice(seed, rpc).answer()[1].SerializeToString()
        if len(whole) < 3000:
            ends = {end for _, _, end in fields(whole, 0, len(whole))}
            for cut in set(range(1, len(whole))) - ends:
                with pytest.raises(MessageError, match="truncated"):
                    answer_decoding.read_txn(whole[:cut])


@pytest.mark.parametrize(
    "data",
    [b"\x0a", b"\x0a\x05", b"\x10", b"\x10" + b"\xff" * 11, b"\x09\x00", b"\x0d\x00", b"\x1a\x00"],
)
def test_bytes_that_are_no_message_are_an_error(data: bytes) -> None:
    with pytest.raises(MessageError):
        answer_decoding.read_txn(data)


def test_noise_is_either_decoded_or_a_message_error() -> None:
    dice = random.Random(7)
    for _ in range(3000):
        noise = dice.randbytes(dice.randrange(40))
        for read in (answer_decoding.read_txn, answer_decoding.read_page):
            # Anything else that is raised fails the test.
            with suppress(MessageError):
                read(noise)


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (16_383, "ff7f"),
        (16_384, "808001"),
        (2_097_151, "ffff7f"),
        (2_097_152, "80808001"),
        ((1 << 64) - 1, "ffffffffffffffffff01"),
    ],
)
def test_numbers_take_seven_bits_a_byte(number: int, written: str) -> None:
    assert varint(number).hex() == written
    field = b"\x08" + bytes.fromhex(written)
    assert [value for _, value, _ in fields(field, 0, len(field))] == [number]


@pytest.mark.parametrize(
    ("prefix", "end"),
    [
        (b"/registry/pods/", b"/registry/pods0"),
        (b"a", b"b"),
        (b"a\xff\xff", b"b"),
        (b"\xff", b"\0"),
        (b"", b"\0"),
    ],
)
def test_a_prefix_ends_before_the_next_key_of_its_length(prefix: bytes, end: bytes) -> None:
    assert prefix_end(prefix) == end

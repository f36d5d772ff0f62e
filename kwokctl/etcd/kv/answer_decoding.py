"""Decodes the answers of etcd's key-value service, without generated code.

Field numbers are those of rpc.proto and kv.proto
(https://github.com/etcd-io/etcd/tree/release-3.6/api). Fields that are not named are ignored.
`answer_by` turns an answer that cannot be read into EtcdGoneError: the outcome is unknown.

What comes by the thousands, headers and items, is read by patterns of how etcd writes them: one
match costs a fifth of a walk through the fields. Whatever looks different is walked through.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from kwokctl.errors import EtcdGoneError
from kwokctl.etcd.kv.operations import (
    Answer,
    KeyChange,
    KeyPage,
    KeyValue,
    TxnAnswer,
    WatchAnswer,
)
from kwokctl.etcd.protobuf import LENGTH, VARINT, MessageError, fields, mark

# Of every response, and of its ResponseHeader.
_HEADER, _HEADER_REVISION = mark(1, LENGTH), mark(3, VARINT)
# TxnResponse.
_SUCCEEDED, _RESPONSE = mark(2, VARINT), mark(3, LENGTH)
# ResponseOp: one of these.
_OF_RANGE, _OF_PUT, _OF_DELETE, _OF_TXN = (mark(n, LENGTH) for n in (1, 2, 3, 4))
# DeleteRangeResponse.
_DELETED = mark(2, VARINT)
# RangeResponse.
_ITEM, _MORE, _COUNT = mark(2, LENGTH), mark(3, VARINT), mark(4, VARINT)
# KeyValue.
_KEY, _VALUE = mark(1, LENGTH), mark(5, LENGTH)
_MODIFIED, _LEASE = mark(3, VARINT), mark(6, VARINT)

# LeaseGrantResponse, LeaseTimeToLiveResponse.
_LEASE_ID, _GRANTED_SECONDS = mark(2, VARINT), mark(4, VARINT)
# WatchResponse; Event, whose kind DELETE is 1.
_CANCELED, _COMPACTED = mark(4, VARINT), mark(5, VARINT)
_REASON, _EVENT = mark(6, LENGTH), mark(11, LENGTH)
_EVENT_KIND, _EVENT_ITEM = mark(1, VARINT), mark(2, LENGTH)

# AuthenticateResponse.
_TOKEN = mark(2, LENGTH)

_NUMBER = rb"[\x80-\xff]*[\x00-\x7f]"
_USUAL_HEADER = re.compile(
    # Length, then cluster, member, revision and term.
    rb"\x0a(.)((?:\x08%b)?(?:\x10%b)?\x18(%b)(?:\x20%b)?)" % ((_NUMBER,) * 4),
    re.DOTALL,
)
_USUAL_ITEM = re.compile(
    # After the key: creation, modification, version, and the value's length.
    rb"\x10%b\x18(%b)\x20%b\x2a(%b)" % ((_NUMBER,) * 4),
    re.DOTALL,
)
_DID = b"\x10\x01"
"""The field of a TxnResponse that succeeded."""


T = TypeVar("T")


def answer_by(read: Callable[[bytes], T], data: bytes) -> T:
    """Decode an answer by `read`; raises EtcdGoneError for one that cannot be read."""
    try:
        return read(data)
    except MessageError as e:
        raise EtcdGoneError(
            f"an answer of etcd cannot be read: {e}",
            hint="the request may or may not have been carried out: check before repeating it",
        ) from e


def read_txn(data: bytes) -> TxnAnswer:
    """Decode a TxnResponse."""
    return _txn(data, 0, len(data), 0)


def read_page(data: bytes) -> KeyPage:
    """Decode a RangeResponse."""
    return _page(data, 0, len(data))


def read_count(data: bytes) -> int:
    """Return the number of keys in a RangeResponse that has only that."""
    return _found(data, 0, len(data), _COUNT)


def read_deleted(data: bytes) -> int:
    """Return the number of keys that a DeleteRangeResponse counts."""
    return _found(data, 0, len(data), _DELETED)


def read_granted(data: bytes) -> int:
    """Return the number of the lease in a LeaseGrantResponse."""
    return _found(data, 0, len(data), _LEASE_ID)


def read_granted_seconds(data: bytes) -> int:
    """Return for how long a lease was made, from a LeaseTimeToLiveResponse."""
    return _found(data, 0, len(data), _GRANTED_SECONDS)


def read_watch(data: bytes) -> WatchAnswer:
    """Decode a WatchResponse."""
    revision = compacted = 0
    is_canceled, reason = False, ""
    changes: list[KeyChange] = []
    for field, value, stop in fields(data, 0, len(data)):
        if field == _HEADER:
            revision = header_revision(data, value, stop)
        elif field == _EVENT:
            changes.append(_change(data, value, stop))
        elif field == _CANCELED:
            is_canceled = value != 0
        elif field == _COMPACTED:
            compacted = value
        elif field == _REASON:
            reason = data[value:stop].decode(errors="replace")
    return WatchAnswer(revision, changes, compacted, reason if is_canceled else None)


def read_token(data: bytes) -> str:
    """Return the token in an AuthenticateResponse."""
    for field, value, stop in fields(data, 0, len(data)):
        if field == _TOKEN:
            return data[value:stop].decode()
    raise MessageError("an answer lacks the token")


def first(page: KeyPage) -> KeyValue | None:
    """Return the only item of a page, if there is one."""
    return page.items[0] if page.items else None


def header_revision(data: bytes, at: int, end: int) -> int:
    """Return the store's revision in a ResponseHeader."""
    return _found(data, at, end, _HEADER_REVISION)


def _txn(data: bytes, at: int, end: int, revision: int) -> TxnAnswer:
    """Decode a TxnResponse in `data[at:end]`; only the outermost has the revision."""
    found, at = _usual_header(data, at, end)
    revision = revision or found
    succeeded = data.startswith(_DID, at, end)
    if succeeded:
        at += len(_DID)
    answers: list[Answer] = []
    for field, value, stop in fields(data, at, end):
        if field == _RESPONSE:
            answers.append(_answer(data, value, stop, revision))
        elif field == _SUCCEEDED:
            succeeded = value != 0
        elif field == _HEADER:
            revision = revision or header_revision(data, value, stop)
    return TxnAnswer(succeeded, revision, tuple(answers))


def _answer(data: bytes, at: int, end: int, revision: int) -> Answer:
    """Decode a ResponseOp: it holds what belongs to one kind of request."""
    if at < end and data[at] == _OF_PUT:
        return None
    for field, begin, stop in fields(data, at, end):
        if field == _OF_RANGE:
            return first(_page(data, begin, stop))
        if field == _OF_DELETE:
            return _found(data, begin, stop, _DELETED)
        if field == _OF_TXN:
            return _txn(data, begin, stop, revision)
    raise MessageError("a transaction's answer lacks a part")


def _page(data: bytes, at: int, end: int) -> KeyPage:
    items: list[KeyValue] = []
    more = False
    revision, at = _usual_header(data, at, end)
    for field, value, stop in fields(data, at, end):
        if field == _ITEM:
            items.append(_item(data, value, stop))
        elif field == _HEADER:
            revision = header_revision(data, value, stop)
        elif field == _MORE:
            more = value != 0
    return KeyPage(items, more, revision)


def _usual_header(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the revision in the header that begins here, and where that ends; or 0 and `at`."""
    usual = _USUAL_HEADER.match(data, at, end)
    if usual is None or len(usual[2]) != usual[1][0]:
        return 0, at
    return _number(usual[3]), usual.end()


def _item(data: bytes, at: int, end: int) -> KeyValue:
    """Decode a KeyValue."""
    if end - at > 2 and data[at] == _KEY and data[at + 1] < 0x80:
        key_end = at + 2 + data[at + 1]
        usual = _USUAL_ITEM.match(data, key_end, end)
        if usual is not None and usual.end() + _number(usual[2]) == end:
            return KeyValue(data[at + 2 : key_end], data[usual.end() : end], _number(usual[1]))
    return _unusual_item(data, at, end)


def _unusual_item(data: bytes, at: int, end: int) -> KeyValue:
    """Decode a KeyValue that has a long key, no value, or a lease."""
    key = content = b""
    modified = lease = 0
    for field, value, stop in fields(data, at, end):
        if field == _KEY:
            key = data[value:stop]
        elif field == _VALUE:
            content = data[value:stop]
        elif field == _MODIFIED:
            modified = value
        elif field == _LEASE:
            lease = value
    return KeyValue(key, content, modified, lease)


def _change(data: bytes, at: int, end: int) -> KeyChange:
    """Decode an Event."""
    item, kind = KeyValue(b"", b"", 0), 0
    for field, value, stop in fields(data, at, end):
        if field == _EVENT_ITEM:
            item = _item(data, value, stop)
        elif field == _EVENT_KIND:
            kind = value
    return KeyChange(item, kind != 0)


def _number(digits: bytes) -> int:
    number = shift = 0
    for digit in digits:
        number |= (digit & 0x7F) << shift
        shift += 7
    return number


def _found(data: bytes, at: int, end: int, wanted: int) -> int:
    """Return a number in a message; 0, which is never written, if it is not there."""
    for field, value, _ in fields(data, at, end):
        if field == wanted:
            return value
    return 0

"""etcd's messages of the key-value service, by hand.

Field numbers are those of rpc.proto and kv.proto
(https://github.com/etcd-io/etcd/tree/release-3.6/api). Fields that are not named are left out when
writing and passed over when reading.
"""

import re

from kwokctl.etcd.operations import (
    Answer,
    Compare,
    Delete,
    Get,
    KeyValue,
    Operation,
    Page,
    Put,
    Txn,
    TxnAnswer,
)
from kwokctl.etcd.protobuf import (
    LENGTH,
    VARINT,
    MessageError,
    fields,
    mark,
    sized,
    tag,
    varint,
)  # fmt: skip

_FIRST, _SECOND, _THIRD = (tag(n, LENGTH) for n in (1, 2, 3))

# RequestOp: one of these.
_RANGE, _PUT, _DELETE, _TXN = (tag(n, LENGTH) for n in (1, 2, 3, 4))

# Compare: the result EQUAL is the default; target CREATE is 1, MOD is 2.
_BY_CREATION, _BY_MOD = (tag(2, VARINT) + varint(target) for target in (1, 2))
_CREATE_REVISION, _MOD_REVISION = tag(5, VARINT), tag(6, VARINT)

# RangeRequest.
_LIMIT, _REVISION, _KEYS_ONLY, _COUNT_ONLY = (tag(n, VARINT) for n in (3, 4, 8, 9))

# CompactionRequest.
_COMPACTED_TO, _PHYSICAL = tag(1, VARINT), tag(2, VARINT) + varint(1)

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
_KEY, _CREATED, _MODIFIED, _VALUE = (
    mark(1, LENGTH), mark(2, VARINT), mark(3, VARINT), mark(5, LENGTH),
)  # fmt: skip

_NUMBER = rb"[\x80-\xff]*[\x00-\x7f]"
_USUAL = re.compile(
    rb"\x0a(.)((?:\x08%b)?(?:\x10%b)?\x18(%b)(?:\x20%b)?)(\x10\x01)?" % ((_NUMBER,) * 4), re.DOTALL
)
"""How a TxnResponse begins: a header with its length, the revision in it, whether it succeeded.

One match costs a fifth of a walk through these fields.
"""


def txn_request(txn: Txn) -> bytes:
    """Encode a TxnRequest."""
    return b"".join(
        (*map(_compare, txn.compares), *map(_then, txn.then), *map(_otherwise, txn.otherwise))
    )


def range_request(
    start: bytes,
    end: bytes = b"",
    *,
    limit: int = 0,
    revision: int = 0,
    keys_only: bool = False,
    count_only: bool = False,
) -> bytes:
    """Encode a RangeRequest; without an end it is for one key."""
    request = sized(_FIRST, start)
    if end:
        request += sized(_SECOND, end)
    if limit:
        request += _LIMIT + varint(limit)
    if revision:
        request += _REVISION + varint(revision)
    if keys_only:
        request += _KEYS_ONLY + varint(1)
    if count_only:
        request += _COUNT_ONLY + varint(1)
    return request


def compaction_request(revision: int) -> bytes:
    """Encode a CompactionRequest that is answered when the space is free."""
    return _COMPACTED_TO + varint(revision) + _PHYSICAL


def _compare(compare: Compare) -> bytes:
    key = sized(_THIRD, compare.key)
    if compare.of_creation:
        return sized(_FIRST, _BY_CREATION + key + _CREATE_REVISION + varint(compare.revision))
    return sized(_FIRST, _BY_MOD + key + _MOD_REVISION + varint(compare.revision))


def _then(operation: Operation) -> bytes:
    return _operation(_SECOND, operation)


def _otherwise(operation: Operation) -> bytes:
    return _operation(_THIRD, operation)


def _operation(head: bytes, operation: Operation) -> bytes:
    """Encode a field that holds a RequestOp."""
    match operation:
        case Put():
            return _put(head, operation)
        case Delete():
            return sized(head, sized(_DELETE, sized(_FIRST, operation.key)))
        case Get():
            return sized(head, sized(_RANGE, sized(_FIRST, operation.key)))
        case Txn():
            return sized(head, sized(_TXN, txn_request(operation)))


def _put(head: bytes, put: Put) -> bytes:
    """Encode a field that holds a RequestOp that holds a PutRequest; the value is copied once."""
    value = put.value
    before = sized(_FIRST, put.key) + _SECOND + varint(len(value))
    size = len(before) + len(value)
    inner = _PUT + varint(size)
    return b"".join((head, varint(len(inner) + size), inner, before, value))


def read_txn(data: bytes) -> TxnAnswer:
    """Decode a TxnResponse."""
    return _txn(data, 0, len(data), 0)


def _txn(data: bytes, at: int, end: int, revision: int) -> TxnAnswer:
    """Decode a TxnResponse in `data[at:end]`; only the outermost tells the revision of all."""
    succeeded = False
    answers: list[Answer] = []
    usual = _USUAL.match(data, at, end)
    if usual is not None and len(usual[2]) == usual[1][0]:
        revision = revision or _number(usual[3])
        succeeded = usual[4] is not None
        at = usual.end()
    for field, value, stop in fields(data, at, end):
        if field == _RESPONSE:
            answers.append(_answer(data, value, stop, revision))
        elif field == _SUCCEEDED:
            succeeded = value != 0
        elif field == _HEADER:
            revision = revision or header_revision(data, value, stop)
    return TxnAnswer(succeeded, revision, tuple(answers))


def _number(digits: bytes) -> int:
    number = shift = 0
    for digit in digits:
        number |= (digit & 0x7F) << shift
        shift += 7
    return number


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


def read_page(data: bytes) -> Page:
    """Decode a RangeResponse."""
    return _page(data, 0, len(data))


def first(page: Page) -> KeyValue | None:
    """Return the only item of a page, if there is one."""
    return page.items[0] if page.items else None


def _page(data: bytes, at: int, end: int) -> Page:
    items: list[KeyValue] = []
    more = False
    revision = count = 0
    for field, value, stop in fields(data, at, end):
        if field == _ITEM:
            items.append(_key_value(data, value, stop))
        elif field == _HEADER:
            revision = header_revision(data, value, stop)
        elif field == _MORE:
            more = value != 0
        elif field == _COUNT:
            count = value
    return Page(items, more, revision, count)


def _key_value(data: bytes, at: int, end: int) -> KeyValue:
    key = content = b""
    created = modified = 0
    for field, value, stop in fields(data, at, end):
        if field == _KEY:
            key = data[value:stop]
        elif field == _VALUE:
            content = data[value:stop]
        elif field == _CREATED:
            created = value
        elif field == _MODIFIED:
            modified = value
    return KeyValue(key, content, created, modified)


def header_revision(data: bytes, at: int, end: int) -> int:
    """Return the store's revision in a ResponseHeader."""
    return _found(data, at, end, _HEADER_REVISION)


def _found(data: bytes, at: int, end: int, wanted: int) -> int:
    """Return a number in a message; 0, which is never written, if it is not there."""
    for field, value, _ in fields(data, at, end):
        if field == wanted:
            return value
    return 0

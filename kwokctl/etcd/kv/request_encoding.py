"""Encodes the requests of etcd's key-value service, without generated code.

Field numbers are those of rpc.proto (https://github.com/etcd-io/etcd/tree/release-3.6/api). What is
left out has its default.
"""

from kwokctl.etcd.kv.operations import (
    Compare,
    Delete,
    Get,
    Operation,
    Put,
    Txn,  # noqa: TID251 - the client, which sends transactions
)
from kwokctl.etcd.protobuf import LENGTH, VARINT, sized, tag, varint

_FIRST, _SECOND, _THIRD = (tag(n, LENGTH) for n in (1, 2, 3))

# RequestOp: one of these.
_RANGE, _PUT, _DELETE, _TXN = (tag(n, LENGTH) for n in (1, 2, 3, 4))

# Compare: the result EQUAL is the default; target CREATE is 1, MOD is 2.
_BY_CREATION, _BY_MOD = (tag(2, VARINT) + varint(target) for target in (1, 2))
_CREATE_REVISION, _MOD_REVISION = tag(5, VARINT), tag(6, VARINT)

# PutRequest.
_LEASE = tag(3, VARINT)

# RangeRequest.
_LIMIT, _REVISION, _KEYS_ONLY, _COUNT_ONLY = (tag(n, VARINT) for n in (3, 4, 8, 9))
_WRITTEN_SINCE, _CREATED_SINCE = (tag(n, VARINT) for n in (10, 12))

# LeaseGrantRequest: for how long; LeaseTimeToLiveRequest: which.
_LEASE_NUMBER = tag(1, VARINT)

# WatchRequest: to create one; WatchCreateRequest.
_CREATE = tag(1, LENGTH)
_SINCE = tag(3, VARINT)

# CompactionRequest.
_COMPACTED_TO, _PHYSICAL = tag(1, VARINT), tag(2, VARINT) + varint(1)


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
    return request


def count_request(start: bytes, end: bytes, *, revision: int) -> bytes:
    """Encode a RangeRequest for the number of keys alone."""
    return range_request(start, end, revision=revision) + _COUNT_ONLY + varint(1)


def written_request(start: bytes, end: bytes, *, since: int, revision: int) -> bytes:
    """Encode a RangeRequest for what was last written at a revision or later."""
    return range_request(start, end, revision=revision) + _WRITTEN_SINCE + varint(since)


def created_request(start: bytes, end: bytes, *, since: int) -> bytes:
    """Encode a RangeRequest for the keys alone that were made at a revision or later."""
    return range_request(start, end, keys_only=True) + _CREATED_SINCE + varint(since)


def deletion_request(start: bytes, end: bytes) -> bytes:
    """Encode a DeleteRangeRequest."""
    return sized(_FIRST, start) + sized(_SECOND, end)


def compaction_request(revision: int) -> bytes:
    """Encode a CompactionRequest that is answered when the space is free."""
    return _COMPACTED_TO + varint(revision) + _PHYSICAL


def watch_request(start: bytes, end: bytes, *, since: int) -> bytes:
    """Encode a WatchRequest for what is written at a revision or later."""
    range_ = sized(_FIRST, start) + (sized(_SECOND, end) if end else b"")
    return sized(_CREATE, range_ + _SINCE + varint(since))


def login_request(user: str, password: str) -> bytes:
    """Encode an AuthenticateRequest."""
    return sized(_FIRST, user.encode()) + sized(_SECOND, password.encode())


def lease_request(number: int) -> bytes:
    """Encode a LeaseGrantRequest for a number of seconds, or a LeaseTimeToLiveRequest for a lease."""
    return _LEASE_NUMBER + varint(number)


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
    lease = _LEASE + varint(put.lease) if put.lease else b""
    before = sized(_FIRST, put.key) + lease + _SECOND + varint(len(value))
    size = len(before) + len(value)
    inner = _PUT + varint(size)
    return b"".join((head, varint(len(inner) + size), inner, before, value))

from typing import Any

import pytest

from kwokctl.etcd import shim
from kwokctl.etcd.kv.maintenance import (
    NOSPACE,
    Alarm,
    MemberStatus,
    read_alarms,
    read_status,
)
from kwokctl.etcd.protobuf import LENGTH, VARINT, tag, varint


@pytest.fixture(scope="module")
def rpc() -> Any:
    return shim.load().etcdrpc


def status(rpc: Any) -> bytes:
    found: bytes = rpc.StatusResponse(
        header=rpc.ResponseHeader(cluster_id=1 << 63, member_id=5, revision=4000, raft_term=2),
        version="3.6.16",
        dbSize=20_480,
        leader=1 << 63,
        raftIndex=12,
        raftTerm=2,
    ).SerializeToString()
    return found


def test_the_status_of_an_old_etcd_has_no_quota(rpc: Any) -> None:
    assert read_status(status(rpc)) == MemberStatus(
        version="3.6.16", revision=4000, db_size=20_480, db_size_in_use=0, quota=0
    )


def test_the_status_contains_the_quota(rpc: Any) -> None:
    # Fields of later releases than the descriptors are of.
    later = (
        tag(8, LENGTH)
        + varint(2)
        + b"no"
        + tag(9, VARINT)
        + varint(16_384)
        + tag(12, VARINT)
        + varint(8 << 30)
    )

    found = read_status(status(rpc) + later)

    assert (found.db_size, found.db_size_in_use, found.quota) == (20_480, 16_384, 8 << 30)


def test_raised_alarms_are_read_with_their_members(rpc: Any) -> None:
    raised = rpc.AlarmResponse(
        header=rpc.ResponseHeader(member_id=5),
        alarms=[rpc.AlarmMember(memberID=1 << 63, alarm=1), rpc.AlarmMember(memberID=2, alarm=2)],
    ).SerializeToString()

    assert read_alarms(raised) == [Alarm(member=1 << 63, kind=NOSPACE), Alarm(member=2, kind=2)]
    assert read_alarms(b"") == []

"""Reads etcd's status, and defragments its database. Fields as in rpc.proto, service Maintenance."""

import msgspec

from kwokctl.etcd.kv.answer_decoding import answer_by, header_revision
from kwokctl.etcd.kv.kv import Kv
from kwokctl.etcd.protobuf import LENGTH, VARINT, fields, mark, tag, varint

_SERVICE = "/etcdserverpb.Maintenance"

# StatusResponse.
_HEADER, _VERSION = (mark(n, LENGTH) for n in (1, 2))
_SIZE, _SIZE_IN_USE, _QUOTA = (mark(n, VARINT) for n in (3, 9, 12))

# AlarmRequest: action GET is the default, DEACTIVATE is 2. AlarmResponse: AlarmMembers.
_ACTION, _OF_MEMBER, _ALARM = (tag(n, VARINT) for n in (1, 2, 3))
_DEACTIVATE = _ACTION + varint(2)
_RAISED = mark(2, LENGTH)
_MEMBER, _KIND = (mark(n, VARINT) for n in (1, 2))
NOSPACE = 1
"""The alarm of an etcd that has reached its quota: it refuses writes until that is taken back."""

_WITHIN = 30.0
_DEFRAGMENT_WITHIN = 3600.0
"""Seconds. Everything that is in use is rewritten."""


class MemberStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The status that etcd reports. Sizes are bytes."""

    version: str
    revision: int
    """The store's: that of the last write."""
    db_size: int
    """Of the file."""
    db_size_in_use: int
    """The size of the file after defragmenting it."""
    quota: int
    """The size at which it refuses writes; 0 if it is not in the answer, as before 3.6."""


async def status(kv: Kv, *, within: float = _WITHIN) -> MemberStatus:
    """Ask how etcd is."""
    answer = await kv.channel.call(f"{_SERVICE}/Status", b"", within=within)
    return answer_by(read_status, answer)


def read_status(answer: bytes) -> MemberStatus:
    """Decode a StatusResponse."""
    revision = 0
    version = ""
    sizes: dict[int, int] = {}
    for field, value, stop in fields(answer, 0, len(answer)):
        if field == _HEADER:
            revision = header_revision(answer, value, stop)
        elif field == _VERSION:
            version = answer[value:stop].decode()
        else:
            sizes[field] = value
    return MemberStatus(
        version=version,
        revision=revision,
        db_size=sizes.get(_SIZE, 0),
        db_size_in_use=sizes.get(_SIZE_IN_USE, 0),
        quota=sizes.get(_QUOTA, 0),
    )


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """An alarm that a member has raised."""

    member: int
    kind: int


async def alarms(kv: Kv) -> list[Alarm]:
    """Return the alarms that are raised."""
    answer = await kv.channel.call(f"{_SERVICE}/Alarm", b"", within=_WITHIN)
    return answer_by(read_alarms, answer)


async def disarm(kv: Kv, alarm: Alarm) -> None:
    """Take an alarm back; the next write raises it again if its reason is still there."""
    request = _DEACTIVATE + _OF_MEMBER + varint(alarm.member) + _ALARM + varint(alarm.kind)
    await kv.channel.call(f"{_SERVICE}/Alarm", request, within=_WITHIN)


def read_alarms(answer: bytes) -> list[Alarm]:
    """Decode an AlarmResponse."""
    found = []
    for field, at, stop in fields(answer, 0, len(answer)):
        if field == _RAISED:
            numbers = {each: value for each, value, _ in fields(answer, at, stop)}
            found.append(Alarm(member=numbers.get(_MEMBER, 0), kind=numbers.get(_KIND, 0)))
    return found


async def defragment(kv: Kv) -> None:
    """Give back the space that compaction has made free. Etcd does nothing else meanwhile."""
    await kv.channel.call(f"{_SERVICE}/Defragment", b"", within=_DEFRAGMENT_WITHIN)

"""How an etcd is, and what keeps it small. Fields as in rpc.proto, service Maintenance."""

from dataclasses import dataclass

from kwokctl.etcd.kv.decoding import answer_by, header_revision
from kwokctl.etcd.kv.kv import Kv
from kwokctl.etcd.protobuf import LENGTH, VARINT, fields, mark, tag, varint

_SERVICE = "/etcdserverpb.Maintenance"

# StatusResponse.
_HEADER, _VERSION, _ERROR = (mark(n, LENGTH) for n in (1, 2, 8))
_SIZE, _SIZE_IN_USE, _QUOTA = (mark(n, VARINT) for n in (3, 9, 12))

# AlarmResponse, and the AlarmMembers in it.
_RAISED, _RAISED_BY, _RAISED_KIND = mark(2, LENGTH), mark(1, VARINT), mark(2, VARINT)

# AlarmRequest.
_ACTION, _MEMBER, _ALARM = (tag(n, VARINT) for n in (1, 2, 3))
_DEACTIVATE = 2
_ALARMS = {1: "NOSPACE", 2: "CORRUPT"}

_WITHIN = 30.0
_DEFRAGMENT_WITHIN = 600.0
"""Seconds. Everything that is in use is written anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStatus:
    """What an etcd says of itself. Sizes are bytes."""

    version: str
    revision: int
    """The store's: that of the last write."""
    db_size: int
    """Of the file."""
    db_size_in_use: int
    """What would be left of the file after defragmenting it."""
    quota: int
    """The size at which it refuses writes; 0 if it does not tell, as before 3.6."""
    errors: tuple[str, ...]
    """What is wrong with it in its own words, its alarms among them."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A state in which etcd refuses writes until somebody disarms it."""

    member: int
    kind: int
    """1: no space, 2: corrupt."""

    @property
    def name(self) -> str:
        """The kind as etcd calls it."""
        return _ALARMS.get(self.kind, str(self.kind))


async def status(kv: Kv, *, within: float = _WITHIN) -> MemberStatus:
    """Ask how etcd is."""
    answer = await kv.channel.call(f"{_SERVICE}/Status", b"", within=within)
    return answer_by(read_status, answer)


def read_status(answer: bytes) -> MemberStatus:
    """Decode a StatusResponse."""
    revision = 0
    version = ""
    errors = []
    sizes: dict[int, int] = {}
    for field, value, stop in fields(answer, 0, len(answer)):
        if field == _HEADER:
            revision = header_revision(answer, value, stop)
        elif field == _VERSION:
            version = answer[value:stop].decode()
        elif field == _ERROR:
            errors.append(answer[value:stop].decode())
        else:
            sizes[field] = value
    return MemberStatus(
        version=version,
        revision=revision,
        db_size=sizes.get(_SIZE, 0),
        db_size_in_use=sizes.get(_SIZE_IN_USE, 0),
        quota=sizes.get(_QUOTA, 0),
        errors=tuple(errors),
    )


async def defragment(kv: Kv, *, within: float = _DEFRAGMENT_WITHIN) -> None:
    """Give back the space that compaction has made free. Etcd does nothing else meanwhile."""
    await kv.channel.call(f"{_SERVICE}/Defragment", b"", within=within)


async def alarms(kv: Kv, *, within: float = _WITHIN) -> tuple[Alarm, ...]:
    """Ask for the alarms that are raised."""
    answer = await kv.channel.call(f"{_SERVICE}/Alarm", b"", within=within)
    return answer_by(read_alarms, answer)


def read_alarms(answer: bytes) -> tuple[Alarm, ...]:
    """Decode an AlarmResponse."""
    found = []
    for field, begin, end in fields(answer, 0, len(answer)):
        if field == _RAISED:
            numbers = {inner: value for inner, value, _ in fields(answer, begin, end)}
            found.append(Alarm(numbers.get(_RAISED_BY, 0), numbers.get(_RAISED_KIND, 0)))
    return tuple(found)


async def disarm(kv: Kv, *, within: float = _WITHIN) -> None:
    """Take all alarms back. One whose reason is still there is raised again by the next write."""
    for alarm in await alarms(kv, within=within):
        await kv.channel.call(f"{_SERVICE}/Alarm", disarming(alarm), within=within)


def disarming(alarm: Alarm) -> bytes:
    """Encode the AlarmRequest that takes an alarm back."""
    action, member, kind = varint(_DEACTIVATE), varint(alarm.member), varint(alarm.kind)
    return _ACTION + action + _MEMBER + member + _ALARM + kind

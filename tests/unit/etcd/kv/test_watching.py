"""A watch goes on where it was, or says why it cannot."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from kwokctl.errors import ConflictError, EtcdRefusedError
from kwokctl.etcd import shim
from kwokctl.etcd.kv.kv import KeyChange, KeyValue, Kv
from tests.support.grpc_server import Server, Session
from tests.support.http2_peer import BEGIN, answer, data, headers, message

rpc: Any = shim.load().etcdrpc
KINDS = {"PUT": 0, "DELETE": 1}


class WatchedEtcd:
    """Answers each watch with what a test has for it; None loses the connection."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.answers: Iterator[list[Any] | None] = iter(())

    def __call__(self, session: Session, stream: int, content: bytes) -> bytes | None:
        request = rpc.WatchRequest.FromString(content)
        self.asked.append(request.create_request)
        found = next(self.answers)
        if found is None:
            return None
        parts = [data(stream, message(each.SerializeToString())) for each in found]
        return headers(stream, BEGIN) + b"".join(parts)


def _events(revision: int, *events: tuple[str, bytes, bytes]) -> Any:
    found = [
        {"type": KINDS[kind], "kv": {"key": key, "value": value, "mod_revision": revision}}
        for kind, key, value in events
    ]
    return rpc.WatchResponse(header=rpc.ResponseHeader(revision=revision), events=found)


def _created(revision: int, **more: Any) -> Any:
    header = rpc.ResponseHeader(revision=revision)
    return rpc.WatchResponse(header=header, created=True, **more)


@pytest.fixture
def etcd() -> WatchedEtcd:
    return WatchedEtcd()


@pytest.fixture
async def kv(etcd: WatchedEtcd) -> AsyncIterator[Kv]:
    with TemporaryDirectory(prefix="etcd-") as folder:
        async with Server(etcd).listening(Path(folder, "s")) as target, Kv(target) as client:
            yield client


async def _changes(kv: Kv, number: int, *, since: int = 5) -> list[KeyChange]:
    found: list[KeyChange] = []
    watched = kv.watch(b"a", b"b", since=since)
    async with aclosing(watched):
        while len(found) < number:
            found += await anext(watched)
    return found


async def test_a_watch_is_requested_and_its_changes_decoded(kv: Kv, etcd: WatchedEtcd) -> None:
    changes = _events(6, ("PUT", b"a1", b"x"), ("DELETE", b"a2", b""))
    etcd.answers = iter([[_created(5), changes]])

    assert await _changes(kv, 2) == [
        KeyChange(KeyValue(b"a1", b"x", 6), is_deleted=False),
        KeyChange(KeyValue(b"a2", b"", 6), is_deleted=True),
    ]
    (request,) = etcd.asked
    assert (request.key, request.range_end, request.start_revision) == (b"a", b"b", 5)


async def test_after_a_lost_connection_it_goes_on_behind_the_last_change(
    kv: Kv, etcd: WatchedEtcd
) -> None:
    class Lossy(WatchedEtcd):
        def __call__(self, session: Session, stream: int, content: bytes) -> bytes | None:
            said = super().__call__(session, stream, content)
            if session.number == 0:
                session.transport.write(said or b"")
                return None
            return said

    lossy = Lossy()
    lossy.answers = iter([[_created(6), _events(7, ("PUT", b"a1", b"x"))], None,
                          [_created(9), _events(9, ("PUT", b"a1", b"y"))]])  # fmt: skip
    with TemporaryDirectory(prefix="etcd-") as folder:
        async with Server(lossy).listening(Path(folder, "s")) as target, Kv(target) as client:
            found = await _changes(client, 2)

    assert [change.item.value for change in found] == [b"x", b"y"]
    assert [request.start_revision for request in lossy.asked] == [5, 8, 8]


async def test_what_was_compacted_cannot_be_watched(kv: Kv, etcd: WatchedEtcd) -> None:
    gone = rpc.WatchResponse(
        header=rpc.ResponseHeader(revision=90), canceled=True, compact_revision=80
    )
    etcd.answers = iter([[_created(90), gone]])

    with pytest.raises(EtcdRefusedError, match="revision 5 on has been compacted") as raised:
        await _changes(kv, 1)
    assert raised.value.code == 11


async def test_a_watch_that_etcd_refuses_says_why(kv: Kv, etcd: WatchedEtcd) -> None:
    # Field 6, which the descriptions of the package do not have: the reason.
    refused: bytes = _created(90, canceled=True).SerializeToString() + b"\x32\x07not you"

    class Raw:
        def SerializeToString(self) -> bytes:  # noqa: N802 - as protobuf names it
            return refused

    etcd.answers = iter([[Raw()]])

    with pytest.raises(EtcdRefusedError, match="not you"):
        await _changes(kv, 1)


async def test_an_etcd_with_another_history_is_named(kv: Kv, etcd: WatchedEtcd) -> None:
    etcd.answers = iter([[_created(3)]])

    with pytest.raises(ConflictError, match="is at revision 3, before 5"):
        await _changes(kv, 1)


async def test_after_a_login_every_call_is_made_as_that_user() -> None:
    seen: list[bytes] = []

    def reply(session: Session, stream: int, content: bytes) -> bytes:
        seen.append(content)
        return answer(stream, rpc.AuthenticateResponse(token="name.1").SerializeToString())

    with TemporaryDirectory(prefix="etcd-") as folder:
        async with Server(reply).listening(Path(folder, "s")) as target, Kv(target) as client:
            await client.log_in("root", "secret")
    (request,) = map(rpc.AuthenticateRequest.FromString, seen)
    assert (request.name, request.password) == ("root", "secret")

"""Watches of a real etcd, and its users."""

from contextlib import aclosing
from pathlib import Path

import pytest

from kwokctl.errors import EtcdGoneError, EtcdRefusedError
from kwokctl.etcd.kv.kv import Delete, Kv, Put, Txn, prefix_end
from kwokctl.etcd.protobuf import LENGTH, sized, tag
from tests.support.certificates import certificates
from tests.support.real_etcd import RealEtcd

pytestmark = [pytest.mark.e2e, pytest.mark.components]

WATCHED = b"/w/"


async def _put(kv: Kv, key: bytes, value: bytes) -> int:
    return (await kv.txn(Txn((), (Put(key, value),)))).revision


async def test_a_watch_goes_on_while_etcd_is_started_again_and_ends_at_what_was_compacted(
    etcd: RealEtcd,
) -> None:
    large = bytes(200_000)
    async with Kv(etcd.target) as kv:
        first = await _put(kv, b"/w/a", b"1")
        watched = kv.watch(WATCHED, prefix_end(WATCHED), since=first)
        async with aclosing(watched):
            found = await anext(watched)
            await _put(kv, b"/other", b"x")
            await _put(kv, b"/w/b", large)
            found += await anext(watched)
            etcd.kill()
            await etcd.start()
            await kv.txn(Txn((), (Delete(b"/w/a"),)))
            found += await anext(watched)
            for number in range(40):  # more than a window of HTTP/2 that is not made larger
                await _put(kv, b"/w/%d" % number, large)
                assert (await anext(watched))[-1].item.value == large

        seen = [(each.item.key, len(each.item.value), each.is_deleted) for each in found]
        assert seen == [(b"/w/a", 1, False), (b"/w/b", 200_000, False), (b"/w/a", 0, True)]
        last = await _put(kv, b"/w/a", b"2")
        await kv.compact(last)
        with pytest.raises(EtcdRefusedError, match="has been compacted") as raised:
            await anext(kv.watch(WATCHED, prefix_end(WATCHED), since=first))
        assert raised.value.code == 11


async def test_a_user_of_etcd_may_do_what_its_roles_allow(etcd: RealEtcd) -> None:
    first, second = tag(1, LENGTH), tag(2, LENGTH)
    root = sized(first, b"root")
    async with Kv(etcd.target) as kv:
        await _put(kv, b"/w/a", b"1")
        for method, request in (
            ("UserAdd", root + sized(second, b"secret")),
            ("RoleAdd", root),
            ("UserGrantRole", root + sized(second, b"root")),
            ("AuthEnable", b""),
        ):
            await kv.channel.call(f"/etcdserverpb.Auth/{method}", request, within=30)

    async with Kv(etcd.target) as kv:
        with pytest.raises(EtcdRefusedError, match="user name is empty"):
            await kv.get(b"/w/a")
        with pytest.raises(EtcdRefusedError, match="authentication failed"):
            await kv.log_in("root", "wrong")
        await kv.log_in("root", "secret")
        found = await kv.get(b"/w/a")
        assert found is not None
        assert found.value == b"1"
        watched = kv.watch(b"/w/a", b"", since=found.mod_revision)
        async with aclosing(watched):
            assert [each.item for each in await anext(watched)] == [found]


async def test_any_certificate_is_accepted_if_that_is_asked(
    etcd_program: str, socket_folder: Path
) -> None:
    known = certificates("other")
    for name, content in {"crt": known.server.cert, "key": known.server.key}.items():
        (socket_folder / f"server.{name}").write_bytes(content)
    files = (
        f"--cert-file={socket_folder / 'server.crt'}",
        f"--key-file={socket_folder / 'server.key'}",
    )
    etcd = RealEtcd(etcd_program, socket_folder, *files, is_secure=True)
    await etcd.start()
    try:
        async with Kv(etcd.port, accepts_any=True) as kv:
            assert await _put(kv, b"k", b"1") > 1
        (socket_folder / "ca").write_bytes(certificates().ca)
        async with Kv(etcd.port, ca=socket_folder / "ca") as kv:
            with pytest.raises(EtcdGoneError, match="cannot be trusted"):
                await kv.get(b"k")
    finally:
        etcd.kill()

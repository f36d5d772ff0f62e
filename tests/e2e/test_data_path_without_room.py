"""An etcd that has no room left: what can be written to it still, and that nothing is lost by it."""

import asyncio
import json
from collections.abc import Awaitable

import msgspec
import pytest

from kwokctl.dataplane.leases.encode import Lease
from kwokctl.dataplane.port import ObjectKey, Patch, Renewal
from kwokctl.errors import ApiError, EtcdRefusedError
from kwokctl.etcd.kv import maintenance
from kwokctl.etcd.kv.kv import Delete, Kv, Put, Txn
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import PODS, SERVICE_ACCOUNTS
from tests.support.direct import encoded
from tests.support.installed import Finished, Installed
from tests.support.planes import Reached, reached

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]


BLOCK = b"x" * (1 << 20)
LEASE = Lease(
    {"name": "fake", "namespace": "kube-node-lease"},
    holder="somebody",
    duration=40,
    acquired=1.8e9,
    renewed=1.8e9,
)


@pytest.fixture(scope="module")
def cluster(small_storage: Installed) -> Installed:
    return small_storage


async def fill(kv: Kv, begin: int = 0) -> int:
    """Write until etcd takes nothing any more; return the number of the first block that it refused."""
    for number in range(begin, 100):
        try:
            await kv.txn(Txn((), (Put(b"/elsewhere/%d" % number, BLOCK),)))
        except EtcdRefusedError as e:
            if e.is_full:
                return number
            raise
    raise AssertionError("etcd takes everything")


async def refusal(asked: Awaitable[object]) -> EtcdRefusedError:
    with pytest.raises(EtcdRefusedError) as caught:
        await asked
    return caught.value


def message(text: str) -> Patch:
    document = {"status": {"message": text}}
    return Patch(document=document, type=PatchType.MERGE, subresource="status")


async def made(ways: Reached, name: str) -> tuple[ObjectKey, Json]:
    pod = {
        "metadata": {"name": name},
        "spec": {"nodeName": "somewhere", "containers": [{"name": "c", "image": "i"}]},
    }
    body = msgspec.json.decode(await ways.client.create(PODS, "default", encoded(pod)))
    return ObjectKey(PODS, "default", name), body


async def use(cluster: Installed, ways: Reached) -> None:
    account = {"metadata": {"name": "default"}}
    await ways.client.create(SERVICE_ACCOUNTS, "default", encoded(account))
    (kept, body), (doomed, other) = await made(ways, "kept"), await made(ways, "doomed")
    body = await ways.plane.patch(kept, message("before"), current=body)
    (renewed,) = await ways.plane.renew([Renewal("fake", "", LEASE)])
    assert renewed.error is None
    blocks = await fill(ways.kv)

    refused = await refusal(ways.plane.patch(kept, message("while full"), current=body))
    (renewal,) = await ways.plane.renew([Renewal("fake", renewed.version, LEASE)])
    await ways.plane.delete(doomed, grace_seconds=0, current=other)

    assert refused.is_full
    with pytest.raises(ApiError) as told:
        await ways.client.create(SERVICE_ACCOUNTS, "default", encoded({"metadata": {"name": "a"}}))
    assert told.value.is_full
    assert (told.value.id, told.value.hint) == (refused.id, refused.hint)
    assert renewal.error is not None
    assert "database space exceeded" in str(renewal.error)
    assert await ways.client.find(PODS, "default", "doomed") is None
    shown = await ways.client.get(PODS, "default", "kept")
    assert (shown["status"]["message"], shown["metadata"]) == ("before", body["metadata"])

    await make_room(cluster, ways.kv, blocks)
    await ways.plane.patch(kept, message("after"), current=body)
    (renewal,) = await ways.plane.renew([Renewal("fake", renewed.version, LEASE)])

    assert renewal.error is None
    shown = await ways.client.get(PODS, "default", "kept")
    assert shown["status"]["message"] == "after"


def repaired(cluster: Installed, *words: str) -> Finished:
    # To read all programs of the user's store takes long, and is tested elsewhere.
    without = str(cluster.folder / "no-cache")
    return cluster.run("doctor", "--fix", *words, XDG_CACHE_HOME=without)


async def make_room(cluster: Installed, kv: Kv, blocks: int) -> None:
    """Let the doctor repair it: in vain at first, for what is in use has no room."""
    before = await asyncio.to_thread(repaired, cluster)
    while "delete objects first" not in before.err:
        # The file of etcd grows by large pieces: defragmenting may make room for more blocks.
        blocks = await fill(kv, blocks)
        before = await asyncio.to_thread(repaired, cluster)
    assert [alarm.kind for alarm in await maintenance.alarms(kv)] == [maintenance.NOSPACE]

    for number in range(blocks):
        await kv.txn(Txn((), (Delete(b"/elsewhere/%d" % number),)))
    fixed = await asyncio.to_thread(repaired, cluster, "-o", "json")
    (etcd,) = [each for each in json.loads(fixed.out)["ofCluster"] if each["check"] == "etcd"]
    assert etcd["findings"] == []


def test_what_cannot_be_written_is_refused_and_can_be_written_later(cluster: Installed) -> None:
    async def main() -> None:
        async with reached(cluster) as ways:
            await use(cluster, ways)

    asyncio.run(main())

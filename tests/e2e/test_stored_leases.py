"""Leases in etcd mean the same to kube-apiserver and kwokctl, no matter which has written them."""

import asyncio

import pytest

from kwokctl.dataplane.leases.decode import StoredLease, read_lease, stored_lease
from kwokctl.dataplane.leases.encode import Lease
from kwokctl.etcd.kv.kv import Put, Txn
from kwokctl.json_value import Json
from kwokctl.kube.resource import LEASES, NODE_LEASES
from tests.support.direct import encoded
from tests.support.installed import Installed
from tests.support.leases import METADATA
from tests.support.planes import KEYS, reached

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]


def test_leases_written_to_etcd_are_served_by_the_api_server(storage: Installed) -> None:
    lease = Lease(
        METADATA,
        holder="host_1",
        duration=40,
        acquired=1_767_268_800.0,
        renewed=1_767_268_810.123456,
        transitions=3,
    )

    async def stored() -> Json:
        async with reached(storage) as ways:
            await ways.kv.txn(Txn((), (Put(KEYS.key(LEASES, NODE_LEASES, "ours"), lease.value()),)))
            return await ways.client.get(LEASES, NODE_LEASES, "ours")

    found = asyncio.run(stored())

    assert found["metadata"].pop("resourceVersion")
    assert found == lease.document()


def test_leases_stored_by_the_api_server_are_decoded(storage: Installed) -> None:
    kept = {"name", "labels", "annotations", "ownerReferences", "finalizers"}
    metadata = {name: METADATA[name] for name in kept} | {"name": "theirs"}
    spec = {
        "holderIdentity": "host_2",
        "leaseDurationSeconds": 3600,
        "acquireTime": "2026-01-01T12:00:00.000001Z",
        "renewTime": "2026-01-01T12:00:10.000000Z",
        "leaseTransitions": 0,
    }
    body = encoded({"metadata": metadata, "spec": spec})

    async def stored() -> tuple[bytes, StoredLease | None]:
        async with reached(storage) as ways:
            answer = await ways.client.create(LEASES, NODE_LEASES, body)
            found = await ways.kv.get(KEYS.key(LEASES, NODE_LEASES, "theirs"))
            assert found is not None
            return answer, stored_lease(found.value, found.mod_revision)

    answer, found = asyncio.run(stored())

    assert found == read_lease(answer)
    assert found.labels == METADATA["labels"]

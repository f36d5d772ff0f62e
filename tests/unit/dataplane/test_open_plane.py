import json
from typing import Any

import pytest

from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.open_plane import handshake
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ApiError, EtcdGoneError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from tests.support.memory_etcd import MemoryEtcd


class Api(ApiPlane):
    """An API server that keeps its objects in an etcd."""

    def __init__(self, etcd: MemoryEtcd, *, prefix: str = "/registry", encrypts: bool = False):
        super().__init__(Pool(Access(server="http://127.0.0.1:1")))
        self._etcd, self._keys, self._encrypts = etcd, Keys(prefix), encrypts
        self.deleted: list[str] = []

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, as_user: str = ""
    ) -> bytes:
        document = json.loads(body)
        key = self._keys.key(resource, namespace, document["metadata"]["name"])
        if key in self._etcd.stored:
            raise ApiError("exists", status=409, reason="AlreadyExists")
        value = b"k8s:enc:aescbc:v1:k:x" if self._encrypts else b"k8s\x00" + body
        document["metadata"]["resourceVersion"] = str(self._etcd.put(key, value))
        return json.dumps(document).encode()

    async def delete(self, target: ObjectKey, **options: Any) -> None:
        self.deleted.append(target.name)
        del self._etcd.stored[self._keys.key(target.resource, target.namespace, target.name)]


async def shake(api: Api, etcd: MemoryEtcd) -> str | None:
    return await handshake(api, ObjectStore(etcd), Keys("/registry"), lambda: 0.0)


async def test_an_etcd_that_shows_what_the_api_made_may_be_written_to() -> None:
    etcd = MemoryEtcd()
    api = Api(etcd)

    assert await shake(api, etcd) is None
    assert etcd.stored == {}
    assert api.deleted == []


async def test_the_key_left_by_a_killed_handshake_is_removed() -> None:
    class KilledError(Exception):
        pass

    etcd = MemoryEtcd()
    api = Api(etcd)
    etcd.refuse = [KilledError()]
    with pytest.raises(KilledError):
        await shake(api, etcd)
    assert len(etcd.stored) == 1

    assert await shake(api, etcd) is None
    assert etcd.stored == {}


async def test_another_etcd_is_left_alone() -> None:
    etcd, other = MemoryEtcd(), MemoryEtcd()
    api = Api(etcd)

    assert "not the cluster's" in (await shake(api, other) or "")
    assert other.transactions == []
    assert len(api.deleted) == 1


async def test_another_prefix_is_found_out() -> None:
    etcd = MemoryEtcd()

    assert "prefix" in (await shake(Api(etcd, prefix="/elsewhere"), etcd) or "")


async def test_encrypted_values_are_found_out() -> None:
    etcd = MemoryEtcd()

    assert await shake(Api(etcd, encrypts=True), etcd) == "its values are encrypted"


async def test_an_etcd_that_does_not_answer_is_not_written_to() -> None:
    etcd = MemoryEtcd()
    etcd.refuse = [EtcdGoneError("etcd is away")]
    api = Api(etcd)

    assert await shake(api, etcd) == "etcd is away"
    assert len(api.deleted) == 1

"""Many deletions through the API. Creations are tested where `scale` asks for them."""

from typing import Any

import pytest

from kwokctl.clusters.scaling.cluster_reader import Existing
from kwokctl.dataplane.port import OldObjects
from kwokctl.errors import ApiError
from kwokctl.kube.resource import PODS
from tests.support import virtual_time
from tests.support.memory_cluster import MemoryCluster, refused


def known(cluster: MemoryCluster, name: str) -> Existing:
    body = cluster.put("Pod", name, namespace="default")
    return Existing(
        name=name, uid=body["metadata"]["uid"], created="", set_name="pod", is_going=False
    )


async def delete(cluster: MemoryCluster, *surplus: Existing) -> int:
    deleted: list[None] = []
    old = OldObjects(
        resource=PODS,
        namespace="default",
        objects=surplus,
        grace_seconds=7,
        look=cluster.get,
        on_deleted=lambda: deleted.append(None),
        on_api=lambda why: None,
    )
    await cluster.delete_many(old)
    return len(deleted)


async def test_every_object_is_deleted_and_reported() -> None:
    cluster = MemoryCluster()
    surplus = [known(cluster, f"pod-{number}") for number in range(100)]
    cluster.put("Pod", "stays", namespace="default")

    assert await delete(cluster, *surplus) == 100
    assert cluster.names("Pod") == ["stays"]
    assert set(cluster.grace) == {7}


async def test_objects_that_others_deleted_or_replaced_are_skipped() -> None:
    cluster = MemoryCluster()
    gone, replaced, last = (known(cluster, name) for name in ("a", "b", "c"))
    cluster.remove("Pod", "default", "a")
    cluster.remove("Pod", "default", "b")
    cluster.put("Pod", "b", namespace="default", uid="another")

    assert await delete(cluster, gone, replaced, last) == 3
    assert cluster.names("Pod") == ["b"]


async def test_another_refusal_is_raised() -> None:
    class Forbidding(MemoryCluster):
        async def delete(self, *args: object, **options: object) -> None:
            raise refused(403, "Forbidden", "pods is forbidden")

    cluster = Forbidding()

    with pytest.raises(ApiError, match="forbidden"):
        await delete(cluster, known(cluster, "a"))


class Troubled(MemoryCluster):
    """Does what it is asked, but cannot answer the first deletions."""

    failures = 3

    async def delete(self, *args: Any, **options: Any) -> None:
        await super().delete(*args, **options)
        if self.failures:
            self.failures -= 1
            raise refused(0, "", "the connection broke")


def test_a_deletion_that_got_no_answer_is_tried_again() -> None:
    cluster = Troubled()
    surplus = [known(cluster, f"pod-{number}") for number in range(5)]

    assert virtual_time.run(delete(cluster, *surplus)) == 5
    assert cluster.names("Pod") == []
    assert len(cluster.writes) == 8


def test_a_cluster_that_never_answers_ends_it() -> None:
    class Away(MemoryCluster):
        async def delete(self, *args: Any, **options: Any) -> None:
            raise refused(0, "", "the connection broke")

    cluster = Away()

    with pytest.raises(ApiError, match="broke"):
        virtual_time.run(delete(cluster, known(cluster, "a")))

"""A whole object is stored as planned only where its patch would have gone to etcd, too."""

import pytest

from kwokctl.errors import EtcdConflictError
from kwokctl.kube.resource import NODES, PODS
from tests.unit.dataplane.test_etcd_plane import KEY, POD, RUNNING, Rig

NEW = b'{"planned":true}'


def version(rig: Rig) -> int:
    return rig.etcd.stored[KEY].mod_revision


async def proven() -> Rig:
    """Return a plane that has found out that pods are in etcd as expected."""
    rig = Rig()
    await rig.plane.patch(POD, RUNNING, current=rig.seen)
    return rig


async def test_a_whole_object_replaces_the_version_that_it_builds_on() -> None:
    rig = await proven()

    revision = await rig.plane.store_whole(POD, NEW, version(rig))

    assert rig.etcd.stored[KEY].value == NEW
    assert revision == version(rig)


async def test_what_another_client_has_written_stays() -> None:
    rig = await proven()
    seen = version(rig)
    rig.etcd.put(KEY, b'{"other":true}')

    with pytest.raises(EtcdConflictError, match="modified"):
        await rig.plane.store_whole(POD, NEW, seen)

    assert rig.etcd.stored[KEY].value == b'{"other":true}'


async def test_nothing_is_stored_before_a_patch_has_shown_where_objects_are() -> None:
    rig = Rig()

    assert await rig.plane.store_whole(POD, NEW, version(rig)) is None
    assert rig.etcd.stored[KEY].value != NEW


async def test_nothing_is_stored_of_a_kind_that_goes_through_the_api() -> None:
    rig = await proven()
    rig.plane.leave({PODS})
    seen = version(rig)

    assert await rig.plane.store_whole(POD, NEW, seen) is None
    assert version(rig) == seen

    rig.plane.leave({NODES})
    assert await rig.plane.store_whole(POD, NEW, seen)

"""Removes the Faults of a cluster from its etcd, as long as no controller shows them."""

from functools import partial

from kwokctl.components.definitions import etcd, kube_apiserver
from kwokctl.components.setting import Setting
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.etcd.kv.kv import Kv
from kwokctl.kube.resource import FAULT_PAGES, FAULT_SCHEDULES, FAULTS
from kwokctl.tasks import for_each

_PARALLEL_DELETIONS = 64


async def remove_faults(setting: Setting) -> int:
    """Delete all Faults and schedules, and what was stored about them; return the number of Faults.

    What nodes show of them is undone by the controller when it runs.
    """
    at, keys = etcd.target(setting), Keys(kube_apiserver.prefix(setting))
    async with Kv(at.address, ca=at.ca, cert=at.cert, key=at.key) as kv:
        store = ObjectStore(kv)
        schedules = await store.keys(keys.folder(FAULT_SCHEDULES))
        faults = await store.keys(keys.folder(FAULTS))
        pages = await store.keys(keys.folder(FAULT_PAGES))
        all_of_them = [*schedules, *faults, *pages]
        await for_each(all_of_them, partial(_remove, store), at_once=_PARALLEL_DELETIONS)
    return len(faults)


async def _remove(store: ObjectStore, key: bytes) -> None:
    await store.discard(key)

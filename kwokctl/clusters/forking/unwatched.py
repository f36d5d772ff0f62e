"""Opens the data plane of a cluster that has no watches yet: its controllers are not started."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from kwokctl.components.definitions import etcd
from kwokctl.components.definitions.etcd import EtcdOptions
from kwokctl.components.setting import Setting
from kwokctl.dataplane.api import ApiPlane
from kwokctl.dataplane.etcd import EtcdRoute
from kwokctl.dataplane.keys import Keys
from kwokctl.dataplane.open_plane import open_plane
from kwokctl.dataplane.pacing import MOST_UNSEEN, Window
from kwokctl.dataplane.port import DataPlane
from kwokctl.dataplane.store import ObjectStore
from kwokctl.etcd.kv.kv import Kv
from kwokctl.kube.transport.pool import Pool

_WALL = time.time  # noqa: TID251 - the clock itself: it is passed on from here


@asynccontextmanager
async def unwatched_plane(setting: Setting, pool: Pool) -> AsyncIterator[DataPlane]:
    """Yield a plane that writes as the cluster's data path says, as fast as etcd takes it.

    The caller reports with `seen` what it has written: there is no watch that could fall behind.
    """
    async with AsyncExitStack() as stack:
        route = None
        if setting.writes_to_etcd:
            at = etcd.target(setting)
            kv = Kv(at.address, ca=at.ca, cert=at.cert, key=at.key)
            await stack.enter_async_context(kv)
            prefix = setting.options.of(EtcdOptions).prefix
            route = EtcdRoute(address=at.address, store=ObjectStore(kv), keys=Keys(prefix))
        yield await open_plane(
            ApiPlane(pool), route, _WALL, pace=partial(Window, first=MOST_UNSEEN)
        )

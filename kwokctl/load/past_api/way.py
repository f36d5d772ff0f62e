"""The way past the API server: whether a cluster has one, and what watches over writes that take it."""

import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial

import msgspec

from kwokctl.clusters.scaling.routes import (
    ScaleRoute,
    connected_controller,
    connected_etcd,
    etcd_route_of,
    route_of,
)
from kwokctl.clusters.scaling.set_admission import SetAdmission, watched
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import using
from kwokctl.clusters.state.saved import load as load_saved
from kwokctl.config.data_path import Choice
from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.bulk.copy_session import CopySession
from kwokctl.dataplane.etcd_plane import EtcdPlane
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import PODS, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.load.load_documents import Load
from kwokctl.model import ClusterName
from kwokctl.progress import Progress

BULK = "spec.bulk"
"""The field that asks for it."""


class DirectKind(msgspec.Struct, frozen=True):
    """The writer of one kind and namespace past the API server, and the guard that says whether it may write."""

    session: CopySession
    admission: SetAdmission
    managed_fields: bool


class DirectWay:
    """Writes objects of loads to a cluster's etcd, under the same guards as `scale`."""

    def __init__(
        self,
        stack: AsyncExitStack,
        plane: EtcdPlane,
        pool: Pool,
        route: ScaleRoute,
        progress: Progress,
    ) -> None:
        """Watch what writes would bypass until the `stack` is left."""
        self._stack, self._plane, self._pool = stack, plane, pool
        self._route, self._progress = route, progress
        self._kinds: dict[tuple[Resource, str | None], DirectKind] = {}
        self._left: dict[tuple[Resource, str | None], Collection[Resource]] = {}

    async def kind(
        self, resource: Resource, namespace: str | None, *, is_placed: bool
    ) -> DirectKind:
        """Return what writes a kind in a namespace; webhooks, policies, quotas and the namespace are watched."""
        key = resource, namespace
        if key not in self._kinds:
            admission = SetAdmission(
                self._pool,
                resource,
                namespace,
                insists=self._route.insists,
                leave=partial(self._leave, key),
                report=self._note_api,
            )
            await self._stack.enter_async_context(watched(admission))
            copying = self._plane.copying(resource, namespace, is_placed=is_placed)
            session = await self._stack.enter_async_context(copying)
            self._kinds[key] = DirectKind(session, admission, self._has_managed_fields(resource))
        return self._kinds[key]

    def _has_managed_fields(self, resource: Resource) -> bool:
        wanted = self._route.managed_fields
        return wanted == "on" or (wanted == "auto" and resource != PODS)

    def _leave(self, key: tuple[Resource, str | None], kinds: Collection[Resource]) -> None:
        self._left[key] = kinds
        self._plane.leave({each for kinds in self._left.values() for each in kinds})

    def _note_api(self, why: str) -> None:
        self._progress.note(str(Choice(path="api", why=why)))


WayIn = Callable[[Sequence[Load]], AbstractAsyncContextManager[DirectWay | None]]
"""Opens the way for the loads that ask for it; ConfigError, with the place, where there is none."""


@asynccontextmanager
async def no_way(loads: Sequence[Load]) -> AsyncIterator[None]:
    """Refuse loads that ask for it, in a cluster that kwokctl has not created."""
    for load in loads:
        if load.spec.bulk:
            raise load.document.fault(
                BULK,
                "writes to etcd, which is for clusters that kwokctl created, not for --kubeconfig",
                hint="leave one of the two out",
            )
    yield None


def way_into(home: Home, name: ClusterName) -> WayIn:
    """Return what opens the way into a cluster of kwokctl."""
    return partial(_opened, home, name)


@asynccontextmanager
async def _opened(
    home: Home, name: ClusterName, loads: Sequence[Load]
) -> AsyncIterator[DirectWay | None]:
    """Yield the way if a load asks for it. As with `scale`, the cluster is not stopped or restored meanwhile."""
    asking = [load for load in loads if load.spec.bulk]
    if not asking:
        yield None
        return
    route = route_of(home, load_saved(home.paths(name), name), None)
    at = route.etcd
    if route.choice.path != "etcd" or at is None:
        raise asking[0].document.fault(
            BULK,
            f"writes to etcd, but this cluster is written to {route.choice.way}",
            hint="leave 'bulk' out, or create the cluster with --data-path etcd",
        )
    with using(home.workdir, name):
        async with AsyncExitStack() as stack:
            access = load_access(home.paths(name).own_kubeconfig)
            pool = await stack.enter_async_context(Pool(access))
            kv = await connected_etcd(stack, at, home.progress)
            controller = await connected_controller(stack, route)
            wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
            etcd_route = etcd_route_of(route, kv, at.address, controller)
            plane = EtcdPlane(ApiPlane(pool), etcd_route, wall)
            yield DirectWay(stack, plane, pool, route, home.progress)

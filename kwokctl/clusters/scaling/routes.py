"""The ways to write to a cluster: the addresses of its etcd and its controller, and the connections to them."""

from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from kwokctl.clusters.scaling.objects.render import NO_KUBELET
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.clusters.stopped_components import watch_etcd
from kwokctl.components.definitions import etcd
from kwokctl.components.fake_nodes import kubelet_address, kubelet_port
from kwokctl.config.data_path import Choice
from kwokctl.config.options import with_values
from kwokctl.config.quantity import to_bytes
from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.etcd_plane import EtcdRoute
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.scale_protocol import ControllerClient
from kwokctl.etcd.kv.kv import Kv
from kwokctl.etcd.kv.maintenance import status
from kwokctl.etcd.member import EtcdTarget
from kwokctl.host.ports import dialled
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KUBE_CONTROLLER_MANAGER, KWOK_CONTROLLER
from kwokctl.progress import Progress
from kwokctl.replacing import replace
from kwokctl.tasks import beside


class ScaleRoute(msgspec.Struct, frozen=True, kw_only=True):
    """The way to write to a cluster, with the addresses for it."""

    choice: Choice
    etcd: EtcdTarget | None = None
    """The address and credentials of etcd, if it can be reached."""
    quota: int = 0
    """The size at which etcd refuses writes."""
    prefix: str = ""
    controller: str = ""
    """The URL of the controller."""
    controller_token: Path = Path()
    """The file with the token that the controller asks for."""
    keeps_taints: bool = False
    """Whether the cluster has no kube-controller-manager, which would remove the not-ready taint from nodes that are Ready."""
    insists: bool = False
    is_news: bool = False
    """Whether it differs from the choice that `create` reported."""
    managed_fields: str = "auto"
    kubelet: Kubelet = NO_KUBELET
    knows_kubelet: bool = True
    """False if only the running controller knows its name."""


FOREIGN = ScaleRoute(choice=Choice(path="api", why="kwokctl did not create this cluster"))


def route_of(home: Home, saved: Saved, data_path: str | None) -> ScaleRoute:
    """Choose how to write to a cluster of kwokctl; `data_path` overrides its own choice."""
    runtime, paths = home.runtime(saved.options.runtime), home.paths(saved.name)
    usual = saved.data_path()
    if data_path is not None:
        saved = replace(saved, options=with_values(saved.options, {"data_path": data_path}))
    choice = saved.data_path()
    setting, own = saved.setting(runtime, paths), saved.options.of(etcd.EtcdOptions)
    node = kubelet_address(setting)
    # On kind there is an address only when there is a network.
    is_known = node.name != node.ip or node.ip == dialled(setting.bind(KWOK_CONTROLLER))
    return ScaleRoute(
        choice=choice,
        etcd=etcd.target(setting),
        quota=to_bytes(own.quota_backend_size),
        prefix=own.prefix,
        controller=f"http://{setting.address(KWOK_CONTROLLER)}",
        controller_token=paths.controller_token,
        keeps_taints=KUBE_CONTROLLER_MANAGER not in saved.names,
        insists=saved.options.data_path.path == "etcd",
        is_news=choice != usual,
        managed_fields=saved.options.data_path.managed_fields,
        kubelet=Kubelet(address=node.name if is_known else "", port=kubelet_port(setting)),
        knows_kubelet=is_known,
    )


async def connected_etcd(stack: AsyncExitStack, at: EtcdTarget, progress: Progress) -> Kv:
    """Dial etcd, and watch whether it answers as long as the `stack` lasts."""
    kv = Kv(at.address, ca=at.ca, cert=at.cert, key=at.key)
    await stack.enter_async_context(kv)
    await stack.enter_async_context(beside(watch_etcd(kv, progress)))
    await status(kv)  # at once: the API server would let every request wait
    return kv


async def connected_controller(stack: AsyncExitStack, route: ScaleRoute) -> ControllerClient:
    """Return a client of the cluster's controller, which connects with its first request."""
    pool = await stack.enter_async_context(Pool(Access(server=route.controller), connections=2))
    return ControllerClient(pool, route.controller_token)


def etcd_route_of(
    route: ScaleRoute, kv: Kv, address: str, controller: ControllerClient
) -> EtcdRoute:
    return EtcdRoute(
        address=address,
        store=ObjectStore(kv),
        keys=Keys(route.prefix),
        controller=controller,
        insists=route.insists,
    )

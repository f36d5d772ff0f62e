"""Asks the controller of a cluster which nodes it plays."""

from collections.abc import Callable, Mapping
from typing import Any

from kwokctl.clusters.faults.reaching import FaultCluster
from kwokctl.dataplane.scale_protocol import ControllerClient
from kwokctl.embedded.selection import select
from kwokctl.errors import KwokctlError
from kwokctl.json_value import Json
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KWOK_CONTROLLER


async def ours(cluster: FaultCluster) -> Callable[[Mapping[str, Json]], bool]:
    """Return whether a node, as JSON, is one that the controller of the cluster plays; all are if it does not answer."""
    try:
        selecting = await _selecting(cluster)
        selection = select(**selecting)
    except KwokctlError:  # it does not run, or is in the cluster
        return lambda _: True

    def is_ours(node: Mapping[str, Json]) -> bool:
        meta = node["metadata"]
        annotations, labels = meta.get("annotations") or {}, meta.get("labels") or {}
        return selection.selects(meta["name"], annotations, labels)

    return is_ours


async def _selecting(cluster: FaultCluster) -> dict[str, Any]:
    saved, home = cluster.saved, cluster.home
    paths = home.paths(saved.name)
    address = saved.setting(home.runtime(saved.options.runtime), paths).address(KWOK_CONTROLLER)
    async with Pool(Access(server=f"http://{address}"), connections=1) as pool:
        return dict((await ControllerClient(pool, paths.controller_token).stages()).selection)

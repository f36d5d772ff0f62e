"""Bulk writes of the data plane, as tests ask for them."""

from collections.abc import Callable, Sequence
from typing import Any

from kwokctl.dataplane.bulk.api_bulk import ApiBulk
from kwokctl.dataplane.bulk.locate import BulkAccess
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.port import KubeletWriter, NewObjects
from kwokctl.dataplane.scale_protocol import ControllerClient
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS, Resource
from kwokctl.kube.transport.pool import Pool
from tests.support.memory_cluster import MemoryCluster
from tests.support.memory_etcd import MemoryEtcd

NOWHERE = Pool(Access(server="http://127.0.0.1:1"))


def bulk_access(
    *,
    etcd: MemoryEtcd | None = None,
    plane: KubeletWriter | None = None,
    controller: ControllerClient | None = None,
    pool: Pool = NOWHERE,
    left: Callable[[Resource], bool] = lambda resource: False,
) -> BulkAccess:
    return BulkAccess(
        store=ObjectStore(etcd or MemoryEtcd()),
        keys=Keys("/registry"),
        client=Client(pool),
        api=ApiBulk(plane or MemoryCluster()),
        controller=controller,
        wall=lambda: 0.0,
        is_left=left,
    )


async def _raise(error: ApiError, _name: str) -> None:
    raise error


def new_pods(serials: Sequence[int] = range(3), **fields: Any) -> NewObjects:
    """Pods with little more than a name."""
    given: dict[str, Any] = {
        "resource": PODS,
        "namespace": "default",
        "serials": serials,
        "name_of": lambda serial: f"pod-{serial:06d}",
        "body": lambda serial: {"kind": "Pod", "metadata": {"name": f"pod-{serial:06d}"}},
        "varying": lambda samples: {},
        "on_created": lambda: None,
        "on_refused": _raise,
        "on_api": lambda why: None,
    }
    return NewObjects(**{**given, **fields})

"""A plan as the runtime is given it."""

from pathlib import Path
from typing import Any

from kwokctl.components.choose_data_path import choose_data_path
from kwokctl.components.cluster_plan import build_plan, selected
from kwokctl.components.setting import Setting
from kwokctl.config.options import ClusterOptions
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import Artifact, ClusterName, Plan
from kwokctl.replacing import replace
from runtimes.kind.pods.pod_settings import KindSite
from tests.support.options import cluster_options

PATHS = ClusterPaths(Path("/home/me/.kwok/clusters/dev"))
OPTIONS = cluster_options(
    etcd_port=32765,
    kube_apiserver_port=32764,
    controller_port=32763,
    kube_controller_manager_port=32762,
    kube_scheduler_port=32761,
)


def plan(
    options: ClusterOptions = OPTIONS,
    *documents: dict[str, Any],
    kube: str = "v1.36.3",
    paths: ClusterPaths = PATHS,
    program: str = "/store/kind",
) -> Plan:
    """Describe a cluster as `create cluster --runtime kind` does."""
    names = selected(options)
    setting = Setting(
        site=KindSite(shares_sockets=True),
        paths=paths,
        options=options,
        writes_to_etcd=choose_data_path(options).path == "etcd",
        artifacts={
            name: Artifact(name=name, version=kube, command=(f"/store/{name}",)) for name in names
        },
    )
    maker = Artifact(
        name="kind", version="v0.33.0", command=(program,), image=f"kindest/node:{kube}"
    )
    made = build_plan(ClusterName("dev"), names, setting)
    return replace(made, maker=maker, documents=documents)

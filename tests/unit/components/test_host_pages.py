"""How this host gets the metrics of components."""

from pathlib import Path

import pytest

from kwokctl.components.cluster_plan import selected
from kwokctl.components.host_pages import HostPage, host_page
from kwokctl.components.setting import Setting
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import (
    ETCD,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    PROMETHEUS,
    Artifact,
    ComponentName,
    HttpProbe,
)
from tests.support.options import cluster_options
from tests.support.sites import ContainerLikeSite, HostLikeSite

PATHS = ClusterPaths(Path("/home/me/.kwok/clusters/dev"))
PORTS = {
    "etcd_port": 2379,
    "kube_apiserver_port": 6443,
    "kube_controller_manager_port": 10257,
    "kube_scheduler_port": 10259,
    "controller_port": 10247,
    "kubelet_port": 10250,
    "prometheus_port": 9090,
}


def page(name: ComponentName, *, in_containers: bool = False) -> HostPage:
    options = cluster_options(enable=("prometheus",), **PORTS)
    setting = Setting(
        site=ContainerLikeSite() if in_containers else HostLikeSite(),
        paths=PATHS,
        options=options,
        artifacts={
            each: Artifact(name=each, version="v0", command=("/p",)) for each in selected(options)
        },
    )
    found = host_page(name, setting)
    assert found is not None
    return found


def with_certificate(url: str, client: str) -> HttpProbe:
    pki = PATHS.pki
    return HttpProbe(
        url=url, ca=pki / "ca.crt", cert=pki / f"{client}.crt", key=pki / f"{client}.key"
    )


@pytest.mark.parametrize(
    ("name", "port", "client"),
    [
        (KUBE_SCHEDULER, 10259, "admin"),
        (KUBE_CONTROLLER_MANAGER, 10257, "admin"),
        (PROMETHEUS, 9090, "prometheus-client"),
    ],
)
def test_a_component_is_asked_with_a_certificate_that_it_accepts(
    name: ComponentName, port: int, client: str
) -> None:
    asked = with_certificate(f"https://127.0.0.1:{port}/metrics", client)

    assert page(name) == HostPage(page=asked, server_name="localhost")


def test_etcd_is_asked_at_its_socket_where_this_host_has_it() -> None:
    at_socket = HttpProbe(url="http://localhost/metrics", socket=PATHS.etcd_socket)
    at_port = with_certificate("https://127.0.0.1:2379/metrics", "etcd-client")

    assert page(ETCD) == HostPage(page=at_socket)
    assert page(ETCD, in_containers=True) == HostPage(page=at_port)


def test_the_controller_is_asked_with_its_token() -> None:
    asked = HttpProbe(url="http://127.0.0.1:10247/metrics")

    assert page(KWOK_CONTROLLER) == HostPage(page=asked, token=PATHS.controller_token)

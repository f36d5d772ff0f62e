""""""

from pathlib import Path, PurePosixPath

import pytest

from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KWOK_CONTROLLER,
    KWOK_KUBELET,
    PROMETHEUS,
    ComponentName,
)
from runtimes.kind.pods.pod_settings import KindSite

SITE = KindSite(shares_sockets=True)
SOCKET = Path("/home/me/run/etcd.sock")


def test_files_that_the_node_sees_have_the_same_path_as_on_the_host() -> None:
    assert SITE.path(Path("/home/me/pki")) == PurePosixPath("/home/me/pki")


def test_a_socket_is_offered_only_where_it_works() -> None:
    assert SITE.socket(SOCKET) == PurePosixPath(SOCKET)
    assert KindSite(shares_sockets=False).socket(SOCKET) is None


@pytest.mark.parametrize(
    ("dialler", "address"),
    [
        (None, "127.0.0.1:32764"),
        (KWOK_CONTROLLER, "127.0.0.1:32764"),
        (KUBE_CONTROLLER_MANAGER, "localhost:6443"),
    ],
)
def test_pods_of_the_node_dial_each_other_there_and_the_host_dials_published_ports(
    dialler: ComponentName | None, address: str
) -> None:
    assert SITE.address(KUBE_APISERVER, 32764, dialler=dialler) == address


def test_pods_of_the_node_dial_what_is_on_this_host_by_its_name() -> None:
    assert SITE.address(KWOK_KUBELET, 32763, dialler=PROMETHEUS) == "host.kwokctl.internal:32763"


def test_in_the_node_components_listen_where_kubeadm_has_them_listen() -> None:
    assert SITE.bind(ETCD) == "0.0.0.0"
    assert SITE.port(ETCD, 32765) == 2379


def test_the_controller_listens_on_this_host() -> None:
    assert SITE.bind(KWOK_CONTROLLER) == "127.0.0.1"
    assert SITE.port(KWOK_CONTROLLER, 32763) == 32763

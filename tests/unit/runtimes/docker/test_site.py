from pathlib import Path, PurePosixPath

import pytest

from kwokctl.model import ETCD, KUBE_APISERVER, KWOK_CONTROLLER, ComponentName
from runtimes.docker.site import DockerSite

SITE = DockerSite(shares_sockets=True)
SOCKET = Path("/home/me/run/etcd.sock")


def test_what_is_mounted_lies_where_it_lies_on_the_host() -> None:
    assert SITE.path(Path("/home/me/pki")) == PurePosixPath("/home/me/pki")


def test_a_socket_is_offered_only_where_it_works() -> None:
    assert SITE.socket(SOCKET) == PurePosixPath(SOCKET)
    assert DockerSite(shares_sockets=False).socket(SOCKET) is None


@pytest.mark.parametrize(
    ("dialler", "address"),
    [
        (None, "127.0.0.1:6443"),
        (KWOK_CONTROLLER, "127.0.0.1:6443"),
        (ETCD, "kube-apiserver:6443"),
    ],
)
def test_containers_dial_names_and_the_host_dials_published_ports(
    dialler: ComponentName | None, address: str
) -> None:
    assert SITE.address(KUBE_APISERVER, 6443, dialler=dialler) == address


def test_only_what_is_in_a_network_of_its_own_listens_on_all_addresses() -> None:
    assert SITE.bind(ETCD) == "0.0.0.0"
    assert SITE.bind(KWOK_CONTROLLER) == "127.0.0.1"

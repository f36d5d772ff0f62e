""""""

from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from runtimes.kind.kubelet_certificates import certify, mounts, node_names


def read(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_the_authority_of_the_cluster_certifies_every_node_by_its_name(tmp_path: Path) -> None:
    certify(tmp_path, ["kwok-dev-control-plane", "kwok-dev-worker"])

    leaf = read(tmp_path / "kind-kubelet.crt")
    builder = PolicyBuilder().store(Store([read(tmp_path / "ca.crt")]))
    for name in ("kwok-dev-control-plane", "kwok-dev-worker"):
        builder.build_server_verifier(x509.DNSName(name)).verify(leaf, [])
    with pytest.raises(VerificationError):
        builder.build_server_verifier(x509.IPAddress(ip_address("172.18.0.2"))).verify(leaf, [])


def test_the_certificate_stays_until_there_is_another_node(tmp_path: Path) -> None:
    certify(tmp_path, ["a"])
    first = read(tmp_path / "kind-kubelet.crt")

    certify(tmp_path, ["a"])
    assert read(tmp_path / "kind-kubelet.crt") == first

    certify(tmp_path, ["a", "b"])
    assert read(tmp_path / "kind-kubelet.crt") != first


def test_nodes_cannot_change_the_files(tmp_path: Path) -> None:
    assert all(each["readOnly"] for each in mounts(tmp_path))


@pytest.mark.parametrize(
    ("roles", "names"),
    [
        (["control-plane"], ["p-control-plane"]),
        (
            ["control-plane", "worker", "worker", "worker"],
            ["p-control-plane", "p-worker", "p-worker2", "p-worker3"],
        ),
    ],
)
def test_nodes_are_numbered_from_the_second_of_a_role_on(
    roles: list[str], names: list[str]
) -> None:
    nodes: list[dict[str, Any]] = [{"role": role} for role in roles]

    assert node_names("p", nodes) == names

""""""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from kwokctl.model import ETCD, Artifact, Component, Mount
from runtimes.kind.pods.pod_manifests import mended

ROOT = Path("/home/me/.kwok/clusters/dev")
MADE_BEFORE: dict[str, Any] = {
    "kind": "Pod",
    "metadata": {"name": "etcd"},
    "spec": {
        "containers": [
            {
                "name": "etcd",
                "command": [
                    "etcd",
                    "--listen-peer-urls=unix:///home/me/.kwok/clusters/dev/run/peer.sock",
                    "--quota-backend-bytes=1",
                ],
                "image": "etcd:3",
                "volumeMounts": [{"name": "kwok-0", "mountPath": "/pki"}],
            }
        ],
        "hostNetwork": True,
        "volumes": [{"name": "kwok-0", "hostPath": {"path": str(ROOT / "pki")}}],
    },
}
"""As kubeadm has made it for a former kwokctl, in short."""
COMPONENT = Component(
    name=ETCD,
    artifact=Artifact(name=ETCD, version="3"),
    args=(
        "--listen-peer-urls=unix://peer.sock",
        "--client-cert-allowed-hostname=etcd",
        "--quota-backend-bytes=2",
    ),
    mounts=(Mount(host_path=ROOT / "pki", mount_path=PurePosixPath("/pki")),),
)


def container(pod: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = pod["spec"]["containers"][0]
    return found


def test_an_abstract_socket_becomes_a_file_in_the_pods_own_folder() -> None:
    pod = mended(MADE_BEFORE, COMPONENT, ROOT)

    assert container(pod)["command"] == [
        "etcd",
        "--quota-backend-bytes=1",
        "--listen-peer-urls=unix://peer.sock",
        "--client-cert-allowed-hostname=etcd",
    ]
    assert container(pod)["workingDir"] == "/tmp"
    assert container(pod)["volumeMounts"] == [
        {"name": "kwok-0", "mountPath": "/pki"},
        {"name": "scratch", "mountPath": "/tmp"},
    ]
    assert pod["spec"]["volumes"] == [
        {"name": "kwok-0", "hostPath": {"path": str(ROOT / "pki")}},
        {"name": "scratch", "emptyDir": {}},
    ]


def test_all_else_stays_and_once_is_enough() -> None:
    pod = mended(MADE_BEFORE, COMPONENT, ROOT)

    assert pod["metadata"] == MADE_BEFORE["metadata"]
    assert container(pod)["image"] == "etcd:3"
    assert pod["spec"]["hostNetwork"] is True
    assert mended(pod, COMPONENT, ROOT) is pod

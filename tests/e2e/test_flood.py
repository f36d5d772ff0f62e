"""What a stranger's flood does to the ports of kwokctl: their memory, and what their owner gets meanwhile."""

import http.client
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.flood import FLOODS, flooded, forget_peak, peak
from tests.support.installed import Installed, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(900, func_only=True),
]

KUBELET, CONTROLLER = "kwok-kubelet", "kwok-controller"
_MANY = 80
"""Connections that make a flood."""
_MOST = 200
"""Megabytes that it may take: half a megabyte for each connection, which TLS has for itself."""
_PATIENCE = 200.0
"""Seconds: on a busy machine the flood has most of the processor."""


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Iterator[Installed]:
    words = ("--etcd-fsync", "off", "--wait", "180s", "--disable", "kube-scheduler")
    installed.ok("create", "cluster", *words)
    yield installed
    installed.ok("delete", "cluster")


@pytest.fixture(scope="module")
def ports(cluster: Installed) -> Mapping[str, int]:
    components = cluster.components()
    return {name: components[name]["ports"][0]["hostPort"] for name in (KUBELET, CONTROLLER)}


def folder(cluster: Installed) -> Path:
    return next(cluster.folder.rglob("pki/ca.crt")).parent.parent


def asked_as_owner(cluster: Installed, component: str, port: int) -> int:
    """Return the status of an answer that only the owner of the cluster gets."""
    at = ("127.0.0.1", port)
    if component == CONTROLLER:
        token = (folder(cluster) / "kwok-controller.token").read_text().strip()
        connection = http.client.HTTPConnection(*at, timeout=_PATIENCE)
        connection.request("GET", "/seen", headers={"Authorization": f"Bearer {token}"})
    else:
        pki = folder(cluster) / "pki"
        context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        connection = http.client.HTTPSConnection(*at, timeout=_PATIENCE, context=context)
        connection.request("GET", "/metrics")
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def connections(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@pytest.mark.parametrize(
    ("component", "is_secret", "kind"),
    [
        *((KUBELET, True, kind) for kind in FLOODS),
        *((CONTROLLER, False, kind) for kind in FLOODS),
        # Without TLS its port is the controller's but for who is answered what.
        (KUBELET, False, "requests"),
        (KUBELET, False, "requests with a credential"),
    ],
)
def test_a_flood_takes_little_memory_and_the_owner_is_still_answered(
    cluster: Installed, ports: Mapping[str, int], component: str, is_secret: bool, kind: str
) -> None:
    pid, port = cluster.pids()[component], ports[component]
    forget_peak(pid)
    before = peak(pid)
    with flooded(port, kind, is_secret=is_secret) as dialled:
        until("the flood is there", lambda: dialled() > _MANY)
        for _ in range(2):
            assert asked_as_owner(cluster, component, port) == 200
    assert peak(pid) - before < _MOST
    until("its connections are closed", lambda: connections(pid) < _MANY)
    assert asked_as_owner(cluster, component, port) == 200
    assert "Traceback" not in cluster.ok("logs", component)

"""With the original's defaults the controller's port answers what it does there."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from tests.support.direct import PODS_ON_NODES
from tests.support.installed import Installed

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

PAGE = "/metrics/nodes/node-000000/metrics/resource"


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Iterator[Installed]:
    words = ("--compat", "kwokctl", "--bind-address", "127.0.0.1", "--etcd-fsync", "off")
    installed.ok("create", "cluster", "--wait", "180s", *words, *PODS_ON_NODES)
    installed.ok("scale", "node", "--replicas", "1")
    installed.wait_for("Ready", "node/node-000000")
    yield installed
    installed.ok("delete", "cluster")


def port(cluster: Installed) -> int:
    return int(cluster.components()["kwok-controller"]["ports"][0]["hostPort"])


def answer(cluster: Installed, path: str) -> str:
    url = f"http://127.0.0.1:{port(cluster)}{path}"
    with urllib.request.urlopen(url, timeout=60) as found:
        return str(found.read().decode())


def test_metrics_are_there_without_a_credential(cluster: Installed) -> None:
    assert "kwok_controller" in answer(cluster, "/metrics")
    assert "node_cpu_usage_seconds_total" in answer(cluster, PAGE)


def test_discovery_leads_to_pages_that_are_there(cluster: Installed) -> None:
    [target] = json.loads(answer(cluster, "/discovery/prometheus"))

    assert target["targets"] == [f"127.0.0.1:{port(cluster)}"]
    assert target["labels"]["__scheme__"] == "http"
    assert target["labels"]["__metrics_path__"] == PAGE


def test_all_else_asks_for_a_credential(cluster: Installed) -> None:
    for path in ("/stages", "/kubelet", "/seen"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            answer(cluster, path)
        refused.value.close()
        assert refused.value.code == 401


def test_tls_is_refused_at_once(cluster: Installed) -> None:
    context = ssl.create_default_context()
    with pytest.raises(OSError, match=r"."):
        urllib.request.urlopen(f"https://127.0.0.1:{port(cluster)}/", context=context, timeout=9)

"""The GPUs of fake nodes, as clients of dcgm-exporter, Prometheus and the summary see them."""

import json
import os
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from kwokctl.fleet.devices import GPU
from tests.support.installed import Installed, until
from tests.support.listeners import listeners_of
from tests.support.places import Place, opened
from tests.support.prometheus import NoPrometheusError, PrometheusOf, chosen
from tests.support.stranger import Stranger

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900, func_only=True)]

NODE = "dgx-h100-000000"
PAGE = f"/metrics/nodes/{NODE}/dcgm"
JOB = "nvidia-dcgm-exporter"
HELD = 2
"""GPUs of the pod: the lowest of its node."""
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "train",
        "annotations": {
            "kwok.x-k8s.io/usage-nvidia.com-gpu": "50%",
            "kwok.x-k8s.io/usage-cpu": "250m",
            "kwokctl.dev/life": "kubelet",
        },
    },
    "spec": {
        "nodeName": NODE,
        "containers": [
            {"name": "app", "image": "x", "resources": {"limits": {GPU: str(HELD)}}},
        ],
    },
}


@pytest.fixture(scope="module", params=["binary"])
def place(request: pytest.FixtureRequest, programs: None) -> Iterator[Place]:
    """Processes of this machine."""
    with opened(request) as place:
        yield place


@pytest.fixture(scope="module")
def cluster(place: Place, installed: Installed) -> Iterator[Installed]:
    try:
        words = (*chosen(place), "--prometheus-interval", "2")
    except NoPrometheusError:
        words = ()
    place.create(installed, "--disable", "kube-scheduler", "--etcd-fsync", "off", *words)
    installed.ok("scale", "dgx-h100", "--replicas", "2", "--wait")
    installed.ok("scale", "m6i-4xlarge", "--replicas", "1", "--wait")
    installed.apply(POD)
    installed.wait_for("Ready", "pod/train")
    yield installed
    installed.ok("delete", "cluster")


@pytest.fixture(scope="module")
def prometheus(place: Place, cluster: Installed) -> PrometheusOf:
    try:
        chosen(place)
    except NoPrometheusError as e:
        pytest.skip(f"no Prometheus: {e}")
    return PrometheusOf.running(cluster)


def answer(cluster: Installed, path: str, *, known: bool = True) -> str:
    """Return what the kubelet server answers, to the owner of the cluster or to somebody unknown."""
    pki = next(cluster.folder.rglob("pki/ca.crt")).parent
    context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    if known:
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    port = cluster.found("node", NODE)["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
    with urllib.request.urlopen(
        f"https://localhost:{port}{path}", context=context, timeout=60
    ) as found:
        return str(found.read().decode())


def refused(cluster: Installed, path: str, *, known: bool) -> int:
    """Return the status with which a request is refused, 0 if it is answered."""
    try:
        answer(cluster, path, known=known)
    except urllib.error.HTTPError as e:
        with e:
            return e.code
    return 0


def value(page: str, name: str, gpu: int) -> float:
    found = re.search(rf'^{name}{{gpu="{gpu}",.*}} (\S+)$', page, re.MULTILINE)
    assert found is not None
    return float(found[1])


def is_used(page: str) -> bool:
    return 'pod="train"' in page


def test_a_page_shows_what_each_gpu_does_and_for_whom(cluster: Installed) -> None:
    until("the pod is seen", lambda: is_used(answer(cluster, PAGE)))
    page = answer(cluster, PAGE)
    assert [value(page, "DCGM_FI_DEV_GPU_UTIL", n) for n in range(8)] == [50.0] * HELD + [0.0] * 6
    assert value(page, "DCGM_FI_DEV_POWER_USAGE", 7) < value(page, "DCGM_FI_DEV_POWER_USAGE", 0)
    used = [line for line in page.splitlines() if is_used(line)]
    assert len(used) == 25 * HELD
    assert f'Hostname="{NODE}"' in used[0]
    assert 'container="app",namespace="default"' in used[0]


def test_energy_grows_with_time(cluster: Installed) -> None:
    name = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
    before = value(answer(cluster, PAGE), name, 0)
    until("more is consumed", lambda: value(answer(cluster, PAGE), name, 0) > before)


def test_the_summary_has_the_same_gpus(cluster: Installed) -> None:
    until("the pod is seen", lambda: is_used(answer(cluster, PAGE)))
    page = answer(cluster, PAGE)
    [pod] = json.loads(answer(cluster, f"/stats/nodes/{NODE}/summary"))["pods"]
    [container] = pod["containers"]
    for each in container["accelerators"]:
        assert f'UUID="{each["id"]}"' in page
        assert (each["model"], each["dutyCycle"]) == ("NVIDIA H100 80GB HBM3", 50)
    assert len(container["accelerators"]) == HELD
    assert container["cpu"]["usageNanoCores"] == 250_000_000


def test_nvidia_smi_says_the_same(cluster: Installed) -> None:
    until("the pod is seen", lambda: is_used(answer(cluster, PAGE)))
    query = "--query-gpu=utilization.gpu,memory.used,uuid"
    words = ("nvidia-smi", query, "--format=csv,noheader,nounits")
    said = cluster.kubectl("exec", "train", "--", *words).splitlines()
    page = answer(cluster, PAGE)
    assert len(said) == HELD
    for gpu, line in enumerate(said):
        utilization, used, uuid = line.split(", ")
        assert float(utilization) == value(page, "DCGM_FI_DEV_GPU_UTIL", gpu)
        assert float(used) == value(page, "DCGM_FI_DEV_FB_USED", gpu)
        assert f'gpu="{gpu}",UUID="{uuid}"' in page


def test_a_missing_gpu_has_no_series_until_it_is_back(cluster: Installed) -> None:
    lost = '{gpu="3"'
    cluster.annotate("node", NODE, "kwokctl.dev/device-health=missing=3")
    until("its series are gone", lambda: lost not in answer(cluster, PAGE))
    assert answer(cluster, PAGE).count('XID_ERRORS{gpu="') == 7
    cluster.annotate("node", NODE, "kwokctl.dev/device-health-")
    until("they are back", lambda: lost in answer(cluster, PAGE))


def test_a_node_without_gpus_has_no_page(cluster: Installed) -> None:
    assert refused(cluster, "/metrics/nodes/m6i-4xlarge-000000/dcgm", known=True) == 404


def test_nobody_without_a_right_learns_what_gpus_do(cluster: Installed) -> None:
    for path in (PAGE, f"{PAGE}?counters=all", "/discovery/prometheus"):
        assert refused(cluster, path, known=False) == 401


def test_another_user_of_the_machine_learns_nothing_of_gpus(cluster: Installed) -> None:
    if os.geteuid():
        pytest.skip("only root can try it as another user")
    pids = {pid for pid, words in cluster.processes().items() if "kwokctl.kubelet" in words}
    listeners = listeners_of(pids)
    assert {each.pid for each in listeners} == pids
    assert Stranger().answered(listeners, [f"GET {PAGE}", "GET /healthz"]) != []
    assert Stranger().answered(listeners, [f"GET {PAGE}"]) == []


def test_prometheus_has_one_target_for_each_node_with_gpus(prometheus: PrometheusOf) -> None:
    until("they are up", lambda: prometheus.states().get(JOB) == {"up"})
    found = prometheus.found(f'up{{job="{JOB}"}}')
    assert {each["metric"]["node"] for each in found} == {NODE, "dgx-h100-000001"}


def test_prometheus_knows_who_uses_a_gpu(prometheus: PrometheusOf) -> None:
    query = 'sum by (pod, node) (DCGM_FI_DEV_GPU_UTIL{pod!=""})'
    until("the pod is measured", lambda: prometheus.found(query))
    [found] = prometheus.found(query)
    assert found["metric"] == {"pod": "train", "node": NODE}
    assert float(found["value"][1]) == 50 * HELD


def test_counters_go_on_when_the_pod_is_gone(cluster: Installed) -> None:
    until("the pod is seen", lambda: is_used(answer(cluster, PAGE)))
    before = value(answer(cluster, PAGE), "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", 0)
    cluster.delete("pod", "train", "--now")
    until("the GPU is idle", lambda: not is_used(answer(cluster, PAGE)))
    page = answer(cluster, PAGE)
    assert value(page, "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", 0) >= before > 0
    assert value(page, "DCGM_FI_DEV_GPU_UTIL", 0) == 0

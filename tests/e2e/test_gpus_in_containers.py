"""A fleet of GPUs whose control plane runs in containers: the steps of the tutorial, on two machines."""

import re
import ssl
import urllib.request
from collections.abc import Iterator

import pytest

from kwokctl.fleet.allocations import allocations_of
from kwokctl.fleet.devices import GPU
from tests.support.changing import documents
from tests.support.installed import Installed
from tests.support.places import Place, opened

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]

CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one-gpu}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: claimant}
spec:
  containers: [{name: train, image: train, resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimName: one-gpu}]
"""


@pytest.fixture(scope="module", params=[pytest.param("docker", marks=pytest.mark.docker)])
def place(request: pytest.FixtureRequest, programs: None) -> Iterator[Place]:
    """A runtime whose API server and scheduler are not processes of this machine."""
    with opened(request) as place:
        yield place


@pytest.fixture(scope="module")
def cluster(place: Place, installed: Installed) -> Iterator[Installed]:
    place.create(installed, "--stage", "pod-kubelet")
    installed.ok("scale", "dgx-h100", "--replicas", "2", "--wait")
    without_plugin = '.dra = true | del(.allocatable["nvidia.com/gpu"])'
    one = ("--replicas", "1", "--param", without_plugin)
    installed.ok("scale", "dgx-h100", "claimed", *one, "--wait")
    limits = {"resources": {"limits": {GPU: "8"}}}
    spec = {"containers": [{"name": "worker", "image": "x", **limits}]}
    installed.run_pod("worker", spec)
    installed.wait_for("Ready", "pod/worker")
    yield installed
    installed.ok("delete", "cluster")


def test_a_container_has_gpus_and_sees_them(cluster: Installed) -> None:
    own = [each.device_id for each in allocations_of(cluster.found("pod", "worker"))]
    listed = cluster.kubectl("exec", "worker", "--", "nvidia-smi", "-L")

    assert len(set(own)) == 8
    assert re.findall(r"UUID: (GPU-[-0-9a-f]+)", listed) == own


def test_the_kubelet_server_tells_who_has_them(cluster: Installed) -> None:
    node = cluster.found("pod", "worker")["spec"]["nodeName"]
    port = cluster.found("node", node)["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
    pki = next(cluster.folder.rglob("pki/ca.crt")).parent
    context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    url = f"https://localhost:{port}/metrics/nodes/{node}/dcgm"

    with urllib.request.urlopen(url, context=context, timeout=60) as answer:
        page = answer.read().decode()

    assert len(re.findall(r'^DCGM_FI_DEV_FB_USED{.*pod="worker"', page, re.MULTILINE)) == 8


def test_a_claim_is_allocated(cluster: Installed) -> None:
    cluster.apply(*documents(CLAIM))
    cluster.wait_for("Ready", "pod/claimant")

    allocation = cluster.found("resourceclaim", "one-gpu")["status"]["allocation"]
    (result,) = allocation["devices"]["results"]
    assert result["driver"] == "gpu.nvidia.com"
    assert result["pool"].startswith("claimed-")
    assert cluster.found("pod", "claimant")["spec"]["nodeName"] == "claimed-000000"

"""What `kwokctl doctor` and `kwokctl status` say of a controller that does not work in time."""

import json
from typing import Any

import pytest

from tests.support import changing
from tests.support.direct import PODS_ON_NODES
from tests.support.installed import Installed, until
from tests.support.stage_documents import stage

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

TICKS = stage(
    "pod-ticks",
    phase=None,
    delay={"durationMilliseconds": 200},
    template='{phase: Running, message: "{{ Now }}"}',
)
"""Has the controller write each pod again and again."""
PODS = 5
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"generateName": "ticking-"},
    "spec": {"nodeName": "node-000000", "containers": [{"name": "c", "image": "i"}]},
}


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Installed:
    """A cluster whose controller always has something to write."""
    cluster = installed.called("late")
    stages = cluster.folder / "stages.yaml"
    stages.write_text(json.dumps(TICKS))
    cluster.ok("create", "cluster", "--wait", "--config", str(stages), *PODS_ON_NODES)
    cluster.create(changing.service_account("default"))
    cluster.ok("scale", "node", "--replicas", "1")
    for _ in range(PODS):
        cluster.create(POD)
    until(
        "the pods run",
        lambda: [pod["status"]["phase"] for pod in cluster.objects("pods")] == ["Running"] * PODS,
    )
    return cluster


def examined(cluster: Installed) -> dict[str, Any]:
    """Return what each check of the cluster has seen, by its name."""
    # To read all programs of the user's store takes long, and is tested elsewhere.
    without = str(cluster.folder / "no-cache")
    checks = json.loads(cluster.run("doctor", "-o", "json", XDG_CACHE_HOME=without).out)[
        "ofCluster"
    ]
    return {each["check"]: each for each in checks}


def findings(cluster: Installed, check: str) -> list[tuple[str, str]]:
    return [(each["what"], each["remedy"]) for each in examined(cluster)[check]["findings"]]


def is_well(cluster: Installed) -> bool:
    seen = examined(cluster)
    return not seen["components"]["findings"] and not seen["controller"]["findings"]


def test_a_controller_that_is_late_is_found(cluster: Installed) -> None:
    until("all is well", lambda: is_well(cluster))
    found: list[tuple[str, str]] = []

    def is_late() -> bool:
        found[:] = findings(cluster, "controller")
        return bool(found)

    with cluster.paused("kube-apiserver"):
        # What it writes straight to etcd meanwhile is not shown by any watch.
        until("it is late", is_late)
        shown = cluster.run("status").out
    [(what, remedy)] = found
    assert what.startswith("the controller sees changes ")
    assert what.endswith(" s late")
    assert remedy == "'kube-apiserver' is not ready: fix that first"
    assert "the controller sees changes" in shown
    until("all is well again", lambda: is_well(cluster))


def test_a_controller_that_does_nothing_is_found(cluster: Installed) -> None:
    with cluster.paused("kwok-controller"):
        seen = examined(cluster)
    [found] = seen["components"]["findings"]
    assert found["what"] == "'kwok-controller' runs, but is not ready"
    assert found["remedy"] == "kwokctl --name late logs kwok-controller --tail 20"
    assert seen["controller"]["state"].startswith("not checked")
    until("all is well again", lambda: is_well(cluster))

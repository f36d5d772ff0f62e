"""Controllers of another make in place of the embedded one: the original, and one that plays nothing."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import changing
from tests.support.direct import PODS_ON_NODES
from tests.support.go_programs import built_from
from tests.support.installed import Installed, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(3600, func_only=True),
]
IDLE = """#!{python}
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass

[address] = [each for each in sys.argv if each.startswith("--server-address=")]
host, _, port = address.partition("=")[2].rpartition(":")
print("this controller plays nothing", file=sys.stderr, flush=True)
HTTPServer((host, int(port)), Answer).serve_forever()
"""
WAYS = {
    "usual": (),
    "all": (
        "--stage",
        "pod-general,pod-chaos",
        "--stage",
        "pod-run-to-completion,node-boot,node-chaos",
    ),
    "compatible": ("--compat", "kwokctl"),
}


@pytest.fixture(scope="module")
def original(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    module = f"sigs.k8s.io/kwok@{request.param}"
    return built_from(module, "./cmd/kwok", tmp_path_factory.mktemp("kwok"))


@pytest.mark.parametrize(
    ("original", "way"),
    [
        *(("v0.8.0", way) for way in WAYS),
        # The version matters where it has Stages of its own, or is given other ones.
        *(("v0.7.0", way) for way in ("usual", "all")),
    ],
    indirect=["original"],
    scope="module",
)
def test_the_original_makes_nodes_ready_and_runs_pods(
    installed: Installed, original: Path, way: str
) -> None:
    cluster = installed.called(f"original-{way}")
    program = ("--kwok-controller-binary", str(original))
    cluster.ok("create", "cluster", *program, *WAYS[way], *PODS_ON_NODES, "--wait")
    assert cluster.objects("nodes") == []
    cluster.create(changing.service_account("default"))
    cluster.ok("scale", "node", "--replicas", "2")
    cluster.run_pod("p", {"nodeName": "node-000001"})

    until("the pod runs", lambda: _pod(cluster)["status"]["phase"] == "Running")
    cluster.wait_for("Ready", *(f"node/{name}" for name in cluster.names("nodes")))
    assert len(cluster.objects("nodes")) == 2
    assert _pod(cluster)["status"]["podIP"]
    assert "is not defined" not in cluster.ok("logs", "kwok-controller")
    cluster.delete("pod", "p")
    cluster.ok("delete", "cluster")


def test_one_that_plays_nothing_is_no_cluster(installed: Installed, tmp_path: Path) -> None:
    idle = tmp_path / "idle"
    idle.write_text(IDLE.format(python=sys.executable))
    idle.chmod(0o755)
    cluster = installed.called("idle")

    done = cluster.run(
        "create", "cluster", "--kwok-controller-binary", str(idle), "--wait", "10s", *PODS_ON_NODES
    )

    assert done.code != 0
    assert "has not made a node Ready after 10 s" in done.err
    assert "this controller plays nothing" in done.err
    assert "idle" not in cluster.run("get", "clusters").out


def _pod(cluster: Installed) -> Any:
    return cluster.found("pod", "p")

"""Exec, cp, attach and port-forward, with kubectl and a real API server, over SPDY and WebSocket.

kubectl speaks WebSocket to the API server, or SPDY if a setting says so or it is older. The API server passes WebSocket on to
a node that declares that it can do so, and speaks SPDY to others.
"""

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.installed import Finished, Installed, end, until
from tests.support.kubelet_documents import populate
from tests.support.speaking import WAYS, speaking

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

FEATURE = "ExtendWebSocketsToKubelet"
NODES = {"translated": [], "passed-on": [FEATURE]}
"""Nodes by what the API server does with WebSocket, and the features that they declare for that."""


@pytest.fixture(scope="module")
def cluster(with_documents: Installed) -> Installed:
    cluster = with_documents
    (cluster.folder / "attached.log").touch()
    nodes = populate(cluster)
    for (pod, features), node in zip(NODES.items(), nodes, strict=True):
        _declare(cluster, node, features)
        _place(cluster, pod, node)
    _place(cluster, "closed", node)
    return cluster


def _declare(cluster: Installed, node: str, features: list[str]) -> None:
    patch = json.dumps({"status": {"declaredFeatures": features}})
    cluster.patch("node", node, "--subresource=status", "--type=merge", "-p", patch)


def _place(cluster: Installed, name: str, node: str) -> None:
    containers = [{"name": "main", "image": "busybox"}]
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"nodeName": node, "containers": containers},
    }  # fmt: skip
    cluster.create(pod)
    cluster.wait_for("Ready", f"pod/{name}")


@pytest.fixture(params=NODES)
def pod(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """Say what kubectl speaks to the API server."""
    name: str = request.param
    return name


def execute(cluster: Installed, pod: str, *words: str, way: str, stdin: str = "") -> Finished:
    flags = ("-i",) if stdin else ()
    return speaking(cluster, way).run("kubectl", "exec", *flags, pod, "--", *words, stdin=stdin)


def test_a_command_runs_with_output_errors_and_exit_code(
    cluster: Installed, pod: str, way: str
) -> None:
    script = 'echo "$GREETING $POD_NAME"; pwd; echo err >&2; exit 7'

    done = execute(cluster, pod, "sh", "-c", script, way=way)

    assert done.out == f"hello {pod}\n{cluster.folder}\n"
    # kubectl logs a line when the API server's first, empty, message comes before it listens.
    assert "err" in done.err.splitlines()
    assert done.code == 7


def test_input_and_its_end_reach_a_command(cluster: Installed, pod: str, way: str) -> None:
    text = "0123456789" * 200_000

    done = execute(cluster, pod, "cat", way=way, stdin=text)

    assert (done.code, done.out == text) == (0, True)


def test_files_are_copied_both_ways(cluster: Installed, pod: str, way: str, tmp_path: Path) -> None:
    there, back = cluster.folder / f"there-{pod}", tmp_path / "back"
    given = tmp_path / "given"
    given.write_bytes(os.urandom(100_000))

    for source, target in ((given, f"{pod}:{there}"), (f"{pod}:{there}", back)):
        done = speaking(cluster, way).run("kubectl", "cp", str(source), str(target))
        assert done.code == 0, done.err

    assert there.read_bytes() == back.read_bytes() == given.read_bytes()
    there.unlink()


def test_what_no_document_allows_is_refused_with_a_sentence(cluster: Installed, way: str) -> None:
    done = execute(cluster, "closed", "true", way=way)

    assert done.code == 1
    assert "no document of kind Exec or ClusterExec allows commands in container 'main'" in done.err


def test_a_container_shows_what_it_writes_from_now_on(cluster: Installed, pod: str) -> None:
    log = cluster.folder / "attached.log"
    follower = cluster.start("kubectl", "attach", pod)
    is_over = threading.Event()

    def write() -> None:
        while not is_over.wait(0.1):
            with log.open("a") as file:
                file.write("2026-01-01T00:00:00Z stdout F written\n")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert follower.stdout
        assert follower.stdout.readline() == "written\n"
    finally:
        is_over.set()
        writer.join()
        follower.kill()
        follower.communicate()


@contextmanager
def forwarding(cluster: Installed, pod: str, way: str) -> Iterator[int]:
    """Forward a port of this machine to a pod while inside; yields the port."""
    follower = speaking(cluster, way).start("kubectl", "port-forward", pod, ":80")
    try:
        assert follower.stdout
        said = follower.stdout.readline()
        assert said.startswith("Forwarding from 127.0.0.1:"), said
        yield int(said.split("127.0.0.1:")[1].split()[0])
    finally:
        end(follower)


def test_connections_to_a_port_are_forwarded(cluster: Installed, pod: str, way: str) -> None:
    with forwarding(cluster, pod, way) as port:
        for number in range(3):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
                connection.sendall(b"hello %d" % number)
                connection.shutdown(socket.SHUT_WR)
                with connection.makefile("rb") as answer:
                    assert answer.read() == b"HELLO %d" % number


def test_the_api_server_has_used_both_ways(cluster: Installed) -> None:
    metrics = cluster.kubectl("get", "--raw", "/metrics")
    used = [line for line in metrics.splitlines() if "websocket_streaming_requests_total{" in line]

    for way in ("proxied_to_kubelet", "translated_at_apiserver"):
        for verb in ("exec", "attach", "portforward"):
            assert any(way in line and verb in line for line in used), (way, verb)


def test_a_command_ends_with_kubectl(cluster: Installed, pod: str) -> None:
    noted = cluster.folder / f"pid-{pod}"
    script = f"echo $$ > {noted}.new; mv {noted}.new {noted}; sleep 600"
    follower = cluster.start("kubectl", "exec", pod, "--", "sh", "-c", script)
    until("the command runs", noted.exists)

    end(follower)

    pid = noted.read_text().strip()
    until("the command has ended", lambda: not Path(f"/proc/{pid}").exists())

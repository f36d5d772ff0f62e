"""What containers answer, by custom resources of a real cluster that speaks only SPDY to kubelets.

The API server's gate for WebSocket to kubelets is off, as in releases before 1.36.
"""

import json
import socket
import ssl
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokctl.config.document_kinds import FOR_KUBELET
from tests.support import changing
from tests.support.direct import PODS_ON_NODES
from tests.support.installed import Installed, condition, end, until
from tests.support.speaking import WAYS, speaking

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

GATE = "ExtendWebSocketsToKubelet"
LINES = 250_000
"""Together more than what buffers on the way to a reader hold."""


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Iterator[Installed]:
    installed.ok(
        "create", "cluster", "--enable-crds", ",".join(sorted(FOR_KUBELET)),
        "--kube-feature-gates", f"{GATE}=false", "--etcd-fsync", "off", "--wait", *PODS_ON_NODES,
    )  # fmt: skip
    installed.create(changing.service_account("default"))
    installed.ok("scale", "node", "--replicas", "1")
    for name in ("web", "other"):
        installed.run_pod(name, {"nodeName": "node-000000"})
    installed.wait_for("Ready", *(f"pod/{name}" for name in installed.names("pods")))
    yield installed
    installed.ok("delete", "cluster")


def document(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def apply(cluster: Installed, *documents: dict[str, Any]) -> None:
    cluster.apply(*documents)


def until_logged(cluster: Installed, text: str) -> None:
    """Wait until the kubelet server has written a text into its log."""
    log = cluster.workdir / "clusters" / cluster.name / "logs" / "kwok-kubelet.log"
    until(f"the log has '{text}'", lambda: text in log.read_text())


def metrics(cluster: Installed, path: str) -> str:
    """Ask the kubelet server as an administrator."""
    port = cluster.components()["kwok-kubelet"]["ports"][0]["hostPort"]
    pki = next(cluster.folder.rglob("pki/ca.crt")).parent
    context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    with urllib.request.urlopen(f"https://localhost:{port}{path}", context=context) as answer:
        return str(answer.read().decode())


def test_logs_come_change_and_go_with_their_documents(cluster: Installed) -> None:
    lines = [{"generated": {"template": "all {{ .line }}", "linesPerSecond": 100}}]
    apply(cluster, document("ClusterLogs", "all", logs=lines))
    until_logged(cluster, "ClusterLogs 'all' of the cluster counts")
    assert cluster.kubectl("logs", "web").startswith("all ")

    own = document("Logs", "web", logs=[{"generated": {"template": "own {{ .line }}"}}])
    apply(cluster, own)
    until_logged(cluster, "Logs 'default/web' of the cluster counts")
    assert cluster.kubectl("logs", "web").startswith("own ")
    assert cluster.kubectl("logs", "other").startswith("all ")

    cluster.delete("logs.kwok.x-k8s.io/web", "clusterlogs/all")
    until_logged(cluster, "Logs 'default/web' of the cluster is gone")
    until_logged(cluster, "ClusterLogs 'all' of the cluster is gone")
    assert "no Logs or ClusterLogs document" in cluster.refused("kubectl", "logs", "web")


def test_fields_that_are_unknown_are_refused_by_the_api_server(cluster: Installed) -> None:
    wrong = document("Logs", "web", logs=[{"logFile": "/a"}])

    done = cluster.run("kubectl", "apply", "-f", "-", stdin=json.dumps(wrong))

    assert done.code == 1
    assert 'unknown field "spec.logs[0].logFile"' in done.err


def test_one_that_is_wrong_is_marked_and_counts_as_absent(cluster: Installed) -> None:
    apply(
        cluster, document("ClusterLogs", "wrong", logs=[{"generated": {"template": "{{ end }}"}}])
    )

    def found() -> dict[str, Any]:
        [each] = cluster.objects("clusterlogs")
        return {"status": {}, **each}

    until("it is refused", lambda: condition(found(), "Accepted") == "False")
    [reason] = found()["status"]["conditions"]
    assert reason["message"].startswith("'spec.logs[0]' has a template that cannot be compiled")
    assert "False" in cluster.kubectl("get", "clusterlogs", "wrong")
    cluster.delete("clusterlogs", "wrong")


def test_commands_run_while_an_exec_allows_it(cluster: Installed) -> None:
    apply(cluster, document("Exec", "other", execs=[{"local": {}}]))
    until_logged(cluster, "Exec 'default/other' of the cluster counts")
    assert cluster.kubectl("exec", "other", "--", "echo", "here") == "here\n"

    cluster.delete("execs", "other")

    until_logged(cluster, "Exec 'default/other' of the cluster is gone")
    refusal = cluster.refused("kubectl", "exec", "other", "--", "true")
    assert "no document of kind Exec or ClusterExec" in refusal


@pytest.mark.parametrize("way", WAYS)
def test_input_output_errors_and_exit_code_pass(cluster: Installed, way: str) -> None:
    apply(cluster, document("ClusterExec", "all", execs=[{"local": {}}]))
    until_logged(cluster, "ClusterExec 'all' of the cluster counts")
    words = ("web", "--", "sh", "-c", "cat; echo err >&2; exit 7")

    done = speaking(cluster, way).run("kubectl", "exec", "-i", *words, stdin="in")

    assert (done.out, done.code) == ("in", 7)
    assert "err" in done.err.splitlines()


@pytest.mark.parametrize("way", WAYS)
def test_a_port_leads_where_a_document_says(cluster: Installed, way: str) -> None:
    forwards = [{"ports": [80], "command": ["tr", "a-z", "A-Z"]}]
    apply(cluster, document("ClusterPortForward", "all", forwards=forwards))
    until_logged(cluster, "ClusterPortForward 'all' of the cluster counts")
    follower = speaking(cluster, way).start("kubectl", "port-forward", "web", ":80")
    try:
        assert follower.stdout
        port = int(follower.stdout.readline().split("127.0.0.1:")[1].split()[0])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(b"hello")
            connection.shutdown(socket.SHUT_WR)
            assert connection.makefile("rb").read() == b"HELLO"
    finally:
        end(follower)


def test_the_api_server_has_spoken_no_websocket_to_the_kubelet(cluster: Installed) -> None:
    text = cluster.kubectl("get", "--raw", "/metrics")
    used = [line for line in text.splitlines() if "websocket_streaming_requests_total{" in line]

    assert any("translated_at_apiserver" in line for line in used)
    assert not any("proxied_to_kubelet" in line for line in used)


def test_usage_and_metrics_follow_their_documents(cluster: Installed) -> None:
    [node] = [each["metadata"]["name"] for each in cluster.objects("nodes")]
    family = {"name": "busy", "kind": "gauge", "dimension": "pod", "value": 'pod.Usage("cpu")'}
    labels = [{"name": "pod", "value": "pod.metadata.name"}]
    path = "/metrics/nodes/{nodeName}/busy"
    apply(
        cluster,
        document("ResourceUsage", "web", usages=[{"usage": {"cpu": {"value": "2500m"}}}]),
        document("Metric", "busy", path=path, metrics=[{**family, "labels": labels}]),
    )

    until_logged(cluster, "Metric 'busy' of the cluster counts")
    until(
        "the usage is measured",
        lambda: 'busy{pod="web"} 2.5' in metrics(cluster, path.replace("{nodeName}", node)),
    )


def test_many_lines_pass_whole_and_in_order_beside_a_reader_that_is_cut_off(
    cluster: Installed, tmp_path: Path
) -> None:
    file, expected = (
        tmp_path / "log",
        "".join(f"line {number:07} {'.' * 40}\n" for number in range(LINES)),
    )
    prefix = "2026-01-01T00:00:01Z stdout F "
    file.write_text("".join(f"{prefix}{line}\n" for line in expected.splitlines()))
    apply(cluster, document("Logs", "other", logs=[{"logsFile": str(file)}]))
    until_logged(cluster, "Logs 'default/other' of the cluster counts")
    slow = cluster.start("kubectl", "logs", "other", "--follow")
    assert slow.stdout
    assert slow.stdout.readline().startswith("line 0000000 ")

    whole = cluster.kubectl("logs", "other")

    slow.kill()
    slow.communicate()
    assert whole == expected
    last = cluster.kubectl("logs", "other", "--tail", "2").splitlines()[-1]
    assert last.startswith(f"line {LINES - 1:07} ")


def test_they_count_after_a_restart_before_the_cluster_is_ready(cluster: Installed) -> None:
    assert cluster.objects("clusterexecs")
    cluster.ok("stop", "cluster")
    cluster.ok("start", "cluster", "--wait")

    assert cluster.ok("kubectl", "exec", "other", "--", "echo", "here") == "here\n"

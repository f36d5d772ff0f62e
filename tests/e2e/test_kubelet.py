"""The kubelet server behind a real API server: logs as kubectl shows them, and who may ask for them."""

import json
import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.support.installed import Installed, until
from tests.support.kubelet_documents import populate

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

POD = "pod-000000"
WRITTEN = """\
2026-01-01T00:00:01Z stdout F first
2026-01-01T00:00:02,5+00:00 stderr F second"""
DOCKER = """\
{"log":"one\\n","stream":"stdout","time":"2026-01-01T00:00:01Z"}
{"log":"two\\n","stream":"stderr","time":"2026-01-01T00:00:02Z"}
"""


@pytest.fixture(scope="module")
def cluster(with_documents: Installed) -> Installed:
    cluster = with_documents
    (cluster.folder / "written.log").write_text(WRITTEN)
    (cluster.folder / "docker.log").write_text(DOCKER)
    populate(cluster)
    cluster.ok("scale", "pod", "--replicas", "3", "--on-nodes", "type=kwok", "--wait", "180s")
    return cluster


def asked(cluster: Installed, **headers: str) -> int:
    """Return the status that the kubelet server answers to somebody who asks for a log."""
    port = cluster.components()["kwok-kubelet"]["ports"][0]["hostPort"]
    context = ssl.create_default_context(cafile=str(pki(cluster) / "ca.crt"))
    url = f"https://localhost:{port}/containerLogs/default/{POD}/container-0?tailLines=1"
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, context=context, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as e:
        return e.code


def pki(cluster: Installed) -> Path:
    return next(cluster.folder.rglob("pki/ca.crt")).parent


def test_generated_lines_are_shown_as_kubectl_wants_them(cluster: Installed) -> None:
    first, second = cluster.kubectl("logs", POD, "--tail", "2").splitlines()

    number = int(first.rsplit(" ", 1)[1])
    assert (first, second) == (f"{POD} line {number}", f"{POD} line {number + 1}")
    assert cluster.kubectl("logs", POD, "--limit-bytes", "12") == f"{POD} l"
    assert cluster.kubectl("logs", POD, "--timestamps", "--tail", "1")[10] == "T"
    assert len(cluster.kubectl("logs", POD, "--since", "1s").splitlines()) <= 41


def test_a_log_is_followed_line_by_line(cluster: Installed) -> None:
    follower = cluster.start("kubectl", "logs", "--follow", "--tail", "1", POD)
    try:
        assert follower.stdout
        lines = [follower.stdout.readline() for _ in range(30)]
    finally:
        follower.kill()
        follower.communicate()

    numbers = [int(line.rsplit(" ", 1)[1]) for line in lines]
    assert numbers == list(range(numbers[0], numbers[0] + 30))


def test_following_ends_with_the_pod(cluster: Installed) -> None:
    cluster.run_pod("short", {"nodeName": "node-000000"})
    cluster.wait_for("Ready", "pod/short")
    follower = cluster.start("kubectl", "logs", "--follow", "short")
    assert follower.stdout
    assert follower.stdout.readline() == "short line 0\n"

    cluster.delete("pod", "short", "--now")

    follower.communicate(timeout=120)
    assert follower.returncode == 0


def test_a_file_is_shown_as_kubectl_wants_it(cluster: Installed) -> None:
    assert cluster.kubectl("logs", "pod-000001") == "first\nsecond\n"
    assert (
        cluster.kubectl("logs", "pod-000001", "--since-time", "2026-01-01T00:00:02Z") == "second\n"
    )
    assert cluster.kubectl("logs", "pod-000001", "--timestamps", "--tail", "1") == (
        "2026-01-01T00:00:02.500000000Z second\n"
    )
    assert cluster.kubectl("logs", "pod-000002") == "one\ntwo\n"
    assert "previous terminated" in cluster.refused("kubectl", "logs", "-p", "pod-000001")


def test_each_node_declares_its_kubelet_and_answers_at_a_loopback_address_of_its_own(
    cluster: Installed,
) -> None:
    context = ssl.create_default_context(cafile=str(pki(cluster) / "ca.crt"))
    context.load_cert_chain(pki(cluster) / "admin.crt", pki(cluster) / "admin.key")
    context.check_hostname = False

    for node in cluster.objects("nodes"):
        status, name = node["status"], node["metadata"]["name"]
        assert status["declaredFeatures"] == [
            "ExtendWebSocketsToKubelet",
            "RestartAllContainersOnContainerExits",
        ]
        internal = next(a["address"] for a in status["addresses"] if a["type"] == "InternalIP")
        port = status["daemonEndpoints"]["kubeletEndpoint"]["Port"]
        url = f"https://127{internal.removeprefix('198')}:{port}/stats/summary"
        with urllib.request.urlopen(url, context=context, timeout=60) as answer:
            assert json.load(answer)["node"]["nodeName"] == name


def test_nodes_say_where_their_kubelet_is_also_those_made_by_hand(cluster: Installed) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "by-hand"}}
    cluster.apply(node)
    port = cluster.components()["kwok-kubelet"]["ports"][0]["hostPort"]

    def tells() -> bool:
        found = cluster.found("node", "by-hand")["status"]
        known = {each["type"]: each["address"] for each in found.get("addresses", [])}
        return known.get("kwokctl.dev/Kubelet") == "localhost" and (
            known["InternalIP"] == "198.19.255.254"
            and found["daemonEndpoints"]["kubeletEndpoint"]["Port"] == port
        )

    until("the node has the kubelet's address", tells)
    cluster.delete("node", "by-hand")


def test_nobody_without_a_right_gets_a_log(cluster: Installed) -> None:
    token = cluster.kubectl("create", "token", "default").strip()

    assert asked(cluster) == 401
    assert asked(cluster, Authorization="Bearer worthless") == 401
    assert asked(cluster, Authorization=f"Bearer {token}") == 403
    cluster.kubectl(
        "create", "clusterrolebinding", "reads", "--clusterrole=system:kubelet-api-admin",
        "--serviceaccount=default:default",
    )  # fmt: skip
    other = cluster.kubectl("create", "token", "default").strip()
    # The refusal before is remembered for half a minute, of the same user.
    until(
        "the right is seen",
        lambda: asked(cluster, Authorization=f"Bearer {other}") == 200,
    )


def test_a_certificate_of_another_authority_gets_no_answer(
    cluster: Installed, tmp_path: Path
) -> None:
    pair = ("-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "crt"))
    subject = ("-subj", "/O=system:masters/CN=kwok-admin", "-days", "1")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *pair, *subject],
        check=True,
        capture_output=True,
    )
    context = ssl.create_default_context(cafile=str(pki(cluster) / "ca.crt"))
    context.load_cert_chain(tmp_path / "crt", tmp_path / "key")
    port = cluster.components()["kwok-kubelet"]["ports"][0]["hostPort"]
    url = f"https://localhost:{port}/containerLogs/default/{POD}/container-0"

    with pytest.raises(OSError, match=r".") as caught:
        urllib.request.urlopen(url, context=context, timeout=60)
    assert not isinstance(caught.value, urllib.error.HTTPError)


def test_stopping_the_cluster_ends_its_commands(cluster: Installed) -> None:
    noted = cluster.folder / "pid"
    script = f"echo $$ > {noted}.new; mv {noted}.new {noted}; sleep 600"
    follower = cluster.start("kubectl", "exec", POD, "--", "sh", "-c", script)
    until("the command runs", noted.exists)

    cluster.ok("stop", "cluster")

    follower.communicate(timeout=120)
    pid = noted.read_text().strip()
    until("the command has ended", lambda: not Path(f"/proc/{pid}").exists())

"""The life of a cluster, the same in every runtime: each step stands on those before it."""

import json
import os
import shutil
import signal
import ssl
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.support.collector import collecting, traced_by
from tests.support.installed import Installed, listens, until
from tests.support.listeners import listeners_of
from tests.support.node_proxy import answer_of_node_proxy
from tests.support.on_kind import PATIENCE, fake_nodes
from tests.support.open_paths import DISCOVERY, answered, open_to_all
from tests.support.places import Place, opened
from tests.support.ports import free_port
from tests.support.snapshot_verbs import VERBS, changes_are_rewound
from tests.support.stranger import Stranger, certified

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story(by="place"),
    pytest.mark.timeout(600, func_only=True),
]

NODES, PODS = 100, 20

CONTAINERS = """\
kind: ClusterLogs
metadata: {name: all}
spec: {logs: [{generated: {template: "{{ .pod }} writes line {{ .line }}", linesPerSecond: 5}}]}
---
kind: ClusterExec
metadata: {name: all}
spec: {execs: [{local: {}}]}
"""
"""What the containers of pods answer."""

PATCH = """\
---
kind: KwokctlConfiguration
componentsPatches:
- name: kube-scheduler
  extraArgs: [{{key: v, value: 1}}]
  extraEnvs: [{{name: GODEBUG, value: gctrace=1}}]
  extraVolumes: [{{hostPath: {folder}, mountPath: {folder}, readOnly: true}}]
"""
"""What is different about the scheduler."""
SCHEDULER = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler}, {schedulerName: picky}]
"""

COLLECTOR = free_port()
"""The port of a collector of spans on this machine."""
TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture(
    scope="module",
    params=[
        "binary",
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("podman", marks=pytest.mark.podman),
        pytest.param("kind", marks=pytest.mark.kind),
        pytest.param("kind-podman", marks=[pytest.mark.kind, pytest.mark.podman]),
    ],
)
def place(request: pytest.FixtureRequest, programs: None) -> Iterator[Place]:
    """A runtime, with an engine of the tests' own if it needs one."""
    with opened(request) as place:
        yield place


@pytest.fixture(scope="module")
def main(place: Place, installed: Installed) -> Iterator[Installed]:
    main = installed.called(place.name)
    folder = main.folder / "given"
    folder.mkdir(exist_ok=True)
    scheduler, documents = folder / "scheduler.yaml", main.folder / "containers.yaml"
    scheduler.write_text(SCHEDULER)
    documents.write_text(CONTAINERS + PATCH.format(folder=folder))
    # On the others containers reach nodes without it; here its socket is one more listener to try.
    node_proxy = () if place.command else ("--node-proxy",)
    place.create(
        main, "--config", str(documents), "--kube-scheduler-config", str(scheduler), *node_proxy,
        "--tracing-endpoint", f"127.0.0.1:{COLLECTOR}", "--tracing-sampling-rate-per-million", "0",
    )  # fmt: skip
    yield main
    if main.name in main.ok("get", "clusters").split():
        # A step has failed; the engine is another module's next.
        main.run("delete", "cluster", "--force")


def test_every_component_is_ready_and_reached_on_this_machine_only(
    place: Place, main: Installed
) -> None:
    assert main.statuses() == {"Ready"}
    assert place.found() == place.containers(main)
    assert all(listens(port) for port in main.ports())
    if place.command is not None:
        assert "0.0.0.0" not in "".join(place.command.words("ps", "--format", "{{.Ports}}"))


@pytest.mark.parametrize("shows", ["nothing", "a token", "a certificate"])
def test_another_user_of_the_machine_is_answered_only_what_is_open_to_all(
    place: Place, main: Installed, tmp_path: Path, shows: str
) -> None:
    if os.geteuid():
        pytest.skip("only root can try it as another user")
    found = answered(main, _stranger(main, shows, tmp_path))

    expected = open_to_all(place, main.components())
    if shows != "nothing":
        expected["kube-apiserver"] |= DISCOVERY
    assert found == expected


def _stranger(main: Installed, shows: str, folder: Path) -> Stranger:
    """Return a user that the API server knows, or not, and that may do nothing there."""
    match shows:
        case "a token":
            return Stranger(token=main.kubectl("create", "token", "default").strip())
        case "a certificate":
            # Its name must not make it the front proxy, whose headers say who asks.
            return certified(main, folder, "front-proxy-client")
        case _:
            return Stranger()


def test_a_request_that_is_traced_has_spans_of_the_api_server_and_of_etcd(
    place: Place, main: Installed
) -> None:
    with collecting(f"{place.host(main)}:{COLLECTOR}") as collector:
        until(
            "both have sent spans",
            partial(traced_by, ("apiserver", "etcd"), main, collector, TRACE),
        )
    found = {(span.trace, span.cluster, span.service) for span in collector.spans()}
    assert found == {(TRACE, main.name, service) for service in ("apiserver", "etcd")}


def test_nodes_and_pods_come_to_life(place: Place, main: Installed) -> None:
    main.ok("scale", "node", "--replicas", str(NODES), "--wait")
    main.kubectl("create", "deployment", "web", "--image=nginx", f"--replicas={PODS}")
    main.kubectl("rollout", "status", "deployment/web", "--timeout=180s")

    pods = main.objects("pods")
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * PODS
    assert {pod["spec"]["nodeName"] for pod in pods}.isdisjoint(place.containers(main))
    assert "writing statuses and leases to etcd" in main.ok("logs", "kwok-controller")


def test_status_shows_all_of_a_cluster(place: Place, main: Installed) -> None:
    seen = json.loads(main.ok("status", "-o", "json"))

    assert seen["status"] == "Ready"
    assert {*seen["usage"]} == {component["name"] for component in seen["components"]}
    assert all(usage["memory"] > 10_000_000 for usage in seen["usage"].values())
    assert seen["nodes"]["byStatus"] == {"Ready": NODES + place.has_node}
    assert seen["pods"]["byStatus"]["Running"] >= PODS
    assert 0 < seen["etcd"]["inUse"] <= seen["etcd"]["size"] < seen["etcd"]["quota"]
    assert "pod-ready" in seen["controller"]["stages"]
    assert seen["problems"] == []


def test_the_scheduler_is_as_its_patch_and_its_configuration_say(main: Installed) -> None:
    main.kubectl("run", "one", "--image=nginx", '--overrides={"spec":{"schedulerName":"picky"}}')
    main.kubectl("wait", "pod/one", "--for=condition=Ready", "--timeout=60s")
    main.kubectl("delete", "pod", "one")

    log = main.ok("logs", "kube-scheduler")
    assert 'FLAG: --v="1"' in log
    # Go writes a line of its trace in pieces, between which other lines may come.
    assert " MB goal, " in log


def test_etcdctl_reaches_etcd_by_its_port(place: Place, main: Installed) -> None:
    keys = main.ok("etcdctl", "get", "--prefix", "--keys-only", "/registry/minions/").split()

    assert len(keys) == NODES + place.has_node


def test_logs_are_read_and_followed(main: Installed) -> None:
    assert "etcd-version" in main.ok("logs", "etcd")

    follower = main.start("logs", "-f", "kube-apiserver")
    try:
        assert follower.stdout
        assert follower.stdout.readline()
    finally:
        follower.kill()
        follower.communicate()


def test_logs_are_exported_without_secrets(place: Place, main: Installed, tmp_path: Path) -> None:
    main.ok("export", "logs", str(tmp_path))
    folder = tmp_path / main.name
    files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
    found = {str(file.relative_to(folder)) for file in files}

    names = main.components()
    assert {"kwok.yaml", f"{place.runtime}-info.txt"} <= found
    assert {f"components/{name}.log" for name in names} <= found
    assert all((folder / "components" / f"{name}.log").stat().st_size for name in names)
    node = f"{place.runtime}/kwok-{main.name}-control-plane/kubelet.log"
    assert (node in found) is place.has_node
    exported = b"".join(file.read_bytes() for file in files)
    assert not [secret for secret in main.secrets() if secret in exported]


def test_a_port_leads_to_a_component_until_it_is_interrupted(main: Installed) -> None:
    forward = main.start("port-forward", "kube-scheduler", "0:https")
    assert forward.stdout is not None
    line = forward.stdout.readline()
    port = int(line.removeprefix("Forwarding from 127.0.0.1:").split()[0])
    unchecked = ssl._create_unverified_context()
    with urlopen(f"https://127.0.0.1:{port}/healthz", context=unchecked) as answer:
        assert answer.read() == b"ok"

    forward.send_signal(signal.SIGINT)
    _, said = forward.communicate(timeout=60)
    assert (forward.returncode, said) == (130, "")
    assert not listens(port)


def test_a_container_has_logs(main: Installed) -> None:
    name = main.objects("pods")[0]["metadata"]["name"]

    lines = main.kubectl("logs", name, "--tail", "2").splitlines()

    assert [line.rsplit(" ", 1)[0] for line in lines] == [f"{name} writes line"] * 2


def test_a_command_runs_for_a_container(main: Installed) -> None:
    name = main.objects("pods")[0]["metadata"]["name"]

    done = main.run("kubectl", "exec", "-i", name, "--", "sh", "-c", "cat; exit 5", stdin="hello")

    assert (done.out, done.code) == ("hello", 5)


@pytest.mark.parametrize("component", ["etcd", "kube-apiserver", "kwok-controller"])
def test_the_end_of_a_log_and_what_is_young_in_it_are_shown_alone(
    main: Installed, component: str
) -> None:
    last = main.ok("logs", component, "--tail", "1")
    whole = main.ok("logs", component)

    assert last.count("\n") == 1
    assert last in whole
    first = whole.splitlines()[0]
    assert main.ok("logs", component, "--since", "24h").splitlines()[0] == first
    # The first line was written before this command began.
    assert first not in main.ok("logs", component, "--since", "0s")

    follower = main.start("logs", "--follow", "--tail", "1", component)
    try:
        assert follower.stdout
        assert follower.stdout.readline() in main.ok("logs", component)
    finally:
        follower.kill()
        follower.communicate()


def test_the_node_proxy_of_the_api_server_reaches_the_kubelet_server(main: Installed) -> None:
    assert answer_of_node_proxy(main) == "ok"


def test_the_node_proxy_tells_what_the_node_in_question_uses(place: Place, main: Installed) -> None:
    if place.command:
        pytest.skip("there all nodes have the address of the kubelet server")
    for name in ("node-000003", "node-000007"):
        reported = json.loads(
            main.kubectl("get", "--raw", f"/api/v1/nodes/{name}/proxy/stats/summary")
        )
        assert reported["node"]["nodeName"] == name


def test_what_has_changed_since_a_mark_is_as_it_was(main: Installed) -> None:
    changes_are_rewound(main)


@pytest.mark.parametrize("verb", VERBS)
def test_a_snapshot_of_objects_is_taken_and_played(main: Installed, verb: str) -> None:
    VERBS[verb](main)


def test_what_was_lost_comes_back_from_a_snapshot(main: Installed) -> None:
    path = str(main.folder / "saved.db")
    main.ok("snapshot", "save", "--path", path)
    main.ok("scale", "node", "--replicas", "10")

    main.ok("snapshot", "restore", "--path", path, timeout=PATIENCE)

    assert fake_nodes(main) == NODES
    Path(path).unlink()


def test_a_stopped_cluster_starts_again_with_all_its_objects(place: Place, main: Installed) -> None:
    main.ok("stop", "cluster", timeout=PATIENCE)
    assert main.statuses() == {"Stopped"}
    messages = {component["message"] for component in main.components().values()}
    assert messages == {"stopped by 'stop cluster'"}
    assert "was stopped already" in main.run("stop", "cluster", timeout=PATIENCE).err
    assert "start it with: kwokctl start cluster" in main.refused("kubectl", "get", "nodes")
    assert place.found("--filter", "status=running") == []
    assert "etcd-version" in main.ok("logs", "etcd")
    place.make_node_as_before(main)

    main.ok("start", "cluster", "--wait", "240s", timeout=PATIENCE)

    processes = main.processes()
    assert [each for each in listeners_of(processes) if each.is_abstract] == []
    assert "--client-cert-allowed-hostname=etcd" in " ".join(processes.values())

    assert main.statuses() == {"Ready"}
    assert fake_nodes(main) == NODES
    if place.command is not None:
        assert answer_of_node_proxy(main) == "ok"


def test_a_fork_lives_beside_its_source_and_the_doctor_removes_what_is_left_of_it(
    place: Place, main: Installed
) -> None:
    second = main.called(f"{main.name}-2")
    second.ok("create", "cluster", "--from", main.name, "--wait", timeout=PATIENCE)

    assert fake_nodes(second) == NODES
    assert not main.ports() & second.ports()
    assert place.found() == place.containers(main, second)
    real = {
        node["metadata"]["name"] for node in second.objects("nodes", "--selector", "type!=kwok")
    }
    assert real == (set(place.containers(second)) if place.has_node else set())
    # By the kubelet server of the fork.
    pod = second.objects("pods")[0]["metadata"]["name"]
    assert second.kubectl("logs", pod, "--tail", "1").startswith(pod)
    assert _knows(second, main.kubectl("create", "token", "default").strip())

    # As a user does who thinks that the folder is all that there is of it.
    shutil.rmtree(second.workdir / "clusters" / second.name)
    fixed = json.loads(main.run("doctor", "--fix", "-o", "json", timeout=PATIENCE).out)
    assert second.name in fixed["repaired"][0]["what"]
    assert place.found() == place.containers(main)
    assert [words for words in main.processes().values() if f"/{second.name}/" in words] == []
    assert main.statuses() == {"Ready"}


def _knows(cluster: Installed, token: str) -> bool:
    """Tell whether a cluster accepts a token."""
    review = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": {"token": token},
    }
    words = ("kubectl", "create", "-f", "-", "-o", "json")
    answer = json.loads(cluster.run(*words, stdin=json.dumps(review)).out)
    return bool(answer["status"].get("authenticated"))


def test_deleting_leaves_nothing(place: Place, main: Installed) -> None:
    main.ok("delete", "cluster", timeout=PATIENCE)

    assert place.found() == []
    assert place.remains(main) == []
    assert main.processes() == {}
    assert main.files() <= {"kubeconfig", "own.yaml", "containers.yaml", "given/scheduler.yaml"}

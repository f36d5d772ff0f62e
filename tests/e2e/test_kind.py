"""What happens to a cluster on a node of kind's: each step stands on those before it."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from kwokctl import registry
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.clusters.state.saved import load
from kwokctl.errors import KwokctlError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.json_value import Json
from kwokctl.model import KUBE_SCHEDULER, ClusterName, State
from tests.support import engines, store
from tests.support.engine_command import EngineCommand
from tests.support.gap import port_taken_in_the_gap
from tests.support.greeter import demand_refusal, folder_for_containers, page_of
from tests.support.installed import Installed, taken_port, until
from tests.support.measured_runs import report_of
from tests.support.node_image import NoImageError, node_image
from tests.support.on_kind import OWN, PATIENCE, create, fake_nodes, own_file

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.kind,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

NODE = "kwok-main-control-plane"
IN_NODE = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
NOWHERE = "unix:///nowhere/engine.sock"
docker = EngineCommand("docker")

WAITING = """\
- |
  kind: InitConfiguration
  metadata:
    name: config
  timeouts:
    controlPlaneComponentHealthCheck: {seconds}s
    kubeletHealthCheck: {seconds}s
    kubernetesAPICall: {seconds}s
"""
"""How long kubeadm waits; minutes by default."""
IMPATIENT = WAITING.format(seconds=20)
PATIENT = WAITING.format(seconds=90)
"""Until a busy machine has started, and ended, a component."""

WRONG_KUBELET = """\
- |
  kind: KubeletConfiguration
  metadata:
    name: config
  maxPods: -17
"""
"""Refused before the kubelet looks for its container runtime, which a busy machine has late."""

ON_FAKE = {"spec": {"nodeSelector": {"type": "kwok"}, "tolerations": [{"operator": "Exists"}]}}

AUDIT = """\
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Metadata
"""


@pytest.fixture(scope="module")
def daemon(own_docker: engines.Daemon) -> Iterator[engines.Daemon]:
    """An engine of the tests' own: it is restarted in the story."""
    with engines.named(own_docker, "DOCKER_HOST") as daemon:
        yield daemon


@pytest.fixture(scope="module")
def image(daemon: engines.Daemon, programs: None) -> Path:
    try:
        return asyncio.run(node_image(nullcontext(daemon.url)))
    except (NoImageError, KwokctlError) as e:
        pytest.skip(f"no image of a node: {e}")


@pytest.fixture(scope="module")
def own(installed: Installed) -> str:
    """A file with the user's own configuration of kind."""
    return own_file(installed)


BESIDE = """\
kind: KwokctlConfiguration
components:
- name: beside
  binary: {program}
  args: [proxy, --port=0]
  links: [kube-apiserver]
"""
"""A component of the user's own; what it answers is not looked at."""


@pytest.fixture(scope="module")
def main(installed: Installed, image: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    main = installed.called("main")
    kubectl = asyncio.run(store.program("kubectl", DEFAULT_KUBE_VERSION))
    beside = main.folder / "beside.yaml"
    beside.write_text(BESIDE.format(program=kubectl))
    words = ("--kind-node-image", str(image), "--config", str(beside))
    add_on = folder_for_containers(tmp_path_factory.mktemp("add-on"))
    create(main, *words, "--enable", str(add_on), "--memory-limit", "etcd=2Gi", "--wait")
    main.ok("scale", "node", "--replicas", "100", "--wait")
    return main


def test_a_limit_reaches_a_pod_that_kubeadm_makes(main: Installed) -> None:
    words = ("-n", "kube-system", "-o", "jsonpath={.spec.containers[0].resources}")

    found = json.loads(main.kubectl("get", "pod", f"etcd-{NODE}", *words))

    assert found["limits"] == {"memory": str(2 * 1024**3)}
    assert found["requests"]["memory"] == "0"


def test_a_component_of_the_users_own_is_a_static_pod_of_the_node(main: Installed) -> None:
    (pod,) = main.objects(
        "pods", "-n", "kube-system", "--field-selector", f"metadata.name=beside-{NODE}"
    )

    assert main.components()["beside"]["status"] == "Ready"
    assert pod["status"]["phase"] == "Running"
    assert "Starting to serve" in main.ok("logs", "beside")


def test_an_add_on_is_a_static_pod_and_its_webhook_is_asked(main: Installed) -> None:
    assert page_of(main) == "hello from main\n"
    demand_refusal(main)


def patched(patches: str) -> str:
    """Return the user's own configuration with more patches for kubeadm."""
    return f"{OWN}kubeadmConfigPatches:\n{patches}"


def test_the_users_configuration_of_kind_is_applied(main: Installed) -> None:
    (node,) = main.objects("nodes", "--selector", "type!=kwok")

    assert node["metadata"]["name"] == NODE
    assert node["metadata"]["labels"]["from"] == "the-user"


def test_new_nodes_name_the_controllers_address_before_their_first_heartbeat(
    main: Installed,
) -> None:
    main.ok("scale", "node", "fresh", "--replicas", "1", "--wait")
    (node,) = main.objects("nodes", "--selector", "kwok.x-k8s.io/kwokctl-scale=fresh")
    main.ok("scale", "node", "fresh", "--replicas", "0", "--wait")

    assert "kwokctl.dev/Kubelet" in {each["type"] for each in node["status"]["addresses"]}


def test_the_api_server_verifies_the_kubelets_of_real_and_fake_nodes(main: Installed) -> None:
    main.kubectl("run", "fake", "--image", "x", f"--overrides={json.dumps(ON_FAKE)}")
    main.kubectl("wait", "--for=condition=Ready", "pod/fake", "--timeout=120s")
    real = main.kubectl("logs", "-n", "kube-system", f"kube-apiserver-{NODE}", "--tail", "1")
    fake = main.run("kubectl", "logs", "fake")

    assert real
    # The kubelet server has answered.
    assert "no Logs or ClusterLogs document" in fake.out + fake.err, fake


@pytest.mark.parametrize("by", ["name", "kubeconfig"])
def test_a_command_is_measured_by_the_clusters_name_and_by_its_kubeconfig(
    main: Installed, tmp_path: Path, by: str
) -> None:
    kubeconfig, web = tmp_path / "kubeconfig", tmp_path / "web.json"
    kubeconfig.write_text(main.ok("get", "kubeconfig"))
    web.write_text(json.dumps(deployment(f"by-{by}", 20)))
    chosen = ("--kubeconfig", str(kubeconfig)) if by == "kubeconfig" else ()
    words = (*chosen, "--", "kubectl", "create", "-f", str(web))

    report = report_of(main, tmp_path / "run.gz", *words, timeout=PATIENCE)

    main.kubectl("delete", "deployment", f"by-{by}")
    until("its pods are gone", lambda: not main.objects("pods", "-l", f"app=by-{by}"))
    assert report["verdict"]["passed"], report["verdict"]
    figures = report["figures"]
    counts = [figures[f"pods.{name}"]["value"]["value"] for name in ("created", "bound", "running")]
    assert counts == [20, 20, 20]
    assert figures["pods.created_to_bound"]["value"]["count"] > 0
    whose = "the cluster 'main'" if by == "name" else f"the cluster of '{kubeconfig}'"
    assert report["conditions"]["cluster"] == whose
    assert report["conditions"].get("runtime") == ("kind" if by == "name" else None)


def deployment(name: str, replicas: int) -> dict[str, Json]:
    """Return a Deployment whose pods run on fake nodes."""
    labels = {"app": name}
    pod = {**ON_FAKE["spec"], "containers": [{"name": "x", "image": "x"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def test_a_kubelet_with_a_certificate_for_another_node_is_refused(main: Installed) -> None:
    """The real kubelet answers there, but the node says another name than the certificate does."""
    (real,) = main.objects("nodes", "--selector", "type!=kwok")
    addresses = {each["type"]: each["address"] for each in real["status"]["addresses"]}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "foreign"},
        "status": {
            "addresses": [{"type": "InternalIP", "address": addresses["InternalIP"]}],
            "daemonEndpoints": real["status"]["daemonEndpoints"],
        },
    }
    main.kubectl("create", "-f", "-", stdin=json.dumps(node))
    pinned = json.dumps({"spec": {"nodeName": "foreign"}})
    main.kubectl("run", "foreign", "--image", "x", f"--overrides={pinned}")

    said = main.refused("kubectl", "logs", "foreign")

    main.kubectl("delete", "pod", "foreign", "--force", "--grace-period=0")
    main.kubectl("delete", "node", "foreign")
    assert "certificate" in said
    assert addresses["InternalIP"] in said


async def test_the_port_holds_as_with_any_runtime(main: Installed) -> None:
    """What `tests/contract` says of every runtime, as far as kubeadm's components can show it."""
    host, name = Host(WorkDir(main.workdir)), ClusterName("main")
    runtime = registry.load("kind", host)
    saved = load(host.cluster(name), name)
    running = dict.fromkeys(saved.names, State.RUNNING)

    for _ in range(2):
        await runtime.install(saved.plan(runtime, host.cluster(name)))
        await runtime.start(name)
    assert await runtime.states(name) == running

    for _ in range(2):
        await runtime.stop(name, KUBE_SCHEDULER)
    assert await runtime.states(name) == {**running, KUBE_SCHEDULER: State.STOPPED}

    for _ in range(2):
        await runtime.start(name, KUBE_SCHEDULER)
    assert await runtime.states(name) == running


def test_a_second_cluster_lives_beside_the_first_without_what_was_switched_off(
    main: Installed, own: str
) -> None:
    policy = main.folder / "policy.yaml"
    policy.write_text(AUDIT)
    second = main.called("second")
    create(
        second,
        "--disable", "kube-scheduler,kube-controller-manager",
        "--kube-audit-policy", str(policy),
        "--kube-feature-gates", "MutatingAdmissionPolicy=true",
        "--extra-args", "kube-apiserver=v=3",
        "--wait",
    )  # fmt: skip

    assert set(second.components()) == {"etcd", "kube-apiserver", "kwok-controller", "kwok-kubelet"}
    assert second.statuses() == {"Ready"}
    running = " ".join(docker.words("top", "kwok-second-control-plane", "-ww", "-eo", "pid,args"))
    assert "kube-scheduler" not in running
    assert "kube-controller-manager" not in running
    assert "--feature-gates=MutatingAdmissionPolicy=true" in running
    assert "--v=3" in running
    assert '"kind":"Event"' in second.ok("logs", "audit")
    assert not main.ports() & second.ports()

    second.ok("delete", "cluster", timeout=PATIENCE)
    assert docker.containers() == [NODE]


def test_a_worker_of_the_users_own_configuration_joins(main: Installed, image: Path) -> None:
    with_worker = main.called("joined")
    given = main.folder / "worker.yaml"
    given.write_text(f"{OWN}- role: worker\n")
    # What is not needed for joining is left out.
    words = ("--kind-node-image", str(image), "--disable", "kube-scheduler", "--wait")
    with_worker.ok(
        "--config", str(given), "create", "cluster", "--runtime", "kind", *words, timeout=PATIENCE
    )

    names = {"kwok-joined-control-plane", "kwok-joined-worker"}
    assert {each["metadata"]["name"] for each in with_worker.objects("nodes")} == names
    with_worker.ok("delete", "cluster", timeout=PATIENCE)
    assert docker.containers() == [NODE]


def test_create_reports_a_taken_port_and_leaves_nothing_behind(main: Installed, own: str) -> None:
    third = main.called("third")
    with taken_port() as port:
        said = third.refused(
            "--config", own, "create", "cluster", "--runtime", "kind", "--etcd-port", str(port),
        )  # fmt: skip
        assert str(port) in said

    assert docker.containers() == [NODE]
    assert "third" not in third.ok("get", "clusters").split()


def test_a_port_that_is_taken_between_its_choice_and_the_start_is_named(
    main: Installed, own: str
) -> None:
    third = main.called("third")
    with port_taken_in_the_gap(third) as port:
        said = third.refused(
            "--config", own, "create", "cluster", "--runtime", "kind",
            "--kube-scheduler-port", str(port),
        )  # fmt: skip

    assert f"port {port}, wanted for 'kube-scheduler', is in use by 'python" in said
    assert "end the program that uses it" in said
    assert docker.containers() == [NODE]
    assert "third" not in third.ok("get", "clusters").split()


def test_a_node_that_fails_to_start_is_reported_with_the_kubelets_log_and_nothing_is_left(
    main: Installed,
) -> None:
    broken = main.folder / "broken.yaml"
    broken.write_text(patched(IMPATIENT + WRONG_KUBELET))
    third = main.called("third")

    said = third.refused(
        "--config", str(broken), "create", "cluster", "--runtime", "kind",
        timeout=PATIENCE,
    )  # fmt: skip

    assert "kind cannot make the cluster 'kwok-third'" in said
    assert re.search("max-pods.* must not be a negative", said), said
    assert docker.containers() == [NODE]
    assert "third" not in third.ok("get", "clusters").split()


def test_create_reports_a_component_that_exits_at_once_with_its_last_log_lines(
    main: Installed,
) -> None:
    patient = main.folder / "patient.yaml"
    patient.write_text(patched(PATIENT))
    third = main.called("third")

    said = third.refused(
        "--config", str(patient), "create", "cluster", "--runtime", "kind",
        "--extra-args", "etcd=auto-compaction-mode=no-such-mode",
        timeout=PATIENCE,
    )  # fmt: skip

    assert "no-such-mode" in said.partition("etcd: ")[2], said
    assert docker.containers() == [NODE]


def test_create_reports_an_image_that_is_not_available_with_a_hint(
    main: Installed, own: str
) -> None:
    third = main.called("third")
    said = third.refused(
        "--config", own, "create", "cluster", "--runtime", "kind",
        "--kind-node-image", "127.0.0.1:1/nobody/node:v1.36.3",
    )  # fmt: skip

    assert "'127.0.0.1:1/nobody/node:v1.36.3', and it cannot be pulled" in said
    assert "KWOK_KIND_NODE_IMAGE" in said
    assert "artifacts images --runtime kind --build" in said
    assert docker.containers() == [NODE]


def test_a_killed_component_is_revived_by_the_kubelet(main: Installed) -> None:
    docker.words("exec", NODE, "pkill", "kube-scheduler")

    until("the scheduler is back", lambda: main.statuses() == {"Ready"}, patience=PATIENCE)


def test_a_removed_node_is_made_anew_and_the_data_stay(main: Installed) -> None:
    docker.words("rm", "--force", "--volumes", NODE)
    assert "Stopped" in main.statuses()

    main.ok("start", "cluster", "--wait", "240s", timeout=PATIENCE)

    assert fake_nodes(main) == 100


def test_an_engine_that_does_not_answer_is_named_with_a_remedy(main: Installed) -> None:
    for words in (("start", "cluster"), ("delete", "cluster")):
        said = main.refused(*words, DOCKER_HOST=NOWHERE)
        assert f"no container engine answers at '{NOWHERE}'" in said
        assert "DOCKER_HOST" in said


def test_a_cluster_is_started_again_after_a_restart_of_the_engine(
    main: Installed, daemon: engines.Daemon
) -> None:
    daemon.restart()
    until("the components show as Stopped", lambda: "Stopped" in main.statuses())

    main.ok("start", "cluster", "--wait", "240s", timeout=PATIENCE)

    assert main.statuses() == {"Ready"}
    assert fake_nodes(main) == 100


def test_deleting_leaves_no_container_process_or_file(main: Installed) -> None:
    given = {"own.yaml", "beside.yaml", "broken.yaml", "patient.yaml", "policy.yaml", "worker.yaml"}

    main.ok("delete", "cluster", timeout=PATIENCE)

    assert docker.containers() == []
    assert main.processes() == {}
    assert main.files() <= {"kubeconfig", *given}


def test_a_half_made_cluster_is_continued_or_deleted(main: Installed, own: str) -> None:
    making = main.start("--config", own, "create", "cluster", "--runtime", "kind")
    # Its ports are published by then.
    until("the node runs", lambda: docker.containers("--filter", "status=running") == [NODE])
    making.kill()
    making.communicate()

    main.ok("create", "cluster", "--wait", timeout=PATIENCE)
    assert main.statuses() == {"Ready"}

    (main.workdir / "clusters" / "main" / "kwok.yaml").write_text("garbled")
    main.ok("delete", "cluster", "--force", timeout=PATIENCE)
    assert docker.containers() == []


def test_elsewhere_a_configuration_of_kind_is_refused(main: Installed, own: str) -> None:
    done = main.run("--config", own, "create", "cluster", "--runtime", "binary")

    assert done.code == 2
    assert "is not for the runtime 'binary'" in done.err

"""The life of one cluster with the real components: each step builds on those before it."""

import json
import re
from collections.abc import Callable
from datetime import datetime
from os import kill
from pathlib import Path
from signal import SIGINT, SIGKILL

import pytest

from tests.support.bolt_file import database, snapshot
from tests.support.changing import documents
from tests.support.installed import (
    PATIENCE,
    Installed,
    condition,
    end,
    kubeconfig_names,
    until,
)
from tests.support.listeners import listeners_at

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

CORE = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok-controller",
    "kwok-kubelet",
]

PODS = "/api/v1/namespaces/default/pods"

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: sums}
spec:
  completions: 3
  parallelism: 3
  template:
    spec:
      restartPolicy: Never
      containers: [{name: sum, image: busybox}]
"""

SHORT_LEASES = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlConfiguration
options: {nodeLeaseDurationSeconds: 8}
"""
"""They are renewed every two seconds, and a test waits for that after everything that is done."""

EVENT = """\
apiVersion: v1
kind: Event
metadata: {generateName: told-, namespace: default}
involvedObject: {apiVersion: v1, kind: Namespace, name: default}
type: Normal
reason: Told
message: after the restore
"""


@pytest.fixture(scope="module")
def main(installed: Installed) -> Installed:
    """The cluster of the story."""
    (installed.folder / "config.yaml").write_text(SHORT_LEASES)
    main = installed.called("main")
    main.ok("create", "cluster", "--wait", *heartbeat(main))
    return main


@pytest.fixture(scope="module")
def files(installed: Installed) -> Path:
    """Where the story keeps its snapshots."""
    return installed.folder


def heartbeat(cluster: Installed) -> tuple[str, ...]:
    return ("--heartbeat-factor", "1", "--config", str(cluster.folder / "config.yaml"))


def ready_nodes(cluster: Installed) -> list[str]:
    return [
        node["metadata"]["name"]
        for node in cluster.objects("nodes")
        if condition(node, "Ready") == "True" and not node["spec"].get("taints")
    ]


def running(cluster: Installed, *words: str) -> int:
    return sum(pod["status"]["phase"] == "Running" for pod in cluster.objects("pods", *words))


def renewed(cluster: Installed, node: str) -> datetime:
    lease = cluster.found("lease", node, "-n", "kube-node-lease")
    return datetime.fromisoformat(lease["spec"]["renewTime"])


def revision(cluster: Installed) -> str:
    """Return the revision of a list of pods, from which a client would go on to watch."""
    found = json.loads(cluster.kubectl("get", "--raw", f"{PODS}?limit=1"))
    return str(found["metadata"]["resourceVersion"])


def lives_on(cluster: Installed, probe: str) -> None:
    """Check that what depends on a connection or on time goes on after a restore."""
    node = cluster.objects("nodes")[0]["metadata"]["name"]
    before = renewed(cluster, node)
    # Half as long as the lease of a controller that is gone: no command may wait for that.
    cluster.ok("scale", "pod", probe, "--replicas", "5", "--wait", "20s")
    cluster.create(*documents(EVENT))
    until("a lease is renewed", lambda: renewed(cluster, node) > before)


def test_create_waits_until_a_pod_is_accepted(main: Installed) -> None:
    main.kubectl("run", "first", "--image=busybox")

    assert kubeconfig_names(main.kubeconfig)["contexts"] == ["elsewhere", "kwok-main"]
    assert kubeconfig_names(main.kubeconfig)["current"] == "kwok-main"
    assert main.ok("get", "clusters").split() == ["main"]


def test_every_component_is_ready(main: Installed) -> None:
    components = main.components()

    assert sorted(components) == CORE
    assert {component["status"] for component in components.values()} == {"Ready"}


def test_a_hundred_nodes_are_ready_and_untainted(main: Installed) -> None:
    main.ok("scale", "node", "--replicas", "100", "--wait")

    assert len(ready_nodes(main)) == 100


def test_hundreds_of_pods_run_where_the_scheduler_put_them(main: Installed) -> None:
    main.ok("scale", "pod", "--replicas", "250", "--wait")

    pods = main.objects("pods", "-l", "kwok.x-k8s.io/kwokctl-scale=pod")
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * 250
    assert len({pod["spec"]["nodeName"] for pod in pods}) > 50
    assert len({pod["status"]["podIP"] for pod in pods}) == 250


def test_scaling_again_to_the_same_number_changes_nothing(main: Installed) -> None:
    main.ok("scale", "node", "--replicas", "100")

    assert len(main.objects("nodes")) == 100


def test_a_deployment_is_rolled_out(main: Installed) -> None:
    main.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=20")
    main.kubectl("rollout", "status", "deployment/web", "--timeout=180s")

    assert running(main, "-l", "app=web") == 20


def test_a_job_completes(main: Installed) -> None:
    main.kubectl("create", "-f", "-", stdin=JOB)
    main.kubectl("wait", "--for=condition=complete", "job/sums", "--timeout=180s")

    assert {p["status"]["phase"] for p in main.objects("pods", "-l", "job-name=sums")} == {
        "Succeeded"
    }


def test_a_pod_that_is_deleted_goes_away(main: Installed) -> None:
    main.kubectl("delete", "pod", "first", "--timeout=180s")


def test_etcdctl_reaches_the_cluster_s_etcd(main: Installed) -> None:
    keys = main.ok("etcdctl", "get", "--prefix", "--keys-only", "/registry/minions/").split()

    assert len(keys) == 100


@pytest.mark.parametrize("component", CORE)
def test_a_log_shows_work_and_nothing_forbidden(main: Installed, component: str) -> None:
    log = main.ok("logs", component)

    assert log.strip()
    assert not [line for line in log.splitlines() if "forbidden" in line.lower()]


def test_a_snapshot_is_private_and_never_overwritten(main: Installed, files: Path) -> None:
    saved = files / "saved.db"
    main.ok("snapshot", "save", "--path", str(saved))

    assert saved.stat().st_mode & 0o777 == 0o600
    assert "saved.db" in main.refused("snapshot", "save", "--path", str(saved))
    main.ok("snapshot", "save", "--path", str(saved), "--force")


def damaged(whole: bytes) -> bytes:
    """Return a snapshot whose later half is zeros, with a right sum: etcdutl panics."""
    content = whole[: len(whole) // 2 // 4096 * 4096]
    return snapshot(content + bytes(len(whole) // 4096 * 4096 - len(content)))


FAULTS: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda whole: whole[:-4096],
    "foreign": lambda _: b"not etcd's" * 10_000,
    "empty": lambda _: b"",
    "damaged": damaged,
    "of-another-etcd": lambda _: snapshot(database(["foo"])),
    "of-another-prefix": lambda _: snapshot(database(["/x/namespaces/kube-system"])),
}


@pytest.mark.parametrize("fault", [*FAULTS, "absent"])
def test_a_bad_snapshot_is_refused_with_nothing_touched(
    main: Installed, files: Path, fault: str
) -> None:
    bad = files / f"{fault}.db"
    if fault in FAULTS:
        bad.write_bytes(FAULTS[fault]((files / "saved.db").read_bytes()))
    pids = main.pids()

    assert f"{fault}.db" in main.refused("snapshot", "restore", "--path", str(bad))

    assert main.pids() == pids
    assert data_folders(main) == {"etcd"}
    assert len(main.objects("nodes")) == 100


def data_folders(cluster: Installed) -> set[str]:
    """Return the folders of a cluster that hold etcd's data, or held them, or will."""
    return {path.name for path in (cluster.workdir / "clusters" / cluster.name).glob("etcd*")}


@pytest.mark.parametrize("number", [SIGINT, SIGKILL], ids=["interrupted", "killed"])
def test_a_restore_that_does_not_end_loses_nothing(
    main: Installed, files: Path, number: int
) -> None:
    restore = main.start("snapshot", "restore", "--path", str(files / "saved.db"))
    try:
        until("data are exchanged", lambda: "etcd-before-restore" in data_folders(main))
        kill(restore.pid, number)
        said = restore.communicate(timeout=PATIENCE)[1]
    finally:
        end(restore)

    if number == SIGINT:
        assert restore.returncode == 130
        assert "interrupted" in said
        assert "the old data are back" in said
    else:
        main.ok("start", "cluster", "--wait", "180s")
        assert main.statuses() == {"Ready"}
        lives_on(main, "probe-start")
    assert data_folders(main) == {"etcd"}
    assert len(main.objects("nodes")) == 100


def lose(main: Installed) -> str:
    """Delete most of what a snapshot has; return the revision of before."""
    old = revision(main)
    main.delete("deployment", "web")
    main.ok("scale", "pod", "--replicas", "10")
    main.ok("scale", "node", "--replicas", "30")
    return old


def restore(main: Installed, files: Path, old: str, probe: str) -> None:
    """Restore the snapshot, and check that everything is there, and that who knows the old revision has to list again."""
    main.ok("snapshot", "restore", "--path", str(files / "saved.db"))

    assert len(main.objects("nodes")) == 100
    assert running(main, "-l", "app=web") == 20
    assert running(main, "-l", "kwok.x-k8s.io/kwokctl-scale=pod") == 250
    lives_on(main, probe)
    watch = f"{PODS}?watch=true&resourceVersion={old}&timeoutSeconds=5"
    answer = main.run("kubectl", "get", "--raw", watch)
    assert re.search(r'"code": ?410|too old resource version', answer.out + answer.err)


def test_what_was_lost_comes_back(main: Installed, files: Path) -> None:
    restore(main, files, lose(main), "probe-once")


def test_a_second_cluster_takes_the_snapshot_over(main: Installed, files: Path) -> None:
    second = main.called("second")
    second.ok("create", "cluster", "--wait", *heartbeat(second))
    assert second.objects("nodes") == []
    assert not main.ports() & second.ports()

    second.ok("snapshot", "restore", "--path", str(files / "saved.db"))

    until("every node is Ready again", lambda: len(ready_nodes(second)) == 100)
    assert running(second, "-l", "app=web") == 20
    lives_on(second, "probe")
    assert sorted(main.ok("get", "clusters").split()) == ["main", "second"]
    second.ok("delete", "cluster")
    assert main.ok("get", "clusters").split() == ["main"]
    assert len(main.objects("nodes")) == 100


def test_what_was_lost_comes_back_to_a_cluster_that_was_stopped_while_it_was_watched(
    main: Installed, files: Path
) -> None:
    old = lose(main)
    watcher = main.start("kubectl", "get", "pods", "-w")
    try:
        assert watcher.stdout
        assert watcher.stdout.readline()
        # Waiting for the API server's watchers takes 60 s.
        main.ok("stop", "cluster", timeout=55)
    finally:
        end(watcher)

    assert {component["status"] for component in main.components().values()} == {"Stopped"}
    until("every process has ended", lambda: not main.processes())
    restore(main, files, old, "probe-twice")


def test_a_dead_component_shows_its_last_log_lines_and_start_revives_it(main: Installed) -> None:
    pids = main.pids()
    kill(pids["kube-scheduler"], SIGKILL)

    until(
        "the scheduler shows as Stopped",
        lambda: main.components()["kube-scheduler"]["status"] == "Stopped",
    )
    assert main.components()["kube-scheduler"]["message"].strip()
    assert "Stopped" in main.ok("get", "components", "-o", "wide")

    main.ok("start", "cluster", "--wait", "180s")
    assert main.components()["kube-scheduler"]["status"] == "Ready"
    assert {**main.pids(), "kube-scheduler": 0} == {**pids, "kube-scheduler": 0}


def test_a_cluster_that_exists_is_left_as_it_is(main: Installed) -> None:
    pids = main.pids()

    other = ("create", "cluster", "--kube-feature-gates", "AllAlpha=false", "--etcd-prefix", "/x")
    done = main.run(*other)
    assert done.code == 0
    assert "AllAlpha=false" in done.err
    assert "/x" in done.err
    assert "AllAlpha=false" in main.refused(*other, "--fail-on-drift")
    assert main.run("create", "cluster", *heartbeat(main), "--fail-on-drift").code == 0

    assert main.pids() == pids


def test_a_kubeconfig_can_be_taken_elsewhere(main: Installed, files: Path) -> None:
    portable = files / "portable.yaml"
    portable.write_text(main.ok("get", "kubeconfig"))

    answer = main.kubectl("--kubeconfig", str(portable), "auth", "whoami")
    assert "kwok-admin" in answer
    assert str(main.workdir) not in portable.read_text()


def test_from_another_work_folder_its_programs_are_not_unused(main: Installed) -> None:
    stored = json.loads(main.ok("artifacts", "list", "-o", "json"))
    commands = "\n".join(main.processes().values())
    if not (used := [each for each in stored if each["path"] in commands]):
        pytest.skip("the programs of this cluster were given by path: none is of the store")

    elsewhere = str(main.folder / "elsewhere")
    done = main.run("artifacts", "prune", "--dry-run", KWOK_WORKDIR=elsewhere)

    assert done.code == 0
    # Clusters in other work folders may use the same programs.
    reasons = [line for line in done.err.splitlines() if "used by clusters in " in line]
    assert any(f"'{main.workdir}'" in reason for reason in reasons)
    assert not [each for each in used if str(Path(each["path"]).parent) in done.out]


def test_deleting_leaves_no_process_port_file_or_context(main: Installed) -> None:
    ports = main.ports()
    main.ok("measure", "start")  # and forgotten: it ends with its cluster
    own = {int(each.at.rpartition(":")[2]) for each in listeners_at(ports, main.folder)}
    assert own == set(ports)
    for path in main.folder.glob("*.db"):
        path.unlink()
    for name in ("portable.yaml", "config.yaml"):
        (main.folder / name).unlink()

    main.ok("delete", "cluster")

    until("nothing of it is left at work", lambda: main.processes() == {})
    # A cluster of another test that begins now may take a port that has become free.
    assert listeners_at(ports, main.folder) == []
    left = {each for each in main.files() if not each.startswith("work/measurements/")}
    assert left == {"kubeconfig"}
    assert kubeconfig_names(main.kubeconfig)["contexts"] == ["elsewhere"]
    assert kubeconfig_names(main.kubeconfig)["clusters"] == ["elsewhere"]
    assert kubeconfig_names(main.kubeconfig)["users"] == ["somebody"]
    assert "secret" in main.kubeconfig.read_text()
    assert main.ok("get", "clusters") == ""
    assert main.ok("delete", "cluster") == ""

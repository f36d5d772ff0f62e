"""From the words of a command to the verb it calls, and from the verb's result to what is shown."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokctl.cli.verbs.get import show_changes
from kwokctl.clusters.create import Created, CreateRequest
from kwokctl.clusters.delete import Deleted
from kwokctl.clusters.scaling.request import ScaleResult
from kwokctl.clusters.snapshot import Restored
from kwokctl.clusters.status import ClusterStatus, ComponentStatus, RunStatus
from kwokctl.config.data_path import Choice
from kwokctl.errors import BusyError, ComponentError, TimedOutError
from kwokctl.etcd.snapshots.snapshot import SavedSnapshot
from kwokctl.model import Artifact, ClusterName, ComponentName, Port
from tests.support.options import option
from tests.support.recording_runner import RecordingRunner

Words = Callable[[str], int]

ETCD = ComponentStatus(
    name=ComponentName("etcd"),
    status=RunStatus.STOPPED,
    version="3.6.16",
    ports=(Port(name="client", port=2379, host_port=32765),),
    message="first line\npanic: no space left\n",
)
CLUSTER = ClusterStatus(
    name=ClusterName("kwok"),
    maker="kwokctl (Python)",
    runtime="binary",
    kube_version="v1.36.3",
    status=RunStatus.NOT_READY,
    components=(ETCD,),
)


def created(**changes: Any) -> Created:
    values: dict[str, Any] = {
        "name": ClusterName("kwok"),
        "context": "kwok-kwok",
        "kubeconfig": Path("/home/me/.kube/config"),
        "server": "https://127.0.0.1:32764",
        "existed": False,
        "drift": (),
        "data_path": Choice(path="etcd", why="fast"),
    }
    return Created(**(values | changes))


def request_of(runner: RecordingRunner) -> CreateRequest:
    """Return the request of the only call."""
    [(verb, args, _)] = runner.calls
    assert verb == "create_cluster"
    request = args[1]
    assert isinstance(request, CreateRequest)
    return request


@pytest.mark.parametrize(
    "text",
    [
        "--name mine create cluster --wait=15m --etcd-port=2379 --disable-qps-limits=false",
        "create --name mine cluster --wait 900 --etcd-port 2379 --no-disable-qps-limits",
        "create cluster --name=mine --wait 15m0s --etcd-port=2379 --disable-qps-limits=0",
    ],
)
def test_flags_may_stand_anywhere_and_be_written_as_the_original_has_them(
    words: Words, runner: RecordingRunner, text: str
) -> None:
    runner.answers["create_cluster"] = created(name="mine")
    assert words(text) == 0
    request = request_of(runner)
    assert (request.name, request.wait) == ("mine", 900.0)
    assert option(request.resolved.options, "etcd_port") == 2379
    assert option(request.resolved.options, "disable_qps_limits") is False
    assert request.resolved.chosen == {"etcd_port", "disable_qps_limits"}


def test_without_flags_the_original_defaults_hold(
    words: Words, runner: RecordingRunner, tmp_path: Path
) -> None:
    runner.answers["create_cluster"] = created()
    assert words("create cluster") == 0
    request = request_of(runner)
    assert (request.name, request.wait, request.timeout) == ("kwok", None, None)
    assert request.kubeconfig == tmp_path / ".kube" / "config"
    assert request.resolved.chosen == frozenset()


def test_a_kubeconfig_that_is_empty_is_none(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created(kubeconfig=Path("/k/kubeconfig.yaml"))
    assert words("create cluster --kubeconfig=") == 0
    assert request_of(runner).kubeconfig is None
    assert "kubectl --kubeconfig /k/kubeconfig.yaml get nodes" in capfd.readouterr().err


def test_documents_are_read_from_the_default_file_and_from_every_config(
    words: Words, runner: RecordingRunner, tmp_path: Path
) -> None:
    def options(path: Path, text: str) -> None:
        path.parent.mkdir(exist_ok=True)
        head = "kind: KwokctlConfiguration\napiVersion: config.kwok.x-k8s.io/v1alpha1\noptions:\n"
        path.write_text(f"{head}  {text}\n", encoding="utf-8")

    options(tmp_path / "kwok" / "kwok.yaml", "etcdPort: 1")
    options(tmp_path / "a.yaml", "etcdPrefix: /a")
    options(tmp_path / "b.yaml", "etcdPrefix: /b")
    runner.answers["create_cluster"] = created()
    assert words(f"-c {tmp_path}/a.yaml create cluster --config {tmp_path}/b.yaml") == 0
    resolved = request_of(runner).resolved.options
    assert (option(resolved, "etcd_port"), option(resolved, "etcd_prefix")) == (1, "/b")


def test_afterwards_the_user_is_told_what_can_be_done(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created(name="mine", context="kwok-mine")
    assert words("--name mine create cluster --wait 1m") == 0
    assert capfd.readouterr() == (
        "",
        (
            "cluster 'mine' is ready; 'kwok-mine' is the current context. Now you can:\n"
            "  kubectl --context kwok-mine get nodes\n"
            "  kwokctl --name mine scale node --replicas 1000\n"
            "  kwokctl --name mine delete cluster\n"
            "writes: straight to etcd (fast)\n"
        ),
    )


def test_the_data_path_of_a_cluster_that_exists_is_not_repeated(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created(existed=True)
    assert words("create cluster") == 0
    assert "writes:" not in capfd.readouterr().err


def test_what_differs_from_the_request_is_told_line_by_line(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created(existed=True, drift=("--etcd-port: 1, not 2", "x"))
    assert words("create cluster --etcd-port 2") == 0
    lines = capfd.readouterr().err.splitlines()
    assert lines[:2] == [
        "warning: the cluster exists with other settings: --etcd-port: 1, not 2",
        "warning: the cluster exists with other settings: x",
    ]


def test_a_program_gets_what_was_created_as_json_alone(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created()
    assert words("create cluster -o json") == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["result"]["context"] == "kwok-kwok"
    assert err == ""


SAVED = SavedSnapshot(path=Path("a b.db"), size=40_000_000, sha256="ab")
RESTORED = Restored(path=Path("a.db"), revision=7)
SCALED = ScaleResult(kind="Node", name="node", created=990, existing=10)
PROGRAMS = {"etcd": Artifact(name="etcd", version="3.6.16", command=("/s/etcd",))}


@pytest.mark.parametrize(
    ("text", "answers", "lines"),
    [
        (
            "start cluster --wait",
            {"start_cluster": ("etcd",)},
            ["cluster 'kwok' is ready. Look at it with:", "kwokctl get components -o wide"],
        ),
        (
            "start cluster",
            {"start_cluster": ()},
            ["cluster 'kwok' runs already. Look at it with:", "kwokctl get components -o wide"],
        ),
        (
            "stop cluster --name mine",
            {"stop_cluster": ("etcd",)},
            [
                "cluster 'mine' is stopped; its data stays. Start it again with:",
                "kwokctl --name mine start cluster",
            ],
        ),
        (
            "stop cluster",
            {"stop_cluster": ()},
            [
                "cluster 'kwok' was stopped already; its data stays. Start it again with:",
                "kwokctl start cluster",
            ],
        ),
        (
            "snapshot save --path x",
            {"save_snapshot": SAVED},
            [
                "saved the cluster 'kwok' to 'a b.db' (40.0 MB). Restore it with:",
                "kwokctl snapshot restore --path 'a b.db'",
            ],
        ),
        (
            "snapshot restore --path a.db",
            {"restore_snapshot": RESTORED},
            [
                (
                    "cluster 'kwok' is restored from 'a.db'; clients must list again before they watch. "
                    "See what there is with:"
                ),
                "kwokctl kubectl get nodes,pods --all-namespaces",
            ],
        ),
        (
            "scale node --replicas 1000 --wait",
            {"scale_within": SCALED},
            [
                "'node' has 1,000 nodes, all Ready (990 created). See them with:",
                "kwokctl kubectl get nodes -l kwok.x-k8s.io/kwokctl-scale=node",
            ],
        ),
        (
            "scale pod --replicas 1 -n web",
            {"scale_within": ScaleResult(kind="Pod", name="pod", deleted=9, existing=10)},
            [
                "'pod' has 1 pod (9 deleted). See them with:",
                "kwokctl kubectl -n web get pods -l kwok.x-k8s.io/kwokctl-scale=pod",
            ],
        ),
        (
            "scale pod --replicas 0",
            {"scale_within": ScaleResult(kind="Pod", name="pod", deleted=9, existing=9)},
            ["'pod' has 0 pods (9 deleted)"],
        ),
        (
            "scale pod --replicas 0",
            {"scale_within": ScaleResult(kind="Pod", name="pod", deleted=9, existing=9, held=1)},
            [
                (
                    "'pod' has 0 pods (9 deleted); 1 more exists until its finalizers are removed. "
                    "See them with:"
                ),
                "kwokctl kubectl get pods -l kwok.x-k8s.io/kwokctl-scale=pod",
            ],
        ),
        (
            "scale pod --replicas 5",
            {"scale_within": ScaleResult(kind="Pod", name="pod", existing=5)},
            [
                "'pod' has 5 pods (nothing to do). See them with:",
                "kwokctl kubectl get pods -l kwok.x-k8s.io/kwokctl-scale=pod",
            ],
        ),
        (
            "scale pod --replicas 0",
            {"scale_within": ScaleResult(kind="Pod", name="pod", deleted=5, existing=5)},
            ["'pod' has 0 pods (5 deleted)"],
        ),
        (
            "artifacts build --kube-version v1.36.3",
            {"build": PROGRAMS},
            ["the programs for Kubernetes v1.36.3 are in the store"],
        ),
        (
            "artifacts images",
            {"stock_images": ["etcd:1"]},
            ["1 image is in the container engine"],
        ),
    ],
)
def test_a_command_that_changes_something_ends_with_a_sentence_or_a_document(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    text: str,
    answers: dict[str, Any],
    lines: list[str],
) -> None:
    runner.answers.update(answers)

    assert words(text) == 0
    assert capfd.readouterr().err.splitlines() == [lines[0], *(f"  {line}" for line in lines[1:])]

    assert words(f"{text} -o json") == 0
    out, err = capfd.readouterr()
    document = json.loads(out)
    assert list(document) == ["command", "cluster", "changed", "message", "seconds", "result"]
    assert text.startswith(document["command"])
    assert document["message"] == (lines[0].rpartition(". ")[0] or lines[0])
    assert isinstance(document["result"], dict)
    assert err == ""


def test_a_new_cluster_gets_its_nodes_and_then_its_pods(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created()
    runner.answers["scale_within"] = ScaleResult(kind="Node", name="node", created=1000)

    assert words("create cluster --nodes 1000 --pods 2000 --wait 1h") == 0

    _, *scalings = runner.calls
    requests = [args[2] for _, args, _ in scalings]
    assert [(r.kind, r.replicas, r.may_shrink) for r in requests] == [
        ("node", 1000, False),
        ("pod", 2000, False),
    ]
    assert all(3000 < r.wait <= 3600 for r in requests)
    assert "is ready with 1,000 nodes and 1,000 nodes; " in capfd.readouterr().err


def test_a_number_of_nodes_that_cannot_be_is_refused_before_there_is_a_cluster(
    words: Words, runner: RecordingRunner
) -> None:
    assert words(f"create cluster --nodes {10**260}") == 2
    assert runner.calls == []


def test_the_number_of_nodes_is_not_a_setting_of_the_cluster(
    words: Words,
    runner: RecordingRunner,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KWOK_NODES", "10")
    runner.answers["create_cluster"] = created(existed=True)
    runner.answers["scale_within"] = ScaleResult(kind="Node", name="node", existing=100)

    assert words("create cluster") == 0

    err = capfd.readouterr().err
    assert "warning: there are 100 nodes, more than '--nodes 10' asks for: none was deleted" in err


@pytest.mark.parametrize(
    ("error", "code"), [(TimedOutError("too late"), 1), (KeyboardInterrupt(2), 130)]
)
def test_a_cluster_whose_nodes_fail_stays_and_the_user_learns_how_to_go_on(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
) -> None:
    runner.answers["create_cluster"] = created()
    runner.answers["scale_within"] = error

    assert words("--name mine create cluster --nodes 5 --pods 5") == code

    assert (
        "the cluster 'mine' is running and is kept; continue with: kwokctl --name mine scale node --replicas 5"
        in capfd.readouterr().err
    )
    assert [verb for verb, _, _ in runner.calls] == ["create_cluster", "scale_within"]


def test_deleted_clusters_are_listed_for_a_program(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["delete_cluster"] = True
    assert words("delete cluster -o json") == 0
    document = json.loads(capfd.readouterr().out)
    assert (document["changed"], document["result"]["deleted"]) == (True, ["kwok"])

    runner.answers["delete_cluster"] = False
    assert words("delete cluster -o yaml") == 0
    document = yaml.safe_load(capfd.readouterr().out)
    assert (document["changed"], document["result"]["deleted"]) == (False, [])


@pytest.mark.parametrize(
    ("changes", "wait", "state"),
    [
        ({}, "", "has been started"),
        ({"existed": True}, "", "exists and runs"),
        ({"existed": True, "started": ("etcd",)}, "", "existed and has been started"),
        ({"existed": True, "started": ("etcd",)}, "--wait", "is ready"),
    ],
)
def test_a_cluster_that_existed_is_said_to(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    changes: dict[str, Any],
    wait: str,
    state: str,
) -> None:
    runner.answers["create_cluster"] = created(**changes)
    assert words(f"create cluster {wait}") == 0
    assert capfd.readouterr().err.startswith(f"cluster 'kwok' {state}; ")


def test_an_option_that_is_not_served_is_refused_before_anything_happens(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("create cluster --enable-metrics-server") == 2
    assert runner.calls == []
    assert capfd.readouterr().err == "error: '--enable-metrics-server' is not supported yet\n"


def test_a_failed_verb_is_told_with_the_log_and_exits_with_1(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = ComponentError("'etcd' has died", detail="panic: x")
    assert words("create cluster") == 1
    assert capfd.readouterr().err == "error: 'etcd' has died\noutput: panic: x\n"


def test_a_bug_keeps_its_traceback(words: Words, runner: RecordingRunner) -> None:
    runner.answers["stop_cluster"] = KeyError("x")
    with pytest.raises(KeyError):
        words("stop cluster")


def test_an_interrupt_exits_with_the_number_of_its_signal(
    words: Words, runner: RecordingRunner
) -> None:
    runner.answers["stop_cluster"] = KeyboardInterrupt(15)
    assert words("stop cluster") == 143
    runner.answers["stop_cluster"] = KeyboardInterrupt()
    assert words("stop cluster") == 130


def test_deleting_what_is_not_there_is_a_warning(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["delete_cluster"] = False
    assert words("delete cluster --force") == 0
    assert capfd.readouterr().err == "warning: there is no cluster 'kwok'\n"
    assert runner.calls[0][2]["force"] is True


def test_deleting_all_tells_what_was_left_and_fails_for_what_failed(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    busy = BusyError("the cluster 'b' is busy")
    names = (ClusterName("a"),)
    runner.answers["delete_all"] = Deleted(
        names=names, failures={ClusterName("b"): busy}, left=(ClusterName("go"),)
    )
    assert words("delete cluster --all") == 1
    assert capfd.readouterr().err.splitlines() == [
        "cluster 'a' is deleted",
        "warning: left alone, since the original kwokctl made them: 'go'",
        "delete one with 'kwokctl --name NAME delete cluster --force'",
        "error: the cluster 'b' is busy",
    ]


def test_start_passes_its_limits_on(words: Words, runner: RecordingRunner) -> None:
    assert words("start cluster --name mine --wait --timeout 1m") == 0
    [(verb, args, limits)] = runner.calls
    assert (verb, args[1], limits) == ("start_cluster", "mine", {"wait": 300.0, "timeout": 60.0})


def test_clusters_are_listed_by_name_without_looking_at_them(
    words: Words, runner: RecordingRunner, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("b", "a"):
        (tmp_path / "kwok" / "clusters" / name).mkdir(parents=True)
        (tmp_path / "kwok" / "clusters" / name / "kwok.yaml").touch()
    (tmp_path / "kwok" / "clusters" / "not-one").mkdir()
    assert words("get clusters") == 0
    assert capfd.readouterr() == ("a\nb\n", "")
    assert runner.calls == []


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("table", "NAME   READY   STATUS\nkwok   0/1     NotReady\n"),
        (
            "wide",
            (
                "NAME   READY   STATUS     RUNTIME   VERSION   MAKER\n"
                "kwok   0/1     NotReady   binary    v1.36.3   kwokctl (Python)\n"
            ),
        ),
    ],
)
def test_clusters_are_shown_in_columns(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    output: str,
    text: str,
) -> None:
    runner.answers["cluster_statuses"] = [CLUSTER]
    assert words(f"get clusters -o {output}") == 0
    assert capfd.readouterr().out == text


def test_a_program_gets_clusters_with_their_components(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["cluster_statuses"] = [CLUSTER]
    assert words("get clusters -o=json") == 0
    assert json.loads(capfd.readouterr().out) == [
        {
            "name": "kwok",
            "status": "NotReady",
            "message": "",
            "ready": 0,
            "total": 1,
            "runtime": "binary",
            "kubeVersion": "v1.36.3",
            "maker": "kwokctl (Python)",
            "components": [
                {
                    "name": "etcd",
                    "status": "Stopped",
                    "message": "first line\npanic: no space left\n",
                    "version": "3.6.16",
                    "ports": [{"name": "client", "port": 2379, "hostPort": 32765}],
                }
            ],
        }
    ]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("name", "etcd\n"),
        ("table", "NAME   STATUS\netcd   Stopped\n"),
        (
            "wide",
            (
                "NAME   STATUS    VERSION   PORTS          MESSAGE\n"
                "etcd   Stopped   3.6.16    client:32765   panic: no space left\n"
            ),
        ),
    ],
)
def test_components_are_shown_in_columns_a_dead_one_with_its_last_line(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    output: str,
    text: str,
) -> None:
    runner.answers["component_statuses"] = [ETCD]
    assert words(f"get components -o {output}") == 0
    assert capfd.readouterr().out == text


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            '{"level":"warn","ts":"2026-11-22T09:35:43.6Z","msg":"no lease","error":"disk full"}',
            "no lease: disk full",
        ),
        ('{"level":"info","msg":"closed etcd server"}', "closed etcd server"),
        ('{"level":"info"}', '{"level":"info"}'),
        ('["msg"]', '["msg"]'),
        ("17", "17"),
    ],
)
def test_of_a_log_in_json_the_message_is_shown(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    line: str,
    shown: str,
) -> None:
    runner.answers["component_statuses"] = [replace(ETCD, message=f"first\n{line}\n")]
    assert words("get components -o wide") == 0
    row = capfd.readouterr().out.splitlines()[-1]
    assert row == f"etcd   Stopped   3.6.16    client:32765   {shown}"


async def changes(*batches: list[ComponentStatus]) -> AsyncIterator[list[ComponentStatus]]:
    for batch in batches:
        yield batch


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("table", "NAME   STATUS\netcd   Ready\netcd   Stopped\n"),
        ("name", "etcd\netcd\netcd\n"),
    ],
)
async def test_a_component_that_is_watched_is_shown_again_when_what_is_shown_changes(
    capfd: pytest.CaptureFixture[str], output: str, text: str
) -> None:
    ready, last = replace(ETCD, status=RunStatus.READY), replace(ETCD, message="another")
    await show_changes(changes([ready], [ETCD], [last]), output)
    assert capfd.readouterr().out == text


async def test_a_program_that_watches_gets_one_document_after_the_other(
    capfd: pytest.CaptureFixture[str],
) -> None:
    await show_changes(changes([ETCD], [replace(ETCD, status=RunStatus.READY)]), "yaml")
    found = list(yaml.safe_load_all(capfd.readouterr().out))
    assert [each["status"] for each in found] == ["Stopped", "Ready"]


def test_without_clusters_a_program_gets_an_empty_list(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["cluster_statuses"] = []
    assert words("get clusters -o json") == 0
    assert capfd.readouterr() == ("[]\n", "")
    assert words("get clusters -o wide") == 0
    assert capfd.readouterr() == ("", "")


def test_logs_are_asked_for_by_component(words: Words, runner: RecordingRunner) -> None:
    assert words("logs audit -f --name mine --tail 5 --since 1h") == 0
    [(_, args, more)] = runner.calls
    assert args[1:] == ("mine", "audit")
    assert (more["follow"], more["wanted"].tail) == (True, 5)
    age = datetime.now(UTC) - more["wanted"].since
    assert timedelta(hours=1) <= age < timedelta(hours=2)


_TOOL = """
import sys
from kwokctl.cli.main import run
from tests.support.recording_runner import RecordingRunner
from tests.support.options import option
command = (["/bin/sh", "-c", 'echo "$A" "$@"; exit 7', "tool", "--kubeconfig=/x"], {"A": "b"})
run(sys.argv[1:], RecordingRunner({"kubectl_command": command, "etcdctl_command": command}))
"""


@pytest.mark.parametrize("tool", ["kubectl", "etcdctl"])
def test_a_tool_gets_all_words_after_its_name_and_takes_the_place_of_the_command(
    environ: dict[str, str], tool: str
) -> None:
    theirs = "-n x exec pod --name=y -it -- sh -h -o=json --force=false --"
    done = subprocess.run(
        [sys.executable, "-c", _TOOL, "--name", "mine", tool, *theirs.split()],
        env=environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (7, f"b --kubeconfig=/x {theirs}\n")


def test_artifacts_of_a_cluster_are_listed_for_those_who_fetch_them_beforehand(
    words: Words, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("get artifacts") == 0
    listed = capfd.readouterr().out.split()
    assert listed == sorted(listed)
    assert any(address.endswith("/kube-apiserver") for address in listed)
    assert words("get artifacts --filter image") == 0
    assert capfd.readouterr().out == ""


def test_the_store_is_empty_at_first(words: Words, capfd: pytest.CaptureFixture[str]) -> None:
    assert words("artifacts list -o json") == 0
    assert capfd.readouterr().out == "[]\n"
    assert words("artifacts verify -o yaml") == 0
    assert capfd.readouterr().out == "[]\n"


def test_building_takes_the_version_of_the_environment(
    words: Words,
    runner: RecordingRunner,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KWOK_KUBE_VERSION", "v1.35.0")
    runner.answers["build"] = {}
    assert words("artifacts build") == 0
    assert runner.calls[0][1] == ("v1.35.0",)
    assert words("artifacts build --kube-version 1.34.1") == 0
    assert runner.calls[1][1] == ("v1.34.1",)
    assert capfd.readouterr().out == ""

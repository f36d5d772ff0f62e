"""`create cluster`: from its words to the request, and from what was created to what is shown."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.create import CreateRequest
from kwokctl.clusters.scaling.scale_request import ScaleResult
from kwokctl.errors import TimedOutError
from tests.support.options import option
from tests.support.recording_runner import RecordingRunner
from tests.support.verb_results import created

Words = Callable[[str], int]


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
def test_flags_are_accepted_anywhere_and_in_the_spelling_of_the_go_kwokctl(
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


@pytest.mark.usefixtures("_kubectl_on_path")
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


@pytest.mark.usefixtures("_kubectl_on_path")
def test_create_ends_with_the_commands_to_use_next(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created(name="mine", context="kwok-mine")
    assert words("--name mine create cluster --wait 1m") == 0
    assert capfd.readouterr() == (
        "",
        (
            "cluster 'mine' is ready; 'kwok-mine' is the current context\n"
            "Now you can:\n"
            "  kubectl --context kwok-mine get nodes\n"
            "  kwokctl --name mine scale node --replicas 1000\n"
            "  kwokctl --name mine delete cluster\n"
        ),
    )


@pytest.mark.usefixtures("_kubectl_on_path")
@pytest.mark.parametrize("is_read", [True, False])
def test_the_commands_to_use_next_work_with_a_kubeconfig_that_was_named(
    words: Words,
    runner: RecordingRunner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    is_read: bool,
) -> None:
    file = tmp_path / "my.kc"
    monkeypatch.setenv("KUBECONFIG", f"/other:{file}" if is_read else "/other")
    runner.answers["create_cluster"] = created(context="kwok-kwok")

    assert words(f"create cluster --kubeconfig {file}") == 0

    said = capfd.readouterr().err
    reach = "--context kwok-kwok" if is_read else f"--kubeconfig {file}"
    assert f"\n  kubectl {reach} get nodes\n" in said
    assert ("current context of" not in said) is is_read


def test_who_has_no_kubectl_is_shown_that_of_kwokctl(
    words: Words,
    runner: RecordingRunner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    runner.answers["create_cluster"] = created(name="mine", context="kwok-mine")
    assert words("--name mine create cluster") == 0
    assert "\n  kwokctl --name mine kubectl get nodes\n" in capfd.readouterr().err


def test_the_data_path_of_a_cluster_that_exists_is_not_repeated(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created(existed=True)
    assert words("create cluster") == 0
    assert "writes:" not in capfd.readouterr().err


def test_create_lists_each_difference_from_the_request_on_its_line(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created(existed=True, drift=("--etcd-port: 1, not 2", "x"))
    assert words("create cluster --etcd-port 2") == 0
    lines = capfd.readouterr().err.splitlines()
    assert lines[:3] == [
        "warning: the cluster exists with other settings: --etcd-port: 1, not 2",
        "warning: the cluster exists with other settings: x",
        "hint: 'create' does not change a cluster: delete it first, or give another --name",
    ]


def test_a_program_gets_what_was_created_as_json_alone(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created()
    assert words("create cluster -o json") == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["result"]["context"] == "kwok-kwok"
    assert err == ""


def test_a_new_cluster_gets_its_nodes_and_then_its_pods(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created()
    runner.answers["scale"] = ScaleResult(kind="Node", name="node", created=1000)

    assert words("create cluster --nodes 1000 --pods 2000 --wait 1h") == 0

    _, *scalings = runner.calls
    requests = [args[2] for _, args, _ in scalings]
    assert [(r.kind, r.replicas, r.may_shrink) for r in requests] == [
        ("node", 1000, False),
        ("pod", 2000, False),
    ]
    assert all((r.wait, r.timeout) == (3600, None) for r in requests)
    assert "is ready with 1,000 nodes and 1,000 nodes; " in capfd.readouterr().err


def test_tools_that_no_component_needs_come_last_of_all(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created(lacking=("kubectl", "etcdctl"))
    runner.answers["scale"] = ScaleResult(kind="Node", name="node", created=5)
    runner.answers["get_tools"] = ("kubectl",)

    assert words("create cluster --nodes 5 -o json") == 0

    assert [verb for verb, _, _ in runner.calls] == ["create_cluster", "scale", "get_tools"]
    assert runner.calls[-1][1][1:] == ("kwok", ("kubectl", "etcdctl"))
    assert json.loads(capfd.readouterr().out)["result"]["lacking"] == ["kubectl"]


def test_an_interrupt_while_tools_are_built_leaves_the_cluster_and_says_so(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = created(lacking=("kubectl",))
    runner.answers["get_tools"] = KeyboardInterrupt(2)

    assert words("create cluster") == 130

    stays = "the cluster 'kwok' is running and is kept; continue with: kwokctl create cluster"
    assert stays in capfd.readouterr().err


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
    runner.answers["scale"] = ScaleResult(kind="Node", name="node", existing=100)

    assert words("create cluster") == 0

    err = capfd.readouterr().err
    assert "warning: there are 100 nodes, more than '--nodes 10' asks for: none was deleted" in err


@pytest.mark.parametrize(
    ("error", "code"), [(TimedOutError("too late"), 1), (KeyboardInterrupt(2), 130)]
)
def test_a_cluster_whose_nodes_fail_stays_and_a_hint_shows_the_next_step(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
) -> None:
    runner.answers["create_cluster"] = created()
    runner.answers["scale"] = error

    assert words("--name mine create cluster --nodes 5 --pods 5 --wait") == code

    assert (
        "the cluster 'mine' is running and is kept; continue with: "
        "kwokctl --name mine scale node --replicas 5 --wait" in capfd.readouterr().err
    )
    assert [verb for verb, _, _ in runner.calls] == ["create_cluster", "scale"]


@pytest.mark.parametrize(
    ("changes", "wait", "state"),
    [
        ({}, "", "has been started"),
        ({"existed": True}, "", "exists and runs"),
        ({"existed": True, "started": ("etcd",)}, "", "existed and has been started"),
        ({"existed": True, "started": ("etcd",)}, "--wait", "is ready"),
    ],
)
def test_create_reports_that_the_cluster_existed_already(
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
    assert words("create cluster --kueueviz-port 1234") == 2
    assert runner.calls == []
    assert capfd.readouterr().err == (
        "error: '--kueueviz-port' is not supported: '--enable kueue,kueueviz' adds kueueviz, and chooses "
        "its port\n"
    )

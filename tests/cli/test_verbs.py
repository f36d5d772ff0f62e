"""From the words of `start`, `logs`, `artifacts` and the tools to the verbs they call."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kwokctl.clusters.inspection.export_logs import Exported
from kwokctl.clusters.programs.carrying import Carried
from kwokctl.host.paths import WorkDir, default_workdir
from kwokctl.model import ClusterName
from kwokctl.waits import USUAL, Standstill
from tests.support.options import cluster_options
from tests.support.recording_runner import RecordingRunner
from tests.support.saved_cluster import save_cluster

Words = Callable[[str], int]


def test_start_passes_its_limits_on(words: Words, runner: RecordingRunner) -> None:
    assert words("start cluster --name mine --wait --timeout 1m") == 0
    [(verb, args, limits)] = runner.calls
    assert (verb, args[1], limits) == ("start_cluster", "mine", {"wait": USUAL, "timeout": 60.0})
    assert isinstance(limits["wait"], Standstill)


def test_logs_are_selected_by_component(words: Words, runner: RecordingRunner) -> None:
    assert words("logs audit -f --name mine --tail 5 --since 1h") == 0
    [(_, args, more)] = runner.calls
    assert args[1:] == ("mine", "audit")
    assert (more["follow"], more["wanted"].tail) == (True, 5)
    age = datetime.now(UTC) - more["wanted"].since
    assert timedelta(hours=1) <= age < timedelta(hours=2)


def test_export_logs_prints_the_folder(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["export_logs"] = Exported(path=Path("/x/mine"), files=("kwok.yaml",), missing=())
    assert words("--name mine export logs /x") == 0
    assert runner.calls[0][1][1:] == ("mine", Path("/x"))
    done = capfd.readouterr()
    assert (done.out, done.err) == ("/x/mine\n", "exported 1 file of 'mine' to '/x/mine'\n")


@pytest.mark.parametrize(
    ("given", "ports"),
    [("8443:https", (8443, "https")), (":6443", (0, "6443")), ("0:http", (0, "http"))],
)
def test_port_forward_reads_both_ports(
    words: Words, runner: RecordingRunner, given: str, ports: tuple[int, str]
) -> None:
    assert words(f"--name mine port-forward etcd {given}") == 0
    [(verb, args, more)] = runner.calls
    assert (verb, args[1:]) == ("forward", ("mine", "etcd"))
    assert (more["local"], more["remote"]) == ports


_TOOL = """
import sys
from kwokctl.cli.main import run
from kwokctl.clusters.inspection.export_logs import Exported
from kwokctl.clusters.programs.carrying import Carried
from tests.support.recording_runner import RecordingRunner
from tests.support.options import option
command = (["/bin/sh", "-c", 'echo "$A" "$@"; exit 7', "tool", "--kubeconfig=/x"], {"A": "b"})
run(sys.argv[1:], RecordingRunner({"kubectl_command": command, "etcdctl_command": command, "etcdutl_command": command}))
"""


@pytest.mark.parametrize("tool", ["kubectl", "etcdctl", "etcdutl"])
def test_a_tool_gets_all_words_after_its_name_and_replaces_the_process(
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


def test_get_artifacts_lists_what_a_cluster_needs_for_fetching_it_in_advance(
    words: Words, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("get artifacts") == 0
    listed = capfd.readouterr().out.split()
    assert listed == sorted(listed)
    assert any(address.endswith("/kube-apiserver") for address in listed)
    assert words("get artifacts --filter image") == 0
    assert capfd.readouterr().out == ""


def test_get_artifacts_lists_what_clusters_often_have_besides_as_the_original_does(
    words: Words, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def names(*more: str) -> list[str]:
        assert words(" ".join(("get artifacts --runtime docker --filter image", *more))) == 0
        images = capfd.readouterr().out.split()
        return [image.rpartition("/")[2].partition(":")[0] for image in images]

    usual = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
    assert names() == ["prometheus", *usual, "metrics-server"]
    assert words("get artifacts --runtime binary") == 0
    files = capfd.readouterr().out
    assert "/prometheus-" in files
    assert "/metrics-server-" in files
    monkeypatch.setenv("KWOK_DISABLE", "prometheus")
    assert names() == [*usual, "metrics-server"]
    assert names("--enable prometheus") == [*usual, "metrics-server"]


def test_get_artifacts_lists_what_an_add_on_takes(
    words: Words, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("get artifacts --runtime docker --enable jobset,metrics-server") == 0
    listed = capfd.readouterr().out.split()
    assert any("/jobset:" in image for image in listed)
    assert len([image for image in listed if "/metrics-server:" in image]) == 1
    assert words("get artifacts --enable jobsett") == 2
    assert "did you mean 'jobset'" in capfd.readouterr().err


def test_get_artifacts_lists_no_more_than_a_cluster_has_that_exists(
    words: Words, capfd: pytest.CaptureFixture[str]
) -> None:
    save_cluster(WorkDir(default_workdir()), ClusterName("mine"), cluster_options(runtime="docker"))

    assert words("get artifacts --name mine --filter image") == 0
    listed = capfd.readouterr().out
    assert "/kube-apiserver:" in listed
    assert "metrics-server" not in listed
    assert words("get artifacts --name mine --filter image --runtime docker") == 0
    assert "metrics-server" in capfd.readouterr().out


@pytest.mark.parametrize("command", ["get artifacts", "artifacts pull --dry-run"])
def test_of_what_is_not_fetched_it_is_said_how_it_is_given(
    words: Words, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    assert words(f"{command} --enable jaeger") == 2
    assert "give --jaeger-binary" in capfd.readouterr().err


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


def test_a_folder_for_another_machine_is_filled_by_pull_and_by_build(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    images = ("registry.k8s.io/etcd:3.6.16-0",)
    carried = Carried(folder=Path("/x"), programs=("kubectl v1.35.4",), images=images)
    runner.answers["carry"] = carried
    for verb, source in (("pull", "auto"), ("build", "build")):
        assert words(f"artifacts {verb} --to /x --kube-version 1.35.4 --runtime docker") == 0
        _, (_, options, folder), more = runner.calls[-1]
        assert (options.programs.source, options.runtime, folder) == (source, "docker", Path("/x"))
        assert more == {"is_exact": True}
    done = capfd.readouterr()
    assert done.out == 2 * f"kubectl v1.35.4\n{images[0]}\n"
    assert done.err == 2 * "1 program and 1 image for Kubernetes v1.35.4 in '/x'\n"


def test_images_alone_are_not_pulled_by_artifacts_pull(
    words: Words, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("artifacts pull --runtime docker") == 2
    assert "'artifacts images' gets images alone" in capfd.readouterr().err


def test_add_takes_a_folder(words: Words, runner: RecordingRunner, tmp_path: Path) -> None:
    runner.answers["take_in"] = Carried(folder=tmp_path, programs=(), images=())
    assert words(f"artifacts add {tmp_path}") == 0
    assert runner.calls[0][1][2] == tmp_path


def test_pull_takes_components_to_add(words: Words, runner: RecordingRunner) -> None:
    runner.answers["fetch"] = []
    assert words("artifacts pull --enable metrics-server") == 0
    assert runner.calls[0][1][1].selection.enable == ("metrics-server",)


def test_images_of_add_ons_are_stocked_with_the_others(
    words: Words, runner: RecordingRunner
) -> None:
    runner.answers["stock_images"] = []
    assert words("artifacts images --enable jobset,metrics-server --runtime docker") == 0
    options = runner.calls[0][1][1]
    assert options.selection.enable == ("metrics-server",)
    assert [each.name for each in options.extras] == ["jobset"]

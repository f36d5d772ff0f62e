"""The variables that lead other programs to a cluster, in the shells themselves."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kwokctl.cli.parsing.shared_options import kubeconfig_path
from kwokctl.cli.verbs import env
from kwokctl.clusters.state.home import cluster_name
from kwokctl.host.paths import WorkDir, default_workdir
from tests.cli.conftest import need_shell
from tests.support.options import cluster_options
from tests.support.recording_runner import RecordingRunner
from tests.support.saved_cluster import save_cluster

Words = Callable[[str], int]
NAME = cluster_name("kwok")


@pytest.fixture
def root(runner: RecordingRunner) -> Path:
    """Save a cluster in the folder that the runner has made the user's; return its folder."""
    workdir = WorkDir(default_workdir())
    save_cluster(workdir, NAME, cluster_options(runtime="binary", etcd_port=2379))
    return workdir.cluster(NAME).root


def test_a_shell_gets_the_kubeconfig_and_the_way_to_etcd(
    words: Words, root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("env --shell bash") == 0
    assert capfd.readouterr().out.splitlines() == [
        f"export KUBECONFIG={root}/kubeconfig.yaml",
        "export ETCDCTL_ENDPOINTS=https://127.0.0.1:2379",
        f"export ETCDCTL_CACERT={root}/pki/ca.crt",
        f"export ETCDCTL_CERT={root}/pki/etcd-client.crt",
        f"export ETCDCTL_KEY={root}/pki/etcd-client.key",
    ]


def test_a_program_gets_a_mapping(
    words: Words, root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("env -o json") == 0
    assert json.loads(capfd.readouterr().out)["KUBECONFIG"] == f"{root}/kubeconfig.yaml"


def test_the_language_is_that_of_the_users_shell(
    words: Words, root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert words("env") == 0
    assert capfd.readouterr().out.startswith("set -gx KUBECONFIG '")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_reads_a_value_with_any_characters_as_it_is(shell: str) -> None:
    need_shell(shell)
    value = "/a b/'c'/\"d\"/$HOME/`x`/\\e/%"
    script = env.export(shell, "A", value) + "\nprintf '%s' \"$A\""
    read = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=True)
    assert read.stdout == value


def test_the_file_of_one_cluster_has_no_contexts_of_others(root: Path, tmp_path: Path) -> None:
    own = root / "kubeconfig.yaml"
    assert kubeconfig_path(None, {"KUBECONFIG": str(own)}) == tmp_path / ".kube" / "config"
    assert kubeconfig_path(None, {"KUBECONFIG": f"{own}:/mine"}) == Path("/mine")

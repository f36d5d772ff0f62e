"""What kwokctl does on platforms where clusters cannot be made."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kwokctl.cli import app
from kwokctl.components.catalog import usual_options
from kwokctl.host.paths import WorkDir
from kwokctl.model import ClusterName
from tests.support import elsewhere
from tests.support.options import changed
from tests.support.saved_cluster import save_cluster

_ROOT = Path(__file__).parents[3]
PLATFORMS = {"darwin": "macOS", "win32": "Windows"}
WORKING = (
    "plan --nodes 10", "get clusters", "get clusters -o wide", "delete cluster --dry-run",
    "completion bash", "help scale", "config view", "config convert", "config schema", "config tidy",
    "config reset", "stage sets", "addons list", "addons copy jobset", "stage graph", "stage lint stages.yaml", "controller manifest",
    "measure fields", "get shapes", "fault list", "fault explain xid-79", "--version",
)  # fmt: skip
"""Commands that need no cluster."""
ENDING = (
    "create cluster", "create cluster --dry-run", "create cluster --runtime docker --dry-run",
    "start cluster", "stop cluster", "get components", "get kubeconfig", "get artifacts", "status",
    "doctor", "doctor --fix -o json", "doctor --name one", "scale node --replicas 1",
    "snapshot save --path x", "snapshot restore --path x", "snapshot export --path x",
    "snapshot record --path x", "snapshot replay --path x", "snapshot list", "snapshot mark x",
    "snapshot rewind x", "snapshot drop x", "snapshot serve", "logs etcd", "export logs",
    "port-forward etcd 1:2", "view", "kubectl get nodes", "etcdctl get /", "etcdutl version", "etcd get",
    "etcd put --path x", "etcd delete pods --all", "etcd snapshot record --path x",
    "etcd snapshot replay --path x", "kectl get", "env", "stage test x",
    "stage explain pod/x", "artifacts list", "artifacts verify", "artifacts prune --all",
    "artifacts build --dry-run", "artifacts pull", "artifacts add x", "artifacts images",
    "load run -f x", "load clear", "measure run -- true", "measure start", "measure stop", "measure report x",
    "measure compare a b", "get fleet", "fault inject xid-79 --count 1", "fault status", "fault log", "fault plan -f storm.yaml", "fault run -f storm.yaml", "fault stop night", "fault score", "fault clear --all",
    "repair start n --action reboot", "repair status", "repair policy -f x",
)  # fmt: skip
"""Commands that need what is not there, and say so."""
SHARED = (
    "start cluster", "stop cluster", "stop cluster --dry-run", "get components", "status -o json",
    "doctor", "logs etcd", "export logs logs", "kubectl get nodes", "scale node --replicas 1",
    "snapshot save --path saved", "env", "stage explain pod/x", "delete cluster",
)  # fmt: skip
"""Commands for a cluster that a virtual machine with Linux has made, in a folder that both have."""
OF_OTHERS = ("--name go delete cluster --force", "delete cluster --all")


OF_THE_ORIGINAL = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlConfiguration
metadata: {name: go}
options: {runtime: binary, kubeVersion: v1.33.0}
status: {version: v0.7.0}
"""


class Ended(NamedTuple):
    """How a command has ended."""

    code: int
    output: str
    errors: str


class Elsewhere(NamedTuple):
    """All that was run on a platform."""

    name: str
    clusters: Path
    unloadable: list[str]
    ended: dict[str, Ended]


@pytest.fixture(scope="module", params=list(PLATFORMS), ids=list(PLATFORMS.values()))
def other(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    """A platform on which all commands have been run, in one process."""
    home = tmp_path_factory.mktemp("home")
    (home / "stages.yaml").write_bytes(
        (_ROOT / "templates/stages/node-heartbeat.yaml").read_bytes()
    )
    save_cluster(
        WorkDir(home / ".kwok"), ClusterName("shared"), changed(usual_options(), runtime="docker")
    )
    (home / ".kwok/clusters/go").mkdir()
    (home / ".kwok/clusters/go/kwok.yaml").write_text(OF_THE_ORIGINAL)
    commands = (*WORKING, *ENDING, *(f"--name shared {words}" for words in SHARED), *OF_OTHERS)
    done = subprocess.run(
        [sys.executable, elsewhere.__file__, request.param],
        input=json.dumps([each.split() for each in commands]),
        env={
            "PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(_ROOT),
            "PYTHONDONTWRITEBYTECODE": "1", "DOCKER_HOST": f"unix://{home}/no.sock",
        },
        cwd=home, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    ended = dict(zip(commands, map(Ended._make, found["ended"]), strict=True))
    return Elsewhere(PLATFORMS[request.param], home / ".kwok/clusters", found["failed"], ended)


def _commands(tree: Any, before: tuple[str, ...] = ()) -> Iterator[str]:
    for name, command in tree.commands.items():
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from _commands(command, (*before, name))
        else:
            yield " ".join((*before, name))


def test_every_command_is_run() -> None:
    names = set(_commands(app.build()))

    assert {
        name for name in names if not any(c.startswith(name) for c in (*WORKING, *ENDING))
    } == set()


def test_every_module_is_imported_without_the_modules_of_linux(other: Elsewhere) -> None:
    assert other.unloadable == []


def test_no_command_ends_with_a_traceback(other: Elsewhere) -> None:
    assert {words: e.errors for words, e in other.ended.items() if "Traceback" in e.errors} == {}


def test_what_needs_no_cluster_works(other: Elsewhere) -> None:
    assert {words: other.ended[words] for words in WORKING if other.ended[words].code != 0} == {}


def test_every_other_command_says_what_to_do(other: Elsewhere) -> None:
    said = {words: other.ended[words] for words in ENDING}

    assert {words for words, e in said.items() if e.code not in {1, 2}} == set()
    # A file that is not there needs no hint, and doctor says it in its result.
    silent = {words for words, e in said.items() if "hint:" not in e.errors}
    assert {words for words in silent if "doctor" not in words and " x" not in words} == set()


@pytest.mark.parametrize(
    "words",
    ["create cluster", "create cluster --dry-run", "create cluster --runtime docker --dry-run"],
)
def test_a_cluster_is_refused_elsewhere_with_a_way_that_works(other: Elsewhere, words: str) -> None:
    ended = other.ended[words]

    assert f"made on Linux, and this is {other.name}" in ended.errors
    assert "make image-all" in ended.errors
    assert ("WSL 2" in ended.errors) == (other.name == "Windows")


def test_a_cluster_that_linux_has_made_is_neither_run_nor_deleted(other: Elsewhere) -> None:
    reasons = (f"this is {other.name}", f"{other.name} does not have", "there is no kubeconfig")
    for words in SHARED:
        ended = other.ended[f"--name shared {words}"]
        assert ended.code == 1, (words, ended)
        assert any(each in ended.errors for each in reasons), (words, ended)
    assert "shared" in other.ended["get clusters"].output


def test_what_runs_of_the_originals_clusters_is_left_to_the_original(other: Elsewhere) -> None:
    said = other.ended[OF_OTHERS[0]].errors

    assert "delete it with that program" in said or other.name == "Windows"
    assert {each.name for each in other.clusters.iterdir()} == {"shared", "go"}


def test_doctor_says_it_too_and_looks_no_further(other: Elsewhere) -> None:
    found = json.loads(other.ended["doctor --fix -o json"].output)

    assert found["findings"] == 1
    assert [each["check"] for each in found["machine"]] == ["runtimes"]

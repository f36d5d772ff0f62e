"""Every verb takes `--dry-run`; with it, those that change something change nothing."""

import hashlib
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.cli import app
from kwokctl.cli.main import run
from kwokctl.cli.parsing.grammar import RawCommand
from kwokctl.clusters.state.component_files import write_files
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import load, save
from kwokctl.host.paths import WorkDir
from kwokctl.model import ETCD, KUBE_APISERVER
from kwokctl.registry import load as load_runtime
from kwokctl.replacing import replace
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.saved_cluster import save_cluster

Kwokctl = Callable[..., subprocess.CompletedProcess[str]]
_PROGRAMS = {
    f"KWOK_{program}_BINARY": "/bin/true"
    for program in (
        "ETCD", "ETCDCTL", "ETCDUTL", "KUBECTL",
        "KUBE_APISERVER", "KUBE_CONTROLLER_MANAGER", "KUBE_SCHEDULER",
    )
}  # fmt: skip
OLD = """
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: old}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector: {matchExpressions: [{key: .status.phase, operator: In, values: [Pending]}]}
  next: {delete: true}
"""
ELSEWHERE_IN_USE = """
apiVersion: kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  manageAllNodes: true
  enablePodsOnNodeSyncListPager: false
  enablePodsOnNodeSyncStreamWatch: true
---
kind: KwokctlConfiguration
name: mine
options: {kubeApiserverPort: 0}
componentsPatches:
- name: etcd
  extraArgs: [{key: log-level, value: debug}]
  extraVolumes:
  - {name: tmp, hostPath: ./extras, mountPath: /extras/tmp, pathType: DirectoryOrCreate}
---
apiVersion: v1
kind: List
items:
- apiVersion: kwok.x-k8s.io/v1alpha1
  kind: Stage
  metadata: {name: own}
  spec: {resourceRef: {apiGroup: v1, kind: Pod}, weight: 7, next: {delete: true}}
- apiVersion: kwok.x-k8s.io/v1alpha1
  kind: ClusterAttach
  metadata: {name: any}
  spec: {attaches: [{}]}
"""
CHANGING = {
    "create cluster": "create cluster --runtime binary --nodes 2 --wait",
    "delete cluster": "delete cluster",
    "start cluster": "start cluster --wait",
    "stop cluster": "stop cluster",
    "scale": "scale node --replicas 7",
    "snapshot mark": "snapshot mark",
    "snapshot drop": "snapshot drop --all",
    "snapshot serve": "snapshot serve",
    "config tidy": "config tidy",
    "config reset": "config reset",
    "artifacts build": "artifacts build",
    "artifacts images": "artifacts images --pull",
    "artifacts prune": "artifacts prune --yes",
    "artifacts verify": "artifacts verify --repair",
    "artifacts pull": "artifacts pull --to carried",
    "addons copy": "addons copy jobset",
    "export logs": "export logs exported",
    "port-forward": "port-forward etcd 0:https",
    "view": "view --open",
    "doctor": "doctor --fix",
}
"""Verbs that change something, each with a call that would."""
ELSEWHERE = {
    "config convert": "config convert --write none.yaml",
    "snapshot save": "snapshot save --path none.db",
    "snapshot restore": "snapshot restore --path none.db",
    "snapshot export": "snapshot export --kubeconfig none --path none.yaml",
    "snapshot record": "snapshot record --path none.yaml",
    "snapshot replay": "snapshot replay --path none.yaml",
    "snapshot rewind": "snapshot rewind",
    "kubectl": "kubectl get nodes",
    "etcdctl": "etcdctl get a",
    "etcdutl": "etcdutl version",
    "stage test": "stage test . --stage node-fast --write",
    "artifacts add": "artifacts add .",
    "etcd put": "etcd put --path none.yaml",
    "etcd delete": "etcd delete nodes --all",
    "etcd snapshot record": "etcd snapshot record --path none.yaml",
    "etcd snapshot replay": "etcd snapshot replay --path none.yaml",
    "kectl": "kectl get nodes",
    "fault inject": "fault inject xid-79 --count 1",
    "fault clear": "fault clear --all",
    "repair start": "repair none --action reboot",
    "repair policy": "repair policy -f none.yaml",
    "fault run": "fault run -f none.yaml",
    "fault stop": "fault stop night",
    "load run": "load run -f none.yaml",
    "load clear": "load clear",
    "measure run": "measure run -- true",
    "measure compare": "measure compare --run-a true --run-b true",
    "measure start": "measure start",
    "measure stop": "measure stop",
}
"""Verbs of which other tests show it, too: they need a file, or would replace this process."""
READING = {
    "artifacts list",
    "completion",
    "config schema",
    "config view",
    "controller manifest",
    "env",
    "fault explain",
    "fault list",
    "fault log",
    "fault plan",
    "fault score",
    "fault status",
    "etcd get",
    "get artifacts",
    "get clusters",
    "get components",
    "get fleet",
    "get shapes",
    "get kubeconfig",
    "help",
    "logs",
    "measure fields",
    "measure report",
    "plan",
    "repair status",
    "snapshot list",
    "stage explain",
    "status",
    "stage graph",
    "stage lint",
    "stage sets",
    "addons list",
}
"""Verbs that only look: with `--dry-run` they do what they do without it."""


def _verbs(command: Any, words: tuple[str, ...] = ()) -> Iterator[str]:
    for name, below in getattr(command, "commands", {}).items():
        yield from _verbs(below, (*words, name))
    if words and not hasattr(command, "commands") and not command.hidden:
        yield " ".join(words)


def _content(folder: Path) -> dict[str, str]:
    """Return what there is in a folder, byte for byte, with the times of files."""
    return {
        str(path): f"{path.stat().st_mtime_ns} {_digest(path)}"
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts
    }


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


@pytest.fixture
def existing(tmp_path: Path) -> Path:
    """A home in which there is a cluster that does not run."""
    name, workdir = cluster_name("kwok"), WorkDir(tmp_path / "kwok")
    options = cluster_options(
        runtime="binary",
        kubectl_binary="/bin/true",
        etcdctl_binary="/bin/true",
        jaeger_binary="/bin/true",
    )
    save_cluster(workdir, name, options)
    home = Home(workdir=workdir, cache=tmp_path / "cache", load_runtime=load_runtime)
    write_files(home, home.runtime("binary"), load(home.paths(name), name))
    return tmp_path


def test_each_verb_is_known_to_change_something_or_nothing() -> None:
    assert set(_verbs(app.build())) == {*CHANGING, *ELSEWHERE, *READING}


@pytest.mark.parametrize("flag", ["--dry-run", "--name", "--config", "--v"])
def test_each_verb_takes_the_flags_of_all(flag: str) -> None:
    for words in _verbs(app.build()):
        command: Any = app.build()
        for word in words.split():
            command = command.commands[word]
        spelled = [spelling for param in command.params for spelling in param.opts]
        assert isinstance(command, RawCommand) or flag in spelled, words


@pytest.fixture
def dry(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], int]:
    """Run the words of a command with `--dry-run` in this process; return the exit code."""
    for name, value in {**environ, **_PROGRAMS}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    return lambda words: run(["--dry-run", *words.split()])


@pytest.mark.parametrize("words", [*CHANGING.values(), *ELSEWHERE.values(), *sorted(READING)])
def test_no_verb_makes_anything_where_there_is_nothing(
    dry: Callable[[str], int], tmp_path: Path, words: str
) -> None:
    before = _content(tmp_path)

    assert dry(words) in {0, 1, 2}
    assert _content(tmp_path) == before


@pytest.mark.parametrize("words", CHANGING.values(), ids=CHANGING)
def test_a_verb_changes_nothing_where_there_is_a_cluster(
    dry: Callable[[str], int], existing: Path, words: str
) -> None:
    before = _content(existing)

    assert dry(words) == 0
    assert _content(existing) == before


def test_a_file_is_not_converted(
    dry: Callable[[str], int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "old.yaml"
    file.write_text(OLD)

    assert dry(f"config convert --write {file}") == 0
    assert file.read_text() == OLD
    assert "steps:" in capfd.readouterr().out


@pytest.mark.parametrize("words", ["kubectl delete nodes --all", "etcdctl del --prefix /"])
def test_the_call_of_a_tool_is_printed(in_process: Kwokctl, existing: Path, words: str) -> None:
    before = _content(existing)
    done = in_process("--dry-run", *words.split(), **_PROGRAMS)

    assert words.partition(" ")[2] in done.stdout
    assert "kubeconfig" in done.stdout or "ETCDCTL_ENDPOINTS" in done.stdout
    assert _content(existing) == before


def test_the_call_of_etcdutl_is_printed(in_process: Kwokctl, existing: Path) -> None:
    before = _content(existing)
    done = in_process("--dry-run", "etcdutl", "snapshot", "status", "a.db", **_PROGRAMS)

    assert "/etcdutl" in done.stdout
    assert " snapshot status a.db\n" in done.stdout
    assert _content(existing) == before


def test_programs_that_would_be_carried_are_named(
    dry: Callable[[str], int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store = store_of(tmp_path / "carried", here())
    store.root.mkdir(parents=True)
    (store.root / "coming").write_bytes(b"#!/bin/sh")
    store.publish(store.root / "coming", name="etcd", version="3.6.16", source="build", origin="")
    before = _content(tmp_path)

    assert dry(f"artifacts add {tmp_path / 'carried'}") == 0
    assert "# Copy from" in (out := capfd.readouterr().out)
    assert "etcd 3.6.16" in out
    assert _content(tmp_path) == before


def test_results_of_stages_are_not_written(dry: Callable[[str], int], tmp_path: Path) -> None:
    body = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"
    (tmp_path / "a.input.yaml").write_text(body)

    assert dry(f"stage test {tmp_path} --stage node-fast --write") == 1
    assert not (tmp_path / "a.output.yaml").exists()


def test_no_secret_is_printed(in_process: Kwokctl, existing: Path) -> None:
    pki = existing / "kwok" / "clusters" / "kwok" / "pki"
    tokens = [line.split(",")[0] for line in (pki / "tokens.csv").read_text().splitlines()]
    done = in_process("start", "cluster", "--dry-run", **_PROGRAMS)

    assert tokens
    assert not [token for token in tokens if token in done.stdout]
    assert "PRIVATE KEY" not in done.stdout
    assert "plumbing credentials" in done.stdout


def test_a_script_exports_what_the_command_exports(
    kwokctl: Kwokctl, existing: Path, environ: dict[str, str]
) -> None:
    paths = WorkDir(existing / "kwok").cluster(cluster_name("kwok"))
    saved = replace(load(paths, cluster_name("kwok")), names=(ETCD,))
    save(paths, saved, saved.plan(FakeRuntime(), paths))
    token = next(iter((paths.pki / "tokens.csv").read_text().split(",")))
    paths.logs.mkdir(exist_ok=True)
    paths.log(ETCD).write_text(f"it uses {token} at\nhttp://me:secret@x/\n")

    script = kwokctl("export", "logs", str(existing / "by-script"), "--dry-run").stdout
    assert token not in script
    subprocess.run(["sh"], env=environ, input=script, text=True, check=True)
    done = kwokctl("export", "logs", str(existing / "by-command"))

    assert done.returncode == 0
    found = {
        way: {
            str(file.relative_to(existing / way)): (file.read_text(), file.stat().st_mode)
            for file in (existing / way).rglob("*")
            if file.is_file()
        }
        for way in ("by-script", "by-command")
    }
    assert found["by-script"] == found["by-command"]
    assert "it uses REDACTED" in found["by-script"]["kwok/components/etcd.log"][0]


def test_ports_are_those_that_were_free_when_the_script_was_printed(in_process: Kwokctl) -> None:
    done = in_process("create", "cluster", "--runtime", "binary", "--dry-run", **_PROGRAMS)

    port = done.stdout.partition("kubeApiserverPort: ")[2].partition("\n")[0]
    assert int(port)
    assert f"--secure-port={port}" in done.stdout
    assert f"https://127.0.0.1:{port}/readyz" in done.stdout
    assert f"launch {KUBE_APISERVER} env" in done.stdout


@pytest.mark.parametrize("runtime", ["docker", "podman", "kind", "kind-podman"])
def test_a_plan_needs_no_engine(in_process: Kwokctl, tmp_path: Path, runtime: str) -> None:
    nobody = f"unix://{tmp_path}/nobody.sock"
    words = ("create", "cluster", "--runtime", runtime)
    none = {"DOCKER_HOST": nobody, "CONTAINER_HOST": nobody}

    planned = in_process(*words, "--dry-run", **none)

    assert planned.returncode == 0, planned.stderr
    assert "the plan for an engine that has nothing yet" in planned.stderr
    wanted = "kind create cluster" if "kind" in runtime else f"{runtime} network create"
    assert wanted in planned.stdout
    assert in_process(*words, **none).returncode == 1


def test_programs_that_are_missing_are_downloaded_and_checked(in_process: Kwokctl) -> None:
    done = in_process("create", "cluster", "--runtime", "binary", "--dry-run")

    assert "fetch https://dl.k8s.io/release/" in done.stdout
    assert "sha256sum --check" in done.stdout
    assert "plumbing store kube-apiserver" in done.stdout


def test_the_script_can_be_put_into_a_document(in_process: Kwokctl, existing: Path) -> None:
    done = in_process("stop", "cluster", "--dry-run", "-o", "json")

    document = json.loads(done.stdout)
    assert document["changed"] is False
    assert document["result"]["script"].startswith("# What this command would do")


def test_files_that_are_in_use_elsewhere_are_taken(in_process: Kwokctl, tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.yaml"
    file.write_text(ELSEWHERE_IN_USE)

    done = in_process(
        "create", "cluster", "--runtime", "binary", "--config", str(file), "--dry-run",
        "--node-lease-duration-seconds", "60", **_PROGRAMS,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    for said in (
        "'apiVersion' is 'kwok.x-k8s.io/v1alpha1', and a KwokConfiguration is read as one of",
        "'name' has no effect",
        "'KwokConfiguration.options.enablePodsOnNodeSyncListPager': without effect",
        "there, not at '/extras/tmp'",
    ):
        assert said in done.stderr
    assert "--node-monitor-grace-period=300000ms" in done.stdout
    assert "name: own" in done.stdout


def test_a_request_that_is_wrong_is_refused_as_without_the_flag(in_process: Kwokctl) -> None:
    words = ("create", "cluster", "--components", "etcd", "--dry-run")
    assert in_process(*words).stderr == in_process(*words[:-1]).stderr

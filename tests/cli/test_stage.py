"""`stage`: what writers of Stages see."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from kwokctl.clusters.stage_tools.live import Target
from kwokctl.clusters.state.home import cluster_name
from kwokctl.host.paths import WorkDir, default_workdir
from tests.support.options import cluster_options
from tests.support.recording_runner import RecordingRunner
from tests.support.saved_cluster import save_cluster

Words = Callable[[str], int]
Capture = pytest.CaptureFixture[str]
POD = "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: x}, spec: {nodeName: n, containers: []}, status: {phase: Pending}}"
STAGE = """
kind: Stage
metadata: {name: slow}
spec:
  resourceRef: {kind: Pod}
  selector: {matchLabels: {slow: "true"}}
  delay: {durationMilliseconds: 2000}
  steps: [{delete: true}]
"""


@pytest.fixture
def pod(tmp_path: Path) -> Path:
    file = tmp_path / "pod.yaml"
    file.write_text(POD)
    return file


def test_a_silent_node_says_why_nothing_is_played(
    words: Words, capfd: Capture, tmp_path: Path
) -> None:
    file = tmp_path / "node.yaml"
    node = "{apiVersion: v1, kind: Node, metadata: {name: n, annotations: {kwokctl.dev/kubelet: WORD}}}"
    for word, is_said in (("silent", True), ("other", False)):
        file.write_text(node.replace("WORD", word))
        assert words(f"stage explain --object {file}") == 0
        said = capfd.readouterr().err
        assert ("no Stage is played: the annotation 'kwokctl.dev/kubelet'" in said) is is_said


def test_a_delay_that_is_none_is_a_warning_with_every_output(
    words: Words, capfd: Capture, tmp_path: Path
) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: "
        "{pod-create.stage.kwok.x-k8s.io/delay: '120'}}, spec: {nodeName: n, containers: []}}"
    )
    for more in ("", "-o json"):
        assert words(f"stage explain --object {file} --stage pod-general {more}") == 0
        assert "spec.delay.durationFrom) finds '120'" in capfd.readouterr().err


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    file = tmp_path / "stage.yaml"
    file.write_text(STAGE)
    return file


def test_the_sets_are_listed(words: Words, capfd: Capture) -> None:
    assert words("stage sets") == 0
    assert "pod-general" in capfd.readouterr().out

    assert words("stage sets -o json") == 0
    names = [each["name"] for each in json.loads(capfd.readouterr().out)]
    assert {"node-fast", "node-boot", "pod-chaos", "pod-run-to-completion"} <= set(names)


def test_a_stage_without_faults_passes_and_one_with_faults_does_not(
    words: Words, capfd: Capture, stage: Path
) -> None:
    assert words(f"stage lint {stage}") == 0
    assert "no mistakes found" in capfd.readouterr().err

    stage.write_text(STAGE.replace("delay:", "dealy:"))
    assert words(f"stage lint {stage}") == 1
    shown = capfd.readouterr()
    assert shown.out == (
        f"{stage}:7: slow: 'spec.dealy' is not a field of a Stage; did you mean 'delay'?\n"
    )
    assert "error:" in shown.err

    assert words(f"stage lint {stage} -o json") == 1
    assert json.loads(capfd.readouterr().out)[0]["line"] == 7


def test_warnings_alone_are_shown_and_pass(words: Words, capfd: Capture, stage: Path) -> None:
    stage.write_text(
        """kind: Stage
metadata: {name: beats}
spec:
  resourceRef: {kind: Pod}
  selector: {}
  steps:
  - patch: {subresource: status, root: status, template: 'message: {{ Quote Now }}'}
"""
    )

    assert words(f"stage lint {stage}") == 0

    shown = capfd.readouterr()
    assert shown.out.startswith(
        f"{stage}:5: warning: beats: 'spec.selector' matches the result of the"
    )
    assert "no mistakes found; warnings: 1" in shown.err
    assert words(f"stage lint {stage} -o json") == 0
    assert json.loads(capfd.readouterr().out)[0]["severity"] == "warning"


def test_each_stage_is_explained_for_an_object_of_a_file(
    words: Words, capfd: Capture, pod: Path, stage: Path
) -> None:
    assert words(f"stage explain --object {pod} --stage {stage} --stage pod-fast") == 0

    lines = capfd.readouterr().out.splitlines()
    assert "- slow: label 'slow' is not there, and must be 'true'" in lines
    assert "+ pod-ready: weight 0, at once" in lines


def test_stubs_take_the_place_of_times(words: Words, capfd: Capture, pod: Path) -> None:
    assert words(f"stage explain --object {pod} --stub-functions -o json") == 0

    found = json.loads(capfd.readouterr().out)
    assert [each["stage"] for each in found["stages"]] == ["pod-ready"]
    assert found["stages"][0]["next"][0]["data"]["status"]["startTime"] == "<Now>"


def test_an_object_of_a_cluster_is_explained_with_the_clusters_stages(
    words: Words, runner: RecordingRunner, capfd: Capture
) -> None:
    save_cluster(WorkDir(default_workdir()), cluster_name("kwok"), cluster_options(runtime="fake"))
    runner.answers["object_of_cluster"] = yaml.safe_load(POD)

    assert words("stage explain pod/web -n x") == 0

    assert runner.calls[0][1][2] == Target("pod", "web", "x")
    assert "no Stage matches it" in capfd.readouterr().out

    assert words("stage explain widgets.example.com/a") == 0
    assert runner.calls[1][1][2] == Target("widgets.example.com", "a", "default")


@pytest.mark.parametrize("target", ["pod", "pod/", "/web"])
def test_a_target_without_kind_or_name_is_refused(
    words: Words, capfd: Capture, target: str
) -> None:
    assert words(f"stage explain {target}") == 2
    assert f"'{target}' names no object" in capfd.readouterr().err


def test_custom_resources_of_a_cluster_are_among_its_stages(
    words: Words, runner: RecordingRunner, capfd: Capture
) -> None:
    options = cluster_options(runtime="fake", enable_crds=("Stage",))
    save_cluster(WorkDir(default_workdir()), cluster_name("kwok"), options)
    runner.answers["object_of_cluster"] = yaml.safe_load(POD)
    slow = yaml.safe_load(STAGE)
    wrong = {"metadata": {"name": "wrong"}, "spec": {"resourceRef": {"kind": "Pod"}}}
    runner.answers["custom_stages_of_cluster"] = {"slow": slow, "wrong": wrong}

    assert words("stage explain pod/web -n x") == 0

    output = capfd.readouterr()
    assert "- slow: label 'slow' is not there" in output.out
    assert "the Stage 'wrong' of the cluster is left out: 'spec.steps' is empty" in output.err


@pytest.mark.parametrize("more", ["", "pod/web"])
def test_one_object_is_explained(words: Words, capfd: Capture, pod: Path, more: str) -> None:
    object_file = f"--object {pod}" if more else ""
    assert words(f"stage explain {more} {object_file}") == 2
    assert "KIND/NAME" in capfd.readouterr().err


def test_tests_beside_stages_are_run(
    words: Words, capfd: Capture, stage: Path, tmp_path: Path
) -> None:
    (tmp_path / "slow.input.yaml").write_text(POD)

    assert words(f"stage test {tmp_path}") == 1
    assert "missing: slow" in capfd.readouterr().out
    assert words(f"stage test {tmp_path} --write") == 0
    assert words(f"stage test {tmp_path}") == 0
    assert "passed: slow" in capfd.readouterr().out


def test_states_are_drawn(words: Words, capfd: Capture, stage: Path) -> None:
    assert words(f"stage graph {stage} pod-fast") == 0
    assert "slow, 2s  ->  gone" in capfd.readouterr().out

    assert words("stage graph -o mermaid") == 0
    assert capfd.readouterr().out.startswith("stateDiagram-v2\n")
    assert words("stage graph -o json") == 0
    assert {each["kind"] for each in json.loads(capfd.readouterr().out)} == {"Node", "Pod"}


def test_a_word_that_is_no_set_is_refused(words: Words, capfd: Capture) -> None:
    assert words("stage graph pod-genral") == 2
    assert "did you mean 'pod-general'?" in capfd.readouterr().err
    assert words("create cluster --stage pod-genral") == 2
    assert "did you mean 'pod-general'?" in capfd.readouterr().err

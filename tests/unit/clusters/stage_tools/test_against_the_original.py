"""The original's Stages and their tests, of its Go module, are read and come out as there."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kwokctl.clusters.stage_tools.cases import run_cases
from kwokctl.clusters.state.cluster_stages import stages_in_force
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.controller.stages.stage_reader import read_stages
from tests.support.go_programs import module
from tests.support.options import cluster_options

FAST = ("node/fast", "node/heartbeat-with-lease", "pod/fast")
"""What its script hands over as the fast set."""


@pytest.fixture(scope="module")
def whole() -> Path:
    return module("sigs.k8s.io/kwok@v0.8.0")


@pytest.fixture(scope="module")
def folder(whole: Path) -> Path:
    return whole / "kustomize" / "stage"


def stages_below(folder: Path) -> Sequence[Document]:
    """Return the Stages in the files of a folder, without tests."""
    files = [file for file in sorted(folder.rglob("*.yaml")) if file.parent.name != "testdata"]
    stages = [str(file) for file in files if "kind: Stage" in file.read_text("utf-8")]
    return [each for each in load_documents(stages) if each.kind == "Stage"]


def test_every_stage_of_the_original_is_read(whole: Path, folder: Path) -> None:
    documents = [*stages_below(folder), *stages_below(whole / "test" / "e2e")]

    assert all(len(read_stages([each])) == 1 for each in documents)
    assert len(documents) > 20


def test_the_originals_stages_do_what_its_tests_expect(folder: Path) -> None:
    results = run_cases(folder, [])

    assert {each.name: each.difference for each in results if each.state != "passed"} == {}
    assert len(results) > 10


def test_the_whole_fast_set_replaces_the_shipped_stages_and_no_other(folder: Path) -> None:
    fast = [stage for each in FAST for stage in stages_below(folder / each)]
    other = next(each for each in stages_below(folder / "node/chaos"))

    found = stages_in_force(cluster_options(), [*fast, other])

    names = [body["metadata"]["name"] for body in found.documents]
    assert len(names) == len(set(names))
    assert [*found.own] == [each.body for each in (*fast, other)]
    assert found.displaced == {each.name: each.name for each in fast}
    assert {body["metadata"]["name"] for body in found.shipped} == {
        "pod-probed", "pod-gates", "pod-ready-again", "pod-resize", "pod-ephemeral",
    }  # fmt: skip

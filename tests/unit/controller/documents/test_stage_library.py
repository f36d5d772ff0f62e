"""Which Stages are in force, with and without custom resources."""

from typing import Any

from kwokctl.controller.documents.stages import StageLibrary, stages_of_files
from tests.support.stage_documents import read, stage

RUNS = stage("runs", template="phase: Running")
ENDS = stage("ends", phase="Running", template="phase: Failed")
OTHER = stage("runs", template="phase: Unknown")
WRONG = stage("runs", template="phase: {{ end }}")


def library(*files: dict[str, Any]) -> StageLibrary:
    return StageLibrary(stages_of_files(read(files), files))


def remarks(found: StageLibrary, *custom: dict[str, Any]) -> list[str]:
    return [each.text for each in found.update(named(*custom)).remarks]


def named(*custom: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {body["metadata"]["name"]: body for body in custom}


def test_a_custom_resource_takes_the_place_of_the_files_stage_until_it_is_gone() -> None:
    stages = library(RUNS, ENDS)
    usual = stages.update({}).in_force

    replaced = stages.update(named(OTHER)).in_force
    assert list(replaced) == ["runs", "ends"]
    assert replaced["runs"].body["spec"] == OTHER["spec"]
    assert replaced["ends"].value is usual["ends"].value

    assert stages.update({}).in_force["runs"].value is usual["runs"].value


def test_what_others_write_into_the_object_does_not_change_the_stage() -> None:
    stages = library()
    first = stages.update(named(OTHER)).in_force["runs"]
    metadata = {"name": "runs", "resourceVersion": "7", "labels": {"a": "b"}}

    touched = {**OTHER, "metadata": metadata, "status": {"conditions": []}}
    assert stages.update(named(touched)).in_force["runs"].value is first.value
    assert stages.update(named(RUNS)).in_force["runs"].value is not first.value


def test_one_that_says_what_the_file_says_is_the_same_stage() -> None:
    stages = library({**RUNS, "metadata": {"name": "runs", "labels": {"a": "b"}}})

    before = stages.update({}).in_force["runs"].value
    assert stages.update(named(RUNS)).in_force["runs"].value is before


def test_one_that_is_wrong_counts_as_absent() -> None:
    stages = library(RUNS)
    before = stages.update({}).in_force["runs"].value

    found = stages.update(named(WRONG, ENDS))

    assert found.in_force["runs"].value is before
    assert "ends" in found.in_force
    assert list(found.refused) == ["runs"]
    assert found.refused["runs"].startswith("'spec.steps[0].patch.template' cannot be compiled")


def test_each_change_is_reported_once() -> None:
    stages = library(RUNS)

    assert remarks(stages, OTHER, ENDS) == [
        "stage 'ends' of the cluster is played",
        "stage 'runs' of the cluster is played in place of the file's",
    ]
    assert remarks(stages, OTHER, ENDS) == []
    assert remarks(stages, RUNS) == [
        "stage 'ends' of the cluster is gone",
        "stage 'runs' of the cluster has changed",
    ]
    [wrong] = remarks(stages, WRONG)
    assert wrong.startswith("stage 'runs' of the cluster is left out: 'spec.steps[0].patch")
    assert wrong.endswith("; the file's is played")
    assert remarks(stages, WRONG) == []
    assert remarks(stages) == ["stage 'runs' of the cluster is gone: the file's is played again"]

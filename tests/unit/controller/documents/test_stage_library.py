"""Which Stages are in force, with and without custom resources."""

from typing import Any

from kwokctl.clusters.state.cluster_stages import stages_in_force
from kwokctl.controller.documents.stage_documents import StageLibrary, stages_of_files
from tests.support.options import cluster_options
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


def test_a_custom_resource_takes_the_place_of_the_files_stage() -> None:
    stages = library(RUNS, ENDS)
    usual = stages.update({}).in_force

    found = stages.update(named(OTHER))
    assert list(found.in_force) == ["runs", "ends"]
    assert found.in_force["runs"].body["spec"] == OTHER["spec"]
    assert found.in_force["ends"].value is usual["ends"].value
    assert found.replaced == {"runs": "runs"}


def test_a_replaced_stage_stays_left_out_as_long_as_that_is_remembered() -> None:
    stages = library(RUNS, ENDS)
    found = stages.update(named(OTHER))

    gone = stages.update({}, found.replaced)
    assert list(gone.in_force) == ["ends"]
    assert not gone.replaced
    assert [each.text for each in gone.remarks] == [
        "stage 'runs' of the cluster is gone",
        (
            "the file's stage 'runs' stays left out; to play it again: kubectl -n kube-system delete "
            "configmap kwokctl-replaced-stages"
        ),
    ]

    forgotten = stages.update({})
    assert list(forgotten.in_force) == ["runs", "ends"]
    assert [each.text for each in forgotten.remarks] == ["the file's stage 'runs' is played again"]


def test_a_restart_finds_what_was_replaced_before() -> None:
    found = library(RUNS, ENDS).update({}, {"runs": "other", "unknown": "other"})

    assert list(found.in_force) == ["ends"]
    assert [each.text for each in found.remarks] == [
        "the file's stage 'runs' is left out: stage 'other' of the cluster has replaced it"
    ]


def test_a_shipped_stage_is_left_out_for_one_that_is_for_the_same_objects() -> None:
    shipped = [dict(each) for each in stages_in_force(cluster_options(), ()).documents]
    names = [each["metadata"]["name"] for each in shipped]
    stages = library(*shipped)
    part = {"matchLabels": {"part": "x"}}

    some = stages.update(named(stage("slow", template="phase: Running", selector=part)))
    assert [*some.in_force] == [*names, "slow"]

    found = stages.update(named(stage("slow", template="phase: Running")))
    assert [*found.in_force] == [*(name for name in names if name != "pod-ready"), "slow"]
    assert not found.replaced
    assert "the file's stage 'pod-ready' is left out" in found.remarks[-1].text

    back = stages.update({}, found.replaced)
    assert [*back.in_force] == names
    assert back.remarks[-1].text == "the file's stage 'pod-ready' is played again"


def test_a_stage_of_the_users_own_in_a_file_is_replaced_by_name_only() -> None:
    found = library(stage("slow", template="phase: Running")).update(
        named(stage("slower", template="phase: Running"))
    )

    assert [*found.in_force] == ["slow", "slower"]


def test_heartbeats_are_replaced_by_name_only() -> None:
    shipped = [dict(each) for each in stages_in_force(cluster_options(), ()).documents]
    beats = stage("beats", "Node", phase=None, template="phase: Running")

    found = library(*shipped).update(named(beats))

    assert "node-heartbeat-with-lease" in found.in_force
    assert "node-initialize" not in found.in_force


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
    wrong, back = remarks(stages, WRONG)
    assert wrong.startswith("stage 'runs' of the cluster is left out: 'spec.steps[0].patch")
    assert back == "the file's stage 'runs' is played again"
    assert remarks(stages, WRONG) == []
    assert remarks(stages) == ["stage 'runs' of the cluster is gone"]

from pathlib import Path

import yaml

from kwokctl.controller.settings import Settings, read_settings
from kwokctl.controller.stages_in_force import stages_in_force, with_followers
from kwokctl.dataplane.scale_protocol import PlayedStages
from kwokctl.progress import Silent
from tests.support.stage_documents import stage


def settings(folder: Path, *flags: str) -> Settings:
    path = folder / "kwok.yaml"
    kinds = {"a": "Pod", "b": "Widget", "c": "Node"}
    documents = [stage(name, kind, template="phase: Running") for name, kind in kinds.items()]
    path.write_text(yaml.safe_dump_all(documents))
    return read_settings([f"--config={path}", *flags], Silent())


def in_force(folder: Path, *flags: str, started: str = "then") -> PlayedStages:
    found = settings(folder, *flags)
    return stages_in_force(found, found.stage_documents, manager="m", started=started)


def test_stages_played_on_nodes_and_pods_are_reported(tmp_path: Path) -> None:
    answer = in_force(
        tmp_path, "--manage-all-nodes=true", "--node-ip=192.0.2.9", "--node-port=10250"
    )

    assert [each["metadata"]["name"] for each in answer.stages] == ["a", "c"]
    assert (answer.selection["all_nodes"], answer.selection["label_selector"]) == (True, "")
    assert (answer.node_ip, answer.node_port, answer.started) == ("192.0.2.9", 10250, "then")


def test_the_generation_is_another_one_when_anything_is(tmp_path: Path) -> None:
    all_nodes = "--manage-all-nodes=true"
    generations = [
        in_force(tmp_path, all_nodes).generation,
        in_force(tmp_path, all_nodes, "--node-ip=192.0.2.9").generation,
        in_force(tmp_path, "--manage-single-node=n").generation,
        in_force(tmp_path, all_nodes, started="later").generation,
    ]

    assert len(set(generations)) == len(generations)
    assert in_force(tmp_path, all_nodes).generation == generations[0]


def test_faults_that_follow_are_reported_with_another_generation(tmp_path: Path) -> None:
    usual = in_force(tmp_path, "--manage-all-nodes=true")

    assert with_followers(usual, faults_follow=False) == usual
    followed = with_followers(usual, faults_follow=True)
    assert followed.faults_follow
    assert followed.generation != usual.generation
    assert followed.stages == usual.stages

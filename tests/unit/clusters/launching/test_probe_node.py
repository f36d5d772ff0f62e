"""When a controller has to make a node Ready before its cluster is ready."""

from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.launching.probe_node import probe_node
from kwokctl.clusters.state.home import cluster_name
from kwokctl.clusters.state.saved import Saved
from kwokctl.host.paths import WorkDir
from kwokctl.json_value import Json
from kwokctl.model import KWOK_CONTROLLER
from kwokctl.replacing import replace
from tests.support.options import cluster_options
from tests.support.saved_cluster import save_cluster


def saved(folder: Path, *stages: Json, given: Json = None, **options: Any) -> Saved:
    all_options = {"kwok_controller_binary": "/kwok", **options}
    made = save_cluster(WorkDir(folder), cluster_name("kwok"), cluster_options(**all_options))
    kept = ({"kind": "KwokConfiguration", "options": given or {}},)
    return replace(made, stages=stages, kept=kept)


def stage(name: str, kind: str = "Node") -> Json:
    return {"metadata": {"name": name}, "spec": {"resourceRef": {"kind": kind}}}


def test_another_controller_is_probed_if_the_user_waits(tmp_path: Path) -> None:
    node = probe_node(saved(tmp_path), 60)

    assert node is not None
    assert node["spec"]["unschedulable"]
    assert probe_node(saved(tmp_path), 0) is not None
    assert probe_node(saved(tmp_path), None) is None


def test_the_embedded_controller_is_not(tmp_path: Path) -> None:
    assert probe_node(saved(tmp_path, kwok_controller_binary=""), 60) is None


def test_nor_is_one_that_the_cluster_does_not_have(tmp_path: Path) -> None:
    made = saved(tmp_path)
    names = tuple(name for name in made.names if name != KWOK_CONTROLLER)

    assert probe_node(replace(made, names=names), 60) is None


@pytest.mark.parametrize(
    ("stages", "is_probed"),
    [
        ([stage("node-initialize"), stage("mine", "Pod")], True),
        ([stage("mine")], False),
    ],
)
def test_stages_of_the_user_for_nodes_may_make_none_ready(
    tmp_path: Path, stages: list[Json], is_probed: bool
) -> None:
    assert (probe_node(saved(tmp_path, *stages), 60) is not None) is is_probed


def test_stages_that_are_objects_come_later(tmp_path: Path) -> None:
    assert probe_node(saved(tmp_path, enable_crds=("Stage",)), 60) is None


@pytest.mark.parametrize(
    ("given", "is_probed"),
    [
        ({"manageNodesWithAnnotationSelector": "kwok.x-k8s.io/node=fake"}, True),
        ({"manageNodesWithAnnotationSelector": "mine=yes"}, False),
        ({"manageNodesWithLabelSelector": "type=kwok"}, False),
        ({"manageSingleNode": "node-1"}, False),
        ({"manageAllNodes": True}, True),
    ],
)
def test_a_node_that_is_not_selected_is_not_made(
    tmp_path: Path, given: Json, is_probed: bool
) -> None:
    assert (probe_node(saved(tmp_path, given=given), 60) is not None) is is_probed

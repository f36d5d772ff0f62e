""""""

import json
import re

import pytest

from kwokctl import assets
from kwokctl.clusters.state.cluster_stages import stage_remarks, stages_in_force
from kwokctl.components.stage_sets import check_word, shipped_sets
from kwokctl.config.config_documents import Document
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError
from kwokctl.expr import yaml
from tests.support.options import cluster_options


def names(options: ClusterOptions) -> list[str]:
    return [document["metadata"]["name"] for document in stages_in_force(options, []).documents]


def test_nodes_with_leases_beat_slowly_and_others_often() -> None:
    pods = [
        "pod-ready",
        "pod-probed",
        "pod-gates",
        "pod-ready-again",
        "pod-resize",
        "pod-ephemeral",
        "pod-complete",
        "pod-delete",
    ]

    assert names(cluster_options()) == ["node-initialize", "node-heartbeat-with-lease", *pods]
    without = cluster_options(node_lease_duration_seconds=0)
    assert names(without) == ["node-initialize", "node-heartbeat", *pods]


@pytest.mark.parametrize(
    ("lease", "factor", "delay"),
    [(40, 5, (300_000, 600_000)), (40, 100, (1_000_000, 1_100_000)), (0, 5, (50_000, 55_000))],
)
def test_a_heartbeat_is_not_faster_than_the_status_period(
    lease: int, factor: int, delay: tuple[int, int]
) -> None:
    options = cluster_options(node_lease_duration_seconds=lease, heartbeat_factor=factor)

    found = stages_in_force(options, []).documents[1]["spec"]["delay"]

    assert (found["durationMilliseconds"], found["jitterDurationMilliseconds"]) == delay


def own(text: str) -> Document:
    body = yaml.load(text)
    name = body["metadata"]["name"]
    return Document(kind="Stage", api_version="", name=name, body=body, source="mine.yaml")


def stage(name: str, kind: str, *conditions: str) -> Document:
    """Return a Stage whose conditions are `KEY OPERATOR VALUES`."""
    parts = [condition.split(" ") for condition in conditions]
    expressions = "".join(
        f"\n    - jq: {{key: '{key}', operator: {operator}, values: {json.dumps(values)}}}"
        for key, operator, *values in parts
    )
    return own(
        f"""
kind: Stage
metadata: {{name: {name}}}
spec:
  resourceRef: {{kind: {kind}}}
  selector:
    matchLabels: {{}}
    matchExpressions: {expressions or "[]"}
  steps: [{{delete: true}}]
"""
    )


def in_force(options: ClusterOptions, *documents: Document) -> list[str]:
    found = stages_in_force(options, documents).documents
    return [str(document["metadata"]["name"]) for document in found]


FAST = [
    "node-initialize",
    "node-heartbeat-with-lease",
    "pod-ready",
    "pod-probed",
    "pod-gates",
    "pod-ready-again",
    "pod-resize",
    "pod-ephemeral",
    "pod-complete",
    "pod-delete",
]
FRAGILE = stage("fragile", "Pod", '.metadata.labels["fragile"] In true', ".status.phase In Running")
SLOW_BOOT = stage("slow-boot", "Node", ".status.phase NotIn Running")


def test_a_stage_for_some_objects_comes_beside_the_usual_ones() -> None:
    assert in_force(cluster_options(), FRAGILE) == [*FAST, "fragile"]


def test_a_usual_stage_is_replaced_by_a_stage_for_the_same_objects() -> None:
    assert in_force(cluster_options(), SLOW_BOOT) == [*FAST[1:], "slow-boot"]


def test_a_usual_stage_is_replaced_by_a_stage_of_its_name() -> None:
    named = stage("pod-complete", "Pod", ".metadata.name In x")
    rest = [name for name in FAST if name != "pod-complete"]

    assert in_force(cluster_options(), named) == [*rest, "pod-complete"]


def test_a_stage_of_a_named_set_is_replaced_only_by_a_stage_of_its_name() -> None:
    options = cluster_options(stage=("node-fast",))

    assert in_force(options, SLOW_BOOT) == [*FAST, "slow-boot"]


def test_a_heartbeat_is_replaced_only_by_a_stage_of_its_name() -> None:
    mark = stage("mark", "Node", ".status.phase In Running")

    assert in_force(cluster_options(), mark) == [*FAST, "mark"]


def test_a_set_takes_the_place_of_the_usual_one_of_its_part() -> None:
    general = in_force(cluster_options(stage=("pod-general", "pod-chaos")))

    assert general[:3] == ["node-initialize", "node-heartbeat-with-lease", "pod-create"]
    assert general[-2:] == ["pod-container-running-failed", "pod-init-container-running-failed"]
    assert len(general) == len(set(general))


def test_none_leaves_out_the_usual_sets_and_a_minus_a_single_stage() -> None:
    assert in_force(cluster_options(stage=("none",))) == []
    assert in_force(cluster_options(stage=("none",)), FRAGILE) == ["fragile"]
    assert in_force(cluster_options(stage=("none", "node-fast"))) == ["node-initialize"]
    rest = [name for name in FAST if name != "pod-complete"]
    assert in_force(cluster_options(stage=("pod-complete-",))) == rest


def test_pods_that_live_as_on_a_kubelet_have_no_stages() -> None:
    nodes = [name for name in FAST if not name.startswith("pod-")]
    assert in_force(cluster_options(stage=("pod-kubelet",))) == nodes


def test_stages_beside_pods_that_live_as_on_a_kubelet_are_for_those_with_an_annotation() -> None:
    options = cluster_options(stage=("pod-kubelet", "pod-chaos"))
    found = stages_in_force(options, [stage("mine", "Pod")])
    remarks = list(stage_remarks(found, ("pod-kubelet", "pod-chaos")))

    assert {"pod-container-running-failed", "mine"} <= {
        body["metadata"]["name"] for body in found.documents
    }
    assert any("kwokctl.dev/life: stages" in remark for remark in remarks)


def test_only_the_embedded_controller_has_pods_that_live_as_on_a_kubelet() -> None:
    with pytest.raises(UsageError, match="needs the embedded controller"):
        in_force(cluster_options(stage=("pod-kubelet",), kwok_controller_binary="/kwok"))


def test_two_sets_of_one_part_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="'pod-fast' and 'pod-general' exclude each other"):
        in_force(cluster_options(stage=("pod-fast", "pod-general")))


def test_without_heartbeats_a_heartbeat_is_in_force_if_it_is_named() -> None:
    off = cluster_options(node_heartbeat="off", stage=("node-heartbeat",))

    assert in_force(cluster_options(node_heartbeat="off"))[1] == "pod-ready"
    assert in_force(off)[1] == "node-heartbeat"


def test_a_controller_of_the_users_own_has_the_users_stages_alone() -> None:
    options = cluster_options(kwok_controller_binary="/bin/true")

    assert in_force(options, FRAGILE) == ["fragile"]
    own = cluster_options(kwok_controller_binary="/bin/true", enable_crds=("Stage",))
    assert in_force(own, FRAGILE) == []


@pytest.mark.parametrize("words", [(), ("node-fast",), ("node-fast", "pod-fast")])
def test_a_controller_of_the_users_own_gets_the_usual_stages(words: tuple[str, ...]) -> None:
    """The original has no default Stages since 0.8: it ends without any."""
    assert in_force(cluster_options(kwok_controller_binary="/bin/true", stage=words)) == FAST


def test_other_stages_for_a_controller_of_the_users_own_are_complete_and_portable() -> None:
    """The embedded one's functions are not called, those of both makes are."""
    options = cluster_options(kwok_controller_binary="/bin/true", stage=("pod-general",))
    found = stages_in_force(options, ()).documents
    names = [body["metadata"]["name"] for body in found]
    texts = json.dumps(found)

    assert names[:2] == ["node-initialize", "node-heartbeat-with-lease"]
    assert {"pod-create", "pod-ready", "pod-delete"} <= {*names}
    assert "NodeIPWith" in texts
    assert not re.search(
        "ImageID|ContainerID|KubeletAddress|NodeIPsWith", texts.replace("imageID", "")
    )


def test_a_controller_of_the_users_own_is_not_left_without_stages() -> None:
    options = cluster_options(kwok_controller_binary="/bin/true", stage=("none",))

    assert in_force(options, FRAGILE) == ["fragile"]
    with pytest.raises(UsageError, match="may play default Stages of its own"):
        in_force(options)


def test_a_controller_of_the_users_own_gets_no_stage_that_it_may_not_read() -> None:
    options = cluster_options(kwok_controller_binary="/bin/true", stage=("volume-fast",))

    with pytest.raises(UsageError, match="'--stage volume-fast' needs the embedded controller"):
        in_force(options)


def test_a_controller_of_the_users_own_is_told_to_send_no_heartbeats() -> None:
    options = cluster_options(kwok_controller_binary="/bin/true", node_heartbeat="off")

    assert "node-heartbeat-with-lease" not in in_force(options)
    assert "node-initialize" in in_force(options)


def test_custom_resources_come_beside_the_stages_of_files() -> None:
    assert in_force(cluster_options(enable_crds=("Stage",)), FRAGILE) == [*FAST, "fragile"]


def test_create_notes_which_stages_are_in_force() -> None:
    def said(*words: str, documents: tuple[Document, ...] = ()) -> list[str]:
        options = cluster_options(stage=words)
        return list(stage_remarks(stages_in_force(options, documents), words))

    usual = "node-fast, node-heartbeat-with-lease, pod-fast"
    assert said() == []
    assert said("pod-chaos") == [f"Stages: {usual}, pod-chaos"]
    assert said("none") == ["Stages: none"]
    assert said("none", documents=(FRAGILE,)) == ["Stages: 1 of your own"]
    first, second = said(documents=(FRAGILE, SLOW_BOOT))
    assert first == f"Stages: {usual}, 2 of your own"
    assert second.startswith("'node-initialize' is left out, because your 'slow-boot' matches")
    same = stage("pod-complete", "Pod", ".metadata.name In x")
    assert said(documents=(same,))[1] == "yours replace those of the same name: 'pod-complete'"


def test_a_word_is_a_set_or_a_stage_with_a_minus() -> None:
    for word in ("none", "pod-complete-", *shipped_sets()):
        assert check_word(word) is None
    for word in ("pod-genral", "pod-complete", "-pod-complete", ""):
        assert check_word(word) is not None
    assert "pod-general" in str(check_word("pod-genral"))


def test_every_shipped_stage_is_in_a_set_and_has_the_name_of_its_file() -> None:
    folder = assets.path("stages")
    files = {str(f.relative_to(folder).with_suffix("")) for f in folder.rglob("*-*.yaml")}

    sets = shipped_sets().values()
    objects = {file for each in sets for file in each.objects}
    assert files == {file for each in sets for file in each.files} | objects
    for file in files - objects:
        body = yaml.load(assets.text(f"stages/{file}.yaml"))
        assert body["metadata"]["name"] == file.rpartition("/")[2]

from kwokctl.clusters.stage_tools.graph import KindGraph, as_mermaid, as_text, draw
from kwokctl.clusters.stage_tools.sources import documents_from, stage_documents_of
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.expr import yaml
from tests.support.options import cluster_options
from tests.support.stage_documents import read, stage


def graphs(*sets: str) -> list[KindGraph]:
    return draw(read_stages(stage_documents_of(sets, cluster_options())), [])


def test_a_set_leads_from_state_to_state() -> None:
    [nodes] = graphs("node-boot")

    path = [(each.before, each.stage, each.after) for each in nodes.transitions]
    assert path[:2] == [
        ("new", "node-register", "Pending"),
        ("Pending", "node-ready", "Running, Ready"),
    ]
    assert ("Running, Ready", "node-device-ready", "Running, DevicesReady, Ready") in path
    assert nodes.unreached == ()


def test_a_stage_that_fails_is_not_drawn_and_others_are() -> None:
    good = stage("good", template="phase: Running")
    [pods] = draw(read([good, stage("bad", template="{{ fail `no` }}")]), [])

    assert {each.stage for each in pods.transitions} == {"good"}
    assert pods.unreached == ("bad",)


def test_what_has_no_weight_is_not_drawn_where_others_have() -> None:
    [pods] = graphs("pod-general", "pod-chaos", "pod-run-to-completion")
    stages = {each.stage for each in pods.transitions}

    assert {"pod-create", "pod-init-container-running-failed", "pod-run-to-completion"} <= stages
    others = {"pod-gates", "pod-ready-again", "pod-resize", "pod-ephemeral"}
    assert set(pods.unreached) == others


def test_it_is_drawn_as_text_and_for_mermaid() -> None:
    found = graphs("node-fast")

    assert as_text(found).splitlines() == [
        "Node",
        "  new",
        "    node-initialize, at once  ->  Running, Ready",
        "  Running, Ready  (stays)",
    ]
    assert as_mermaid(found).splitlines() == [
        "stateDiagram-v2",
        "    state Node {",
        '        state "new" as k0s0',
        '        state "Running, Ready" as k0s1',
        "        [*] --> k0s0",
        "        [*] --> k0s1",
        "        k0s0 --> k0s1: node-initialize (at once)",
        "    }",
    ]


def test_objects_of_the_users_own_and_of_other_kinds_are_begun_with() -> None:
    spec = """
    resourceRef: {apiGroup: example.com/v1, kind: Lamp}
    selector: {matchLabels: {lit: "yes"}}
    delay: {durationMilliseconds: 1000, jitterDurationMilliseconds: 2000}
    steps:
    - patch: {root: status, template: "phase: Lit", subresource: status}
    """
    body = {"kind": "Stage", "metadata": {"name": "light"}, "spec": yaml.load(spec)}
    stages = read_stages(documents_from([body], "f"))
    lamp = {
        "apiVersion": "example.com/v1",
        "kind": "Lamp",
        "metadata": {},
        "status": {"phase": "Off"},
    }

    [bare] = draw(stages, [])
    [own] = draw(stages, [lamp])

    assert [each.before for each in bare.transitions] == ["new", "Lit"]
    assert own.begins == ("Off",)
    assert "light, 1s to 2s  ->  Lit" in as_text([own])

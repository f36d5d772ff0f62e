import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from kwokctl import assets
from kwokctl.config.config_documents import Document
from kwokctl.controller.controller_context import controller_metrics
from kwokctl.controller.engine.node_conditions import ConditionComposer, ConditionText
from kwokctl.controller.engine.step_player import StepPlayer
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.stages.stage_functions import NODE_CONDITIONS, Kubelet, common, for_nodes
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.dataplane.port import ObjectKey
from kwokctl.embedded.resource_metrics import ANNOTATION
from kwokctl.expr import yaml
from kwokctl.expr.duration import parse_time
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import NODES, PODS
from tests.support.fake_cluster import FakeCluster

BORN, BEFORE, SINCE = "2026-01-01T00:00:00Z", "2026-01-01T12:00:00Z", "2026-01-02T00:00:00Z"
NOW = "2026-01-03T00:00:00Z"
HEALTHY = {kind: ConditionText(*words) for kind, *words in NODE_CONDITIONS}
PRESSURE: Mapping[str, Any] = {"status": "True", "reason": "Mine", "message": "somebody's"}
KINDS = tuple(HEALTHY)

Json = dict[str, Any]


def said(kind: str, words: ConditionText | None = None, /, **more: Any) -> Json:
    """Make a condition, a healthy one by default."""
    return {"type": kind, **(words or HEALTHY[kind])._asdict(), **more}


def stored(kind: str, words: ConditionText | None = None, /, **more: Any) -> Json:
    times: Json = {"lastHeartbeatTime": SINCE, "lastTransitionTime": SINCE}
    return said(kind, words, **times) | more


def silent(kind: str) -> Json:
    """Make a condition as the controller-manager leaves it when a node is not heard of."""
    words = ConditionText("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
    return stored(kind, words)


def report(kind: str) -> Json:
    return {"type": kind, "lastHeartbeatTime": NOW}


def node(*conditions: Json) -> Json:
    metadata = {"name": "n", "creationTimestamp": BORN}
    return {"metadata": metadata, "status": {"conditions": list(conditions)}}


def sent(
    have: Json,
    *items: Json,
    to: ConditionComposer | None = None,
    patch_type: PatchType = PatchType.STRATEGIC,
) -> Any:
    """Tell which conditions are sent to a node when a Stage renders some."""
    document = {"status": {"conditions": list(items)}}
    composed = (to or ConditionComposer()).compose(have, document, patch_type, parse_time(NOW))
    assert document == {"status": {"conditions": list(items)}}
    return composed["status"].get("conditions")


def test_a_condition_that_keeps_its_status_keeps_its_transition_time() -> None:
    have = node(stored("Ready"))

    assert sent(have, said("Ready", lastTransitionTime=NOW)) == [said("Ready")]
    assert sent(have, {"type": "Ready", "reason": "Other", "lastTransitionTime": BORN}) == [
        {"type": "Ready", "reason": "Other"}
    ]


@pytest.mark.parametrize(
    ("rendered", "expected"),
    [
        (None, NOW),
        (BORN, NOW),
        (SINCE, NOW),
        ("2026-01-02T18:00:00Z", "2026-01-02T18:00:00Z"),
        ("2026-01-02T20:00:00.25+02:00", "2026-01-02T20:00:00.25+02:00"),
        ("2026-01-03T00:00:01Z", NOW),
        ("yesterday", NOW),
        ({}, NOW),
    ],
)
def test_a_status_changes_now_unless_a_stage_says_when_and_that_can_be(
    rendered: Any, expected: str
) -> None:
    item = {"type": "Ready", "status": "False"}
    times = {} if rendered is None else {"lastTransitionTime": rendered}

    assert sent(node(stored("Ready")), item | times) == [item | {"lastTransitionTime": expected}]


def test_a_new_condition_is_not_as_old_as_its_node() -> None:
    item = {"type": "Gpu", "status": "False"}

    for rendered, expected in ((BORN, NOW), (BEFORE, BEFORE)):
        (found,) = sent(node(), item | {"lastTransitionTime": rendered})
        assert found["lastTransitionTime"] == expected


def test_a_report_refreshes_what_is_our_own() -> None:
    assert sent(node(stored("Ready")), report("Ready")) == [report("Ready")]


def test_a_report_completes_what_is_missing() -> None:
    (found,) = sent(node(), report("Ready"))

    assert found == said("Ready", lastHeartbeatTime=NOW, lastTransitionTime=NOW)


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_ends_the_silence_that_the_controller_manager_has_noted(kind: str) -> None:
    (found,) = sent(node(silent(kind)), report(kind))

    assert found == said(kind, lastHeartbeatTime=NOW, lastTransitionTime=NOW)


@pytest.mark.parametrize(
    "words",
    [
        PRESSURE,
        {"message": "another"},
        {"reason": "Another"},
        {"status": "Unknown", "reason": "Another"},
        {"reason": None},
    ],
)
def test_a_report_leaves_alone_what_another_program_has_set(words: Json) -> None:
    have = node(stored("MemoryPressure", **words), stored("Ready"))

    assert sent(have, report("MemoryPressure"), report("Ready")) == [report("Ready")]
    assert sent(have, report("MemoryPressure")) is None


def test_conditions_that_are_not_spoken_of_are_not_sent() -> None:
    have = node(stored("Ready"), {"type": "Gpu", **PRESSURE})

    assert sent(have, *map(report, KINDS[:1])) == [report("Ready")]


def test_a_statement_is_written_whatever_was_set_before() -> None:
    have = node(stored("MemoryPressure", **PRESSURE))

    (found,) = sent(have, said("MemoryPressure"))

    assert found == said("MemoryPressure", lastTransitionTime=NOW)


def test_a_report_keeps_the_conditions_set_by_stages() -> None:
    status, words = ConditionComposer(), ConditionText("True", "Leak", "memory leaks")
    sent(node(stored("MemoryPressure")), said("MemoryPressure", words), to=status)

    have = node(stored("MemoryPressure", words))
    assert sent(have, report("MemoryPressure"), to=status) == [report("MemoryPressure")]
    assert sent(have, report("MemoryPressure"), to=ConditionComposer()) is None


def test_what_another_program_has_set_stays_its_own_when_it_is_repeated() -> None:
    status, have = ConditionComposer(), node(stored("Ready", reason="Mine"))

    (found,) = sent(have, {**report("Ready"), "status": "True"}, to=status)
    assert found == {**report("Ready"), "status": "True"}
    assert sent(have, report("Ready"), to=status) is None


def test_conditions_set_by_stages_are_not_kept_without_limit() -> None:
    status = ConditionComposer()
    for number in range(1000):
        words = ConditionText("True", "Leak", f"{number} bytes")
        sent(node(stored("MemoryPressure")), said("MemoryPressure", words), to=status)

    old, new = (ConditionText("True", "Leak", f"{number} bytes") for number in (0, 999))
    assert sent(node(stored("MemoryPressure", old)), report("MemoryPressure"), to=status) is None
    assert sent(node(stored("MemoryPressure", new)), report("MemoryPressure"), to=status)


def test_a_condition_type_that_only_stages_use_is_left_to_them() -> None:
    have = node({"type": "Gpu", **PRESSURE, "lastTransitionTime": SINCE})

    assert sent(have, report("Gpu")) == [report("Gpu")]


def test_a_patch_that_replaces_the_list_keeps_what_is_not_to_change() -> None:
    foreign = stored("MemoryPressure", **PRESSURE)
    have = node(stored("Ready"), foreign, silent("DiskPressure"))
    items = [
        said("Ready", message="other", lastTransitionTime=NOW),
        report("MemoryPressure"),
        report("DiskPressure"),
        report("PIDPressure"),
    ]

    found = sent(have, *items, patch_type=PatchType.MERGE)

    assert found == [
        said("Ready", message="other", lastTransitionTime=SINCE),
        foreign,
        stored("DiskPressure", lastHeartbeatTime=NOW, lastTransitionTime=NOW),
        said("PIDPressure", lastHeartbeatTime=NOW, lastTransitionTime=NOW),
    ]


@pytest.mark.parametrize(
    "document",
    [
        None,
        {},
        {"status": None},
        {"status": {"phase": "Running"}},
        {"status": {"conditions": []}},
        {"status": {"conditions": None}},
        {"status": {"conditions": [report("Ready"), {"$patch": "replace"}]}},
        {"status": {"conditions": [report("Ready"), {"type": "Gpu", "$patch": "delete"}]}},
        {"status": {"conditions": [report("Ready"), {"status": "True"}]}},
        {"status": {"conditions": [report("Ready"), {"type": "Gpu", "reason": None}]}},
        {"status": {"conditions": [report("Ready"), {"type": "Gpu", "status": True}]}},
    ],
)
def test_what_is_no_plain_list_of_conditions_is_left_as_it_is(document: Any) -> None:
    have = node(stored("Ready", **PRESSURE))

    assert ConditionComposer().compose(have, document, PatchType.STRATEGIC, 0.0) is document


def test_a_json_patch_is_left_as_it_is() -> None:
    document = [{"op": "replace", "path": "/status/conditions", "value": [report("Ready")]}]

    assert ConditionComposer().compose(node(), document, PatchType.JSON, 0.0) is document


def test_a_stage_may_say_when_a_node_of_unknown_age_has_changed() -> None:
    have = {"metadata": {"name": "n"}}

    (found,) = sent(have, said("Ready", lastTransitionTime=BORN))

    assert found["lastTransitionTime"] == BORN


def played(name: str, have: Json) -> FakeCluster:
    """Let a shipped Stage be played on a node, with the time of day at `NOW`."""
    (body,) = yaml.load_all(assets.text(f"stages/{name}.yaml"))
    document = Document(kind="Stage", api_version="", name=name, body=body, source=name)
    (stage,) = read_stages([document])
    cluster = FakeCluster(NODES, PODS)
    value: Any = cluster.put(NODES, have)
    player = StepPlayer(
        cluster,
        cluster,
        controller_metrics(),
        lambda: parse_time(NOW),
        OpenFaults(FaultClock(lambda: parse_time(NOW))),
    )
    functions = for_nodes(common(lambda: parse_time(NOW)), Kubelet())
    (step,) = stage.steps
    asyncio.run(player.play([step], ObjectKey(NODES, None, "n"), value, functions))
    return cluster


def conditions(cluster: FakeCluster) -> dict[str, Json]:
    found: list[Json] = cluster.object(NODES, "n")["status"]["conditions"]
    return {condition["type"]: condition for condition in found}


@pytest.mark.parametrize(
    ("name", "ready"),
    [
        ("node-initialize", silent("Ready")),
        ("node-heartbeat", stored("Ready")),
        ("node-heartbeat-with-lease", stored("Ready")),
    ],
)
def test_no_shipped_stage_touches_what_another_program_has_set(name: str, ready: Json) -> None:
    pressure = stored("MemoryPressure", **PRESSURE)
    gpu = {"type": "Gpu", "status": "False"}
    have = node(ready, pressure, gpu, silent("DiskPressure"), stored("PIDPressure"))

    found = conditions(played(name, have))

    since = NOW if name == "node-initialize" else SINCE
    fresh: Json = {"lastHeartbeatTime": NOW, "lastTransitionTime": NOW}
    assert _in_seconds(found) == {
        "Ready": stored("Ready", lastHeartbeatTime=NOW, lastTransitionTime=since),
        "MemoryPressure": pressure,
        "Gpu": gpu,
        "DiskPressure": stored("DiskPressure", **fresh),
        "PIDPressure": stored("PIDPressure", lastHeartbeatTime=NOW),
        "NetworkUnavailable": stored("NetworkUnavailable", **fresh),
    }


@pytest.mark.parametrize("name", ["node-initialize", "node-heartbeat", "node-heartbeat-with-lease"])
def test_a_status_says_where_metrics_server_finds_the_node_s_metrics(name: str) -> None:
    cluster = played(name, node(stored("Ready")))

    assert cluster.object(NODES, "n")["metadata"]["annotations"] == {
        ANNOTATION: "/metrics/nodes/n/metrics/resource"
    }
    assert len(cluster.writes) == 1


def test_a_node_s_own_path_of_metrics_stays() -> None:
    have = node(stored("Ready"))
    have["metadata"]["annotations"] = {ANNOTATION: "/own", "a": "b"}

    cluster = played("node-heartbeat", have)

    assert cluster.object(NODES, "n")["metadata"]["annotations"] == {ANNOTATION: "/own", "a": "b"}


def test_without_leases_a_node_sends_heartbeats_whatever_its_conditions() -> None:
    found = conditions(played("node-heartbeat", node(stored("Ready", message="mine"))))

    expected = stored("Ready", message="mine", lastHeartbeatTime=NOW)
    assert _in_seconds(found)["Ready"] == expected


def _in_seconds(found: dict[str, Json]) -> dict[str, Json]:
    """Cut the fractions of times, as the API server does."""
    cut = {NOW.replace("Z", ".000000000Z"): NOW}
    return {
        kind: {name: cut.get(value, value) for name, value in condition.items()}
        for kind, condition in found.items()
    }

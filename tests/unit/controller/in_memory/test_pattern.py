"""What is played once for all objects is what each of them would have been brought to by itself."""

from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.dataplane.copies.json_stamp import Copy, Stamp, stamp_of
from kwokctl.dataplane.copies.own_values import OwnValues
from kwokctl.dataplane.copies.symbolic_object import PlayedStatus, SymbolicObject, now_of
from kwokctl.dataplane.copies.variable_fields import Role
from kwokctl.expr.gotemplate.symbols import NotSymbolicError
from tests.support.shipped_stages import shipped
from tests.support.stage_documents import read, stage
from tests.unit.controller.in_memory.test_play import OWN, kubelet, node, pod

LATER = [
    Copy(
        serial=serial,
        name=f"{'p' * serial}-{serial}",
        uid=f"00000000-0000-4000-8000-{serial:012d}",
        created=f"2027-01-01T00:00:{serial:02d}Z",
        node=f"n-{serial}",
        pod_ips=(f"10.1.0.{serial}", f"fd00:1::{serial}"),
        host_ips=(f"192.0.2.{serial}",),
    )
    for serial in (7, 30)
]


def made(serial: int, kind: str = "Pod") -> dict[str, Any]:
    body = node() if kind == "Node" else pod(odd="true")
    body["metadata"] |= {
        "name": f"o-{serial}",
        "uid": f"00000000-0000-4000-8000-00000000000{serial}",
        "creationTimestamp": f"2026-01-01T00:00:0{serial}Z",
        "resourceVersion": str(serial),
    }
    if kind == "Pod":
        body["spec"]["nodeName"] = f"m-{serial}"
    return body


def copy_of(serial: int, body: dict[str, Any]) -> Copy:
    metadata = body["metadata"]
    return Copy(
        serial=serial,
        name=metadata["name"],
        uid=metadata["uid"],
        created=metadata["creationTimestamp"],
        node=body["spec"].get("nodeName", ""),
    )


def stamp(kind: str = "Pod") -> Stamp:
    bodies = made(0, kind), made(1, kind)
    return stamp_of(*bodies, copy_of(0, bodies[0]), copy_of(1, bodies[1]), {})


def pattern(stages: Sequence[Stage], kind: str = "Pod", **more: Any) -> PlayedStatus | None:
    born = stamp(kind)
    body = orjson.loads(born.make(copy_of(0, made(0, kind))))
    symbolic = SymbolicObject(born, body, pod_ips=2, host_ips=1)
    played = kubelet(tuple(stages), kind, **more).pattern(symbolic.body, symbolic.own)
    return None if played is symbolic.body else symbolic.played(played)


def alone(stages: Sequence[Stage], copy: Copy, kind: str = "Pod") -> Any:
    body = orjson.loads(stamp(kind).make(copy))
    own = OwnValues(now=now_of(copy), pod_ips=copy.pod_ips, host_ips=copy.host_ips)
    played = kubelet(tuple(stages), kind).play(body, own)
    return None if played is body else played["status"]


def seconds(value: Any) -> Any:
    """Return a value with times in whole seconds, as the API server has them."""
    return orjson.loads(orjson.dumps(value).replace(b".000000000Z", b"Z"))


@pytest.mark.parametrize("kind", ["Pod", "Node"])
def test_the_default_set_does_the_same_with_all(kind: str) -> None:
    found = pattern(shipped(), kind)

    assert found is not None
    for copy in LATER:
        assert seconds(found.of(copy)) == seconds(alone(shipped(), copy, kind))


def test_a_text_is_there_whatever_it_is() -> None:
    named = {"jq": {"key": ".metadata.name", "operator": "Exists"}}
    is_there = stage("a", template="phase: Running", selector={"matchExpressions": [named]})

    found = pattern(read([is_there]))

    assert found is not None
    assert found.status["phase"] == "Running"


@pytest.mark.parametrize(
    "more",
    [
        {"template": "{phase: Running, message: {{ uuidv4 }}}"},
        {"template": "{phase: Running, message: {{ Quote (randBytes 5) }}}"},
        {
            "template": "phase: Running",
            "selector": {"matchExpressions": [{"cel": {"expression": "has(self.spec)"}}]},
        },
        {"template": "{phase: Running, message: {{ Quote (randAlpha 5) }}}"},
        {"template": '{phase: Running, message: {{ Quote (now | date "15:04") }}}'},
        {
            "template": '{{ if eq .metadata.name "o-0" }}phase: Running{{ else }}phase: Failed{{ end }}'
        },
        {"template": "{phase: Running, message: {{ Quote (toJson .metadata) }}}"},
        {"template": "{phase: Running, message: {{ .metadata.name }}}"},
        {"template": "phase: {{ Quote (upper .metadata.name) }}"},
        {"template": "{phase: Running, hostIP: {{ Quote (NodeIPWith .metadata.name) }}}"},
        {
            "template": "phase: Running",
            "selector": {
                "matchExpressions": [
                    {"jq": {"key": ".metadata.name", "operator": "NotIn", "values": ["o-1"]}}
                ]
            },
        },
        {
            "template": "phase: Running",
            "selector": {
                "matchExpressions": [
                    {"jq": {"key": '.metadata | select(.name == "o-1")', "operator": "Exists"}}
                ]
            },
        },
        {
            "template": "phase: Running",
            "selector": {
                "matchExpressions": [
                    {
                        "jq": {
                            "key": '.metadata.name | test("1$")',
                            "operator": "In",
                            "values": ["true"],
                        }
                    }
                ]
            },
        },
    ],
)
def test_what_differs_from_object_to_object_is_not_played_for_all(more: dict[str, Any]) -> None:
    with pytest.raises(NotSymbolicError):
        pattern(read([stage("a", **more)]))


def test_metadata_is_patched_for_each_object_by_itself() -> None:
    words = {"template": "labels: {a: b}", "root": "metadata"}

    with pytest.raises(NotSymbolicError):
        pattern(read([stage("a", steps=[{"patch": words}])]))


def test_metadata_that_is_patched_without_effect_is_left_as_it_is() -> None:
    words = {"patch": {"template": "labels: {odd: 'true'}", "root": "metadata"}}
    found = pattern(read([stage("a", steps=[words], template="phase: Running")]))

    assert found is not None
    assert found.status["phase"] == "Running"


@pytest.mark.parametrize(
    "template",
    [
        "phase: Running",
        "conditions: [{type: DiskPressure, status: 'False', reason: KubeletHasNoDiskPressure, message: kubelet has no disk pressure}]",
        "conditions: [{type: Ready, lastHeartbeatTime: {{ Quote Now }}}]",
    ],
)
def test_all_nodes_have_the_conditions_that_each_would_have(template: str) -> None:
    stages = read([stage("a", "Node", phase=None, template=template)])
    found = pattern(stages, "Node")

    assert found is not None
    for copy in LATER:
        assert seconds(found.of(copy)) == seconds(alone(stages, copy, "Node"))


@pytest.mark.parametrize(
    "conditions",
    [
        "3",
        "[3]",
        "[{type: Ready, status: 'True', message: {{ Quote .metadata.name }}}]",
    ],
)
def test_conditions_that_cannot_be_compared_are_not_played_for_all(conditions: str) -> None:
    new = {"jq": {"key": ".status.phase", "operator": "DoesNotExist"}}
    template = f"phase: Running\nconditions: {conditions}"
    more = {"selector": {"matchExpressions": [new]}, "template": template}
    stages = [stage("a", "Node", phase=None, **more)]

    with pytest.raises(NotSymbolicError):
        pattern(read(stages), "Node")


def test_a_report_on_a_condition_that_others_have_set_is_left_out_for_all() -> None:
    report = "{phase: Running, conditions: [{type: Ready, lastHeartbeatTime: {{ Quote Now }}}]}"
    stages = read([stage("a", "Node", phase=None, template=report)])
    body = node()
    body["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "Broken"}]

    played = kubelet(stages, "Node").pattern(body, OWN)

    assert played["status"] == {**body["status"], "phase": "Running"}


def test_a_choice_by_chance_is_not_made_for_all() -> None:
    stages = [stage("a", template="phase: Running"), stage("b", template="phase: Failed")]

    with pytest.raises(NotSymbolicError):
        pattern(read(stages))


def test_stages_that_wait_leave_all_as_they_are() -> None:
    stages = read([stage("a", delay={"durationMilliseconds": 1}, template="phase: Running")])

    assert pattern(stages) is None


def test_objects_that_the_controller_leaves_alone_are_left_as_they_are() -> None:
    stages = read([stage("a", phase=None, template="phase: Running")])

    assert pattern(stages, disregard_label_selector="odd=true") is None


def test_what_a_stage_makes_of_own_values_is_known_to_be_no_more_than_a_text() -> None:
    template = (
        "{phase: Running, message: {{ Quote (upper .metadata.name) }}, reason: {{ Quote PodIP }}}"
    )
    found = pattern(read([stage("a", template=template)]))

    assert found is not None
    assert {source.role for source in found.sources.values()} == {Role.PLAYED, Role.POD_IP}
    assert found.of(LATER[0])["message"] == "PPPPPPP-7"
    assert found.anything(LATER[0])["message"].startswith("\u2603")

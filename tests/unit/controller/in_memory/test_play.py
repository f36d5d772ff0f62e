"""What is played in memory ends where the controller's engine brings the same object at once."""

import asyncio
import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from kwokctl.controller.in_memory.kubelet import ControllerIdentity, InMemoryKubelet
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.lives import KUBELET, LIFE
from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.dataplane.copies.own_values import OwnValues
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.embedded.selection import select
from kwokctl.embedded.silence import KUBELET as SILENCE
from kwokctl.kube.patching.apply_patch import apply_patch
from kwokctl.kube.resource import EVENTS, LEASES, NODES, PODS
from tests.support import virtual_time
from tests.support.fake_cluster import FakeCluster
from tests.support.fleet_rig import Rig
from tests.support.shipped_stages import shipped
from tests.support.stage_documents import read, stage

CREATED = "2026-01-01T00:00:00Z"
OWN = OwnValues(
    now="2026-01-01T00:00:00.000000000Z",
    pod_ips=("10.1.0.1", "fd00:1::1"),
    host_ips=("192.0.2.1",),
)


def kubelet(
    stages: tuple[Stage, ...], kind: str = "Pod", seed: int = 1, **more: Any
) -> InMemoryKubelet:
    return InMemoryKubelet(
        kind,
        [each for each in stages if each.kind.name == kind],
        selection=select(**({"all_nodes": True} | more)),
        identity=ControllerIdentity(
            kubelet=Kubelet(ip="192.0.2.200", name="localhost", port=10250, address="127.0.0.1"),
            started=CREATED,
            manager="kwok-controller",
        ),
        random=Random(seed),
    )


def pod(name: str = "p", **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid of {name}",
            "creationTimestamp": CREATED,
            "labels": labels,
        },
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Pending"},
    }


def node(**metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n", "uid": "uid of n", "creationTimestamp": CREATED, **metadata},
        "spec": {"podCIDRs": ["10.1.0.0/24", "fd00:1::/64"]},
        "status": {"addresses": [{"type": "InternalIP", "address": "192.0.2.1"}]},
    }


class ExactCluster(FakeCluster):
    """Merges patches as the API server does, order included."""

    async def patch(self, target: ObjectKey, patch: Patch, *, current: Any = None) -> Any:
        stored = self.object(target.resource, target.name, target.namespace or "")
        changed = apply_patch(stored, patch.document, patch.type, target.resource.kind)
        return self.put(target.resource, json.loads(json.dumps(changed)))


def timeless(value: Any) -> Any:
    """Return a value without times: the controller plays a little later."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if not k.endswith(("Time", "startedAt"))}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def by_controller(stages: tuple[Stage, ...], body: dict[str, Any]) -> dict[str, Any]:
    """Return the object that the whole controller gives an object before any delay is over."""

    async def whole() -> dict[str, Any]:
        rig = Rig(stages=stages, cluster=ExactCluster(NODES, PODS, LEASES, EVENTS))
        async with rig.running():
            rig.cluster.put(NODES, node())
            if body["kind"] == "Node":
                await asyncio.sleep(0.5)
                return rig.cluster.object(NODES, "n")
            await asyncio.sleep(0.5)
            rig.cluster.put(PODS, body)
            await asyncio.sleep(0.5)
            return rig.cluster.object(PODS, "p", "ns")

    found: dict[str, Any] = virtual_time.run(whole())
    return found


def test_the_default_set_ends_as_in_the_controller() -> None:
    stages = shipped()

    played = kubelet(stages).play(pod(), OWN)
    assert played["status"]["phase"] == "Running"
    assert timeless(played["status"]) == timeless(by_controller(stages, pod())["status"])

    played = kubelet(stages, "Node").play(node(), OWN)
    assert played["status"]["phase"] == "Running"
    assert timeless(played["status"]) == timeless(by_controller(stages, node())["status"])


def test_an_address_that_a_pod_of_its_nodes_network_asks_for_is_left_to_the_controller() -> None:
    stages = read([stage("a", template="{phase: Running, podIP: {{ Quote PodIP }}}")])
    body = pod()

    assert kubelet(stages).play(body, OWN)["status"]["podIP"] == "10.1.0.1"
    body["spec"]["hostNetwork"] = True
    assert kubelet(stages).play(body, OWN) is body


def test_a_choice_by_weight_is_made_as_often_in_memory() -> None:
    stages = read(
        [
            stage("a", weight=1, template="phase: Running"),
            stage("b", weight=3, template="phase: Failed"),
            stage("never", weight=0, template="phase: Unknown"),
        ]
    )
    player = kubelet(stages)

    phases = Counter(player.play(pod(), OWN)["status"]["phase"] for _ in range(4000))

    assert phases.keys() == {"Running", "Failed"}
    assert 2850 < phases["Failed"] < 3150


REFUSED = (
    "finalizers: [a/b]",
    "{labels: {a: b}, ownerReferences: []}",
    "labels: {a: 1}",
    "labels: {a: -b}",
    f"labels: {{a: {'b' * 64}}}",
    "labels: {a//b: c}",
    "annotations: {a b: c}",
    "annotations: [c]",
    "annotations: {a: 1}",
    f"annotations: {{a: {'b' * (256 << 10)}}}",
)
"""What the API server would not accept as metadata, or would do more with than to store it."""
NO_WORDS = ("labels: [c]", "annotations: [c]")
"""Lists, which a merge patch can put in the place of words."""
OF_SPEC = {"patch": {"template": "activeDeadlineSeconds: 9", "root": "spec"}}
OF_STATUS = {"patch": {"template": "phase: Failed", "root": "status", "subresource": "status"}}
OF_SCALE = {"patch": {"template": "labels: {a: b}", "root": "metadata", "subresource": "scale"}}
AT_TIME = {"expressionFrom": ".metadata.annotations.at"}


@pytest.mark.parametrize(
    "other",
    [
        {"delay": {"durationMilliseconds": 1}, "template": "phase: Failed"},
        {
            "delay": {"durationMilliseconds": 0, "jitterDurationMilliseconds": 9},
            "template": "phase: Failed",
        },
        {"steps": [{"event": {"type": "Normal", "reason": "r", "message": "m"}}]},
        {"steps": [{"delete": True}]},
        {"steps": [{"finalizers": {"add": [{"value": "a/b"}]}}]},
        {"template": "phase: Pending"},
        {"template": "phase: {{ fail .metadata.name }}"},
        {"delay": {"durationFrom": AT_TIME}, "template": "phase: Failed"},
        {"delay": {"jitterDurationFrom": AT_TIME}, "template": "phase: Failed"},
        {"steps": [OF_SPEC]},
        {"steps": [OF_SPEC, OF_STATUS]},
        {"steps": [OF_SCALE]},
        *({"steps": [{"patch": {"template": words, "root": "metadata"}}]} for words in REFUSED),
        *(
            {"steps": [{"patch": {"template": words, "root": "metadata", "type": "merge"}}]}
            for words in NO_WORDS
        ),
    ],
)
def test_a_choice_is_left_to_the_controller_unless_all_can_be_played(other: dict[str, Any]) -> None:
    alone = read([stage("a", **other)])
    both = read([stage("a", **other), stage("b", template="phase: Running")])
    body = pod()

    assert kubelet(alone).play(body, OWN) is body
    assert all(kubelet(both, seed=seed).play(body, OWN) is body for seed in range(20))


def labelling(template: str, **more: Any) -> dict[str, Any]:
    return {"steps": [{"patch": {"template": template, "root": "metadata", **more}}]}


def test_labels_and_annotations_are_patched_before_the_object_is_written() -> None:
    words = "{labels: {odd: null, example.com/A_b.C: ''}, annotations: {a/b: {{ Quote .status.phase }}}}"
    stages = read(
        [
            stage("a", **labelling(words, type="merge")),
            stage(
                "b", template="phase: Running", selector={"matchAnnotations": {"a/b": "Pending"}}
            ),
        ]
    )

    played = kubelet(stages[:1]).play(pod(odd="true"), OWN)["metadata"]

    assert played["labels"] == {"example.com/A_b.C": ""}
    assert played["annotations"] == {"a/b": "Pending"}


def test_annotations_may_have_capitals_and_the_most_bytes_that_the_api_server_stores() -> None:
    text = "b" * ((256 << 10) - len("X.y/a"))
    stages = read([stage("a", **labelling(f"annotations: {{X.y/a: {text}}}"))])

    assert kubelet(stages).play(pod(), OWN)["metadata"]["annotations"] == {"X.y/a": text}


def test_a_delay_with_a_bound_of_nothing_is_none() -> None:
    delay = {"durationMilliseconds": 5, "jitterDurationMilliseconds": 0}
    stages = read([stage("a", delay=delay, template="phase: Running")])

    assert kubelet(stages).play(pod(), OWN)["status"]["phase"] == "Running"


def test_all_but_the_status_stays_as_it_was() -> None:
    played = kubelet(read([stage("a", template="phase: Running")])).play(pod(), OWN)

    assert played == {**pod(), "status": {"phase": "Running"}}


def test_a_stage_that_follows_from_a_label_is_played_too() -> None:
    stages = read(
        [
            stage("a", phase=None, **labelling("labels: {is: next}"),
                  selector={"matchLabels": {"is": "first"}}),
            stage("b", phase=None, template="phase: Running",
                  selector={"matchLabels": {"is": "next"}}),
        ]
    )  # fmt: skip

    assert kubelet(stages).play(pod("p", **{"is": "first"}), OWN)["status"]["phase"] == "Running"


def test_an_object_that_the_controller_would_not_play_any_more_is_left_to_it() -> None:
    stages = read([stage("a", phase=None, **labelling("labels: {left: alone}"))])
    body, other = pod(), node(labels={"type": "kwok"})
    nodes = read([stage("a", "Node", phase=None, **labelling("labels: {type: null}"))])

    assert kubelet(stages, disregard_label_selector="left=alone").play(body, OWN) is body
    labelled = kubelet(nodes, "Node", all_nodes=False, label_selector="type=kwok")
    assert labelled.play(other, OWN) is other


def test_a_stage_as_another_user_is_left_to_the_controller() -> None:
    patch = {"subresource": "status", "root": "status", "template": "phase: Running"}
    steps = [{"patch": {**patch, "impersonation": {"username": "u"}}}]
    body = pod()

    assert kubelet(read([stage("a", steps=steps)])).play(body, OWN) is body


def test_what_follows_at_once_is_played_until_something_waits() -> None:
    stages = read(
        [
            stage("a", template="phase: Running"),
            stage(
                "b", phase="Running", template="{reason: {{ Quote .metadata.name }}, phase: Failed}"
            ),
            stage(
                "c", phase="Failed", delay={"durationMilliseconds": 9}, template="phase: Unknown"
            ),
        ]
    )

    assert kubelet(stages).play(pod(), OWN)["status"] == {"phase": "Failed", "reason": "p"}


@pytest.mark.parametrize(
    ("expression", "phase"),
    [
        ('self.metadata.name == "p"', "Running"),
        ('self.metadata.name == "q"', "Pending"),
        ('self.metadata.annotations["missing"] == "q"', "Pending"),
    ],
)
def test_conditions_in_cel_hold_for_an_object_by_itself(expression: str, phase: str) -> None:
    selector = {"matchExpressions": [{"cel": {"expression": expression}}]}
    stages = read([stage("a", selector=selector, template="phase: Running")])

    assert kubelet(stages).play(pod(), OWN)["status"]["phase"] == phase


def test_stages_in_a_circle_are_left_to_the_controller_and_tried_on_one_object_only() -> None:
    template = "phase: {{ if .metadata.labels.odd }}Failed{{ else }}Pending{{ end }}"
    stages = read(
        [
            stage("a", template="phase: Running"),
            stage("b", phase="Running", template=template),
        ]
    )
    player, odd = kubelet(stages), pod("q", odd="true")

    assert player.play(odd, OWN)["status"]["phase"] == "Failed"
    assert player.play(pod(), OWN) == pod()
    assert player.play(odd, OWN) is odd


def test_addresses_of_other_objects_are_left_to_the_controller() -> None:
    other = read([stage("a", template='{phase: Running, hostIP: {{ Quote (NodeIPWith "m") }}}')])
    own = read([stage("a", template="{phase: Running, podIP: {{ Quote PodIP }}}")])
    body = pod()

    assert kubelet(other).play(body, OWN) is body
    assert kubelet(own).play(body, OWN)["status"]["podIP"] == "10.1.0.1"
    assert kubelet(own).needs_addresses
    assert not kubelet(other).needs_addresses
    assert kubelet(own).play(body, OwnValues(now=OWN.now)) is body


@pytest.mark.parametrize(
    ("words", "addresses"),
    [
        (".spec.nodeName false .metadata.uid", OWN.pod_ips),
        (".spec.nodeName true .metadata.uid", OWN.host_ips),
        ('.spec.nodeName false "of another pod"', None),
        ('"m" false .metadata.uid', None),
        ('"m" true .metadata.uid', None),
    ],
)
def test_addresses_are_those_of_the_pod_or_of_its_node(
    words: str, addresses: tuple[str, ...] | None
) -> None:
    asked = f'PodIPsWith {words} "p" "ns"'
    stages = read([stage("a", template=f"message: {{{{ Quote (join `,` ({asked})) }}}}")])
    body = pod()

    played = kubelet(stages).play(body, OWN)

    if addresses is None:
        assert played is body
    else:
        assert played["status"]["message"] == ",".join(addresses)
    none_known = OwnValues(now=OWN.now, host_ips=OWN.host_ips)
    assert (kubelet(stages).play(body, none_known) is body) == (addresses is not OWN.host_ips)


def test_nothing_is_known_of_the_version_that_an_object_will_have() -> None:
    for template in ("{{ Quote .metadata.resourceVersion }}", "{{ Quote (toJson .metadata) }}"):
        stages = read([stage("a", template=f"{{phase: Running, message: {template}}}")])
        body = pod()
        assert kubelet(stages).play(body, OWN) is body


def test_objects_that_the_controller_leaves_alone_are_not_played() -> None:
    pods = kubelet(shipped(), disregard_label_selector="left=alone")
    nodes = kubelet(shipped(), "Node", all_nodes=False, annotation_selector="fake=true")
    labelled = kubelet(shipped(), "Node", all_nodes=False, label_selector="type=kwok")
    single = kubelet(shipped(), "Node", all_nodes=False, single_node="m")

    left, by_kubelet = pod(left="alone"), pod()
    by_kubelet["metadata"]["annotations"] = {LIFE: KUBELET}
    assert pods.play(left, OWN) is left
    assert pods.play(by_kubelet, OWN) is by_kubelet
    silent = node(annotations={SILENCE: "silent"})
    assert kubelet(shipped(), "Node").play(silent, OWN) is silent
    for player in (nodes, labelled, single):
        body = node()
        assert player.play(body, OWN) is body
    assert nodes.play(node(annotations={"fake": "true"}), OWN)["status"]["phase"] == "Running"
    assert labelled.play(node(labels={"type": "kwok"}), OWN)["status"]["phase"] == "Running"
    named: dict[str, Any] = {"all_nodes": False, "single_node": "n"}
    assert kubelet(shipped(), "Node", **named).play(node(), OWN)["status"]["phase"] == "Running"
    assert kubelet(shipped(), **named).play(pod(), OWN)["status"]["phase"] == "Running"


def test_condition_texts_that_differ_from_the_healthy_ones_are_left_to_the_controller() -> None:
    template = 'conditions: [{type: Ready, status: "False", reason: Broken}]'
    healthy = "conditions: [{type: DiskPressure, status: 'False', reason: KubeletHasNoDiskPressure, message: kubelet has no disk pressure}]"
    body = node()

    assert (
        kubelet(read([stage("a", "Node", phase=None, template=template)]), "Node").play(body, OWN)
        is body
    )
    played = kubelet(read([stage("a", "Node", phase=None, template=healthy)]), "Node").play(
        body, OWN
    )
    assert played["status"]["conditions"][0]["type"] == "DiskPressure"


def test_the_controller_owns_labels_that_were_played() -> None:
    stages = read([stage("a", **labelling("{labels: {a: b}, annotations: {c: d}}"))])
    fields: dict[str, Any] = {"f:metadata": {"f:labels": {".": {}, "f:a": {}, "f:odd": {}}}}
    entry = {"manager": "kwokctl", "operation": "Update", "apiVersion": "v1", "fieldsV1": fields}
    body = pod(odd="true", a="before")
    body["metadata"]["managedFields"] = [{**entry, "time": CREATED, "fieldsType": "FieldsV1"}]

    entries = kubelet(stages).play(body, OWN)["metadata"]["managedFields"]

    assert [(each["manager"], each["fieldsV1"]) for each in entries] == [
        (
            "kwok-controller",
            {"f:metadata": {"f:labels": {"f:a": {}}, "f:annotations": {".": {}, "f:c": {}}}},
        ),
        ("kwokctl", {"f:metadata": {"f:labels": {".": {}, "f:odd": {}}}}),
    ]
    assert "subresource" not in entries[0]


def test_the_controller_owns_what_was_played() -> None:
    fields: dict[str, Any] = {"f:spec": {"f:podCIDRs": {".": {}}}}
    entry = {"manager": "kwokctl", "operation": "Update", "apiVersion": "v1", "fieldsV1": fields}
    body = node(managedFields=[{**entry, "time": CREATED, "fieldsType": "FieldsV1"}])

    entries = kubelet(shipped(), "Node").play(body, OWN)["metadata"]["managedFields"]

    assert [(each["manager"], each["time"]) for each in entries] == [
        ("kwok-controller", CREATED),
        ("kwokctl", CREATED),
    ]
    assert "f:phase" in entries[0]["fieldsV1"]["f:status"]

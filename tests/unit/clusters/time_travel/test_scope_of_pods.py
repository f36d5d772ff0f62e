"""The scheduler is left running by a rewind that puts each pod where the scheduler knows it."""

import pytest

from kwokctl.clusters.time_travel.scope import RewindScope, keeps_node, node_of
from kwokctl.dataplane.objects.stored_values import json_value, value_with
from kwokctl.etcd.marks.mark_difference import Write

SCOPE = RewindScope("/registry")
POD, OTHER = b"/registry/pods/default/web", b"/registry/configmaps/default/web"


def _pod(node: str = "", image: str = "web") -> bytes:
    spec = {
        "containers": [{"name": "main", "image": image}],
        **({"nodeName": node} if node else {}),
    }
    head = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
    return value_with({**head, "spec": spec})


@pytest.mark.parametrize("node", ["", "node-1"])
def test_the_node_of_a_pod_is_read_from_protobuf(node: str) -> None:
    assert node_of(_pod(node)) == node


@pytest.mark.parametrize(("spec", "node"), [({"nodeName": "node-1"}, "node-1"), ({}, "")])
def test_the_node_of_a_pod_is_read_from_json(spec: dict[str, str], node: str) -> None:
    assert node_of(json_value({"apiVersion": "v1", "kind": "Pod", "spec": spec})) == node


@pytest.mark.parametrize("value", [b"", b"k8s:enc:aescbc:v1:x", b"[1]", _pod("node-1")[:-30]])
def test_what_cannot_be_read_has_no_known_node(value: bytes) -> None:
    assert node_of(value) is None


@pytest.mark.parametrize(
    ("then", "now", "keeps"),
    [
        (_pod("node-1"), _pod("node-1", image="other"), True),
        (_pod(), _pod(image="other"), True),
        (_pod("node-1"), _pod("node-2"), False),
        (_pod("node-1"), _pod(), False),
        (_pod(), _pod("node-1"), False),
        (_pod("node-1"), None, True),
        (_pod(), None, False),
        (b"k8s:enc:", b"k8s:enc:", False),
        (b"k8s:enc:", None, False),
    ],
    ids=[
        "on-its-node",
        "on-none",
        "on-another",
        "waits-now",
        "waited-then",
        "gone",
        "gone-perhaps-after-it-was-bound",
        "encrypted",
        "encrypted-and-gone",
    ],
)
def test_a_pod_keeps_its_node_only_if_no_other_can_be_known(
    then: bytes, now: bytes | None, keeps: bool
) -> None:
    write = Write(POD, then, 0 if now is None else 7, now or b"")

    assert keeps_node(write) is keeps
    assert SCOPE.moves_pods([write]) is not keeps


def test_pods_that_go_and_other_objects_move_nothing() -> None:
    gone, other = Write(POD, None, 7, _pod("node-1")), Write(OTHER, b"{}", 0)

    assert not SCOPE.moves_pods([gone, other])


def test_one_pod_that_moves_is_enough() -> None:
    still, moved = (
        Write(POD, _pod("node-1"), 0),
        Write(POD + b"2", _pod("node-1"), 7, _pod("node-2")),
    )

    assert SCOPE.moves_pods([still, moved])

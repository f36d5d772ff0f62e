"""What selections see of nodes and pods, as the API has them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kwokctl.faults.targets.candidates import candidate
from tests.support.faults import condition, node

PLACE = "rack=dgx-rack-0003,leaf=dgx-leaf-0000,feed=dgx-feed-0001"


def a_pod(name: str = "web-0", phase: str = "Running", **meta: Any) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "default", "name": name, "uid": f"uid-{name}", **meta},
        "spec": {"nodeName": "n-0"},
        "status": {"phase": phase},
    }


def with_devices(pod: dict[str, Any], resource: str, *ids: str) -> dict[str, Any]:
    devices = [{"resourceID": each, "health": "Healthy"} for each in ids]
    status = {"name": "app", "allocatedResourcesStatus": [{"name": resource, "resources": devices}]}
    return {**pod, "status": {**pod["status"], "containerStatuses": [status]}}


def test_a_node_has_its_names_place_and_devices() -> None:
    body = node(labels={"kwokctl.dev/shape": "dgx-h100"})
    body["metadata"] |= {"uid": "u-0", "annotations": {"kwokctl.dev/place": PLACE}}
    body["spec"] = {"unschedulable": True}

    found = candidate(body, is_ours=False)

    assert (found.name, found.uid, found.shape) == ("n-0", "u-0", "dgx-h100")
    assert found.place == {
        "rack": "dgx-rack-0003",
        "leaf": "dgx-leaf-0000",
        "feed": "dgx-feed-0001",
    }
    assert found.labels["nvidia.com/gpu.count"] == "8"
    assert found.annotations == {"kwokctl.dev/place": PLACE}
    assert (found.gpus, found.capacity) == (8, {"nvidia.com/gpu": 8, "rdma/ib": 8})
    assert (found.is_ready, found.is_cordoned, found.is_ours) == (True, True, False)
    assert found.pods == ()
    assert not found.is_busy


def test_a_node_that_says_nothing_has_nothing() -> None:
    found = candidate({"metadata": {"name": "bare"}})

    assert (found.uid, found.labels, found.annotations, found.shape) == ("", {}, {}, "")
    assert (found.gpus, found.capacity, found.place) == (0, {}, {})
    assert (found.is_ready, found.is_cordoned, found.is_ours) == (False, False, True)


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_node_is_ready_if_its_condition_says_so(status: str) -> None:
    body = node()
    body["status"]["conditions"] = [
        condition("Other", "True", "x"),
        condition("Ready", status, "x"),
    ]

    assert not candidate(body).is_ready


def test_gpus_that_are_missing_or_not_healthy_count() -> None:
    body = node()
    body["metadata"]["labels"] = {}
    body["metadata"]["annotations"] = {
        "kwokctl.dev/device-inventory": '{"devices":{"nvidia.com/gpu":8}}'
    }
    body["status"]["capacity"] = {"nvidia.com/gpu": "6"}

    assert candidate(body).gpus == 8


def test_pods_that_have_ended_are_left_out() -> None:
    pods = [a_pod("a", "Succeeded"), a_pod("b", "Failed"), a_pod("c", "Pending"), a_pod("d")]

    found = candidate(node(), pods)

    assert [each.key for each in found.pods] == ["default/c", "default/d"]
    assert [each.uid for each in found.pods] == ["uid-c", "uid-d"]
    assert found.is_busy


def test_a_pod_uses_the_gpus_that_its_status_names() -> None:
    uuids = _uuids()
    one = with_devices(a_pod("a", labels={"app": "x"}), "nvidia.com/gpu", uuids[0], uuids[6])
    other = with_devices(a_pod("b"), "claim:gpus/one", "gpu.nvidia.com/n-0/gpu-3")
    foreign = with_devices(a_pod("c"), "claim:gpus/one", "gpu.nvidia.com/n-1/gpu-4")

    found = candidate(node(), [one, other, foreign])

    assert [each.gpus for each in found.pods] == [{0, 6}, {3}, set()]
    assert found.in_use == {0, 3, 6}
    assert found.pods[0].labels == {"app": "x"}


def test_a_pod_uses_the_gpu_of_which_it_has_a_part() -> None:
    body = node(labels={"nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "4"})
    body["status"]["capacity"] = {"nvidia.com/gpu": "8"}
    replica = f"{_uuids()[1]}::3"

    assert candidate(body, [with_devices(a_pod(), "nvidia.com/gpu", replica)]).in_use == {1}


def requesting(name: str, number: int, resource: str = "nvidia.com/gpu") -> dict[str, Any]:
    """Return a pod that does not say which devices it has."""
    container = {"name": "app", "resources": {"requests": {resource: str(number), "cpu": "1"}}}
    return {**a_pod(name), "spec": {"nodeName": "n-0", "containers": [container]}}


def test_a_pod_that_does_not_say_which_gpus_it_has_uses_the_first_that_are_free() -> None:
    uuids = _uuids()
    named = {**requesting("c", 2), **with_devices(a_pod("c"), "nvidia.com/gpu", uuids[1], uuids[7])}
    named["spec"] = requesting("c", 2)["spec"]

    found = candidate(
        node(),
        [
            requesting("a", 2),
            requesting("b", 1, "rdma/ib"),
            named,
            requesting("d", 3),
            requesting("e", 9),
        ],
    )

    assert [each.gpus for each in found.pods] == [{0, 2}, set(), {1, 7}, {3, 4, 5}, {6}]


def test_parts_of_gpus_are_spread_over_them() -> None:
    body = node(labels={"nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "4"})
    body["status"]["capacity"] = {"nvidia.com/gpu": "8"}

    found = candidate(body, [requesting("a", 1), requesting("b", 2)])

    assert [each.gpus for each in found.pods] == [{0}, {1, 0}]


def _uuids() -> Sequence[str]:
    from kwokctl.fleet.devices import gpu_uuid

    return [gpu_uuid("n-0", index) for index in range(8)]


DAEMON: Mapping[str, Any] = {"kind": "DaemonSet", "controller": True, "name": "d"}


@pytest.mark.parametrize(
    ("meta", "is_of_node"),
    [
        ({}, False),
        ({"ownerReferences": [DAEMON]}, True),
        ({"ownerReferences": [{**DAEMON, "controller": False}]}, False),
        ({"ownerReferences": [{**DAEMON, "kind": "ReplicaSet"}]}, False),
        ({"annotations": {"kubernetes.io/config.mirror": "hash"}}, True),
    ],
)
def test_pods_of_daemon_sets_and_static_ones_do_not_make_a_node_busy(
    meta: Mapping[str, Any], is_of_node: bool
) -> None:
    found = candidate(node(), [a_pod(**meta)])

    assert found.pods[0].is_of_node is is_of_node
    assert found.is_busy is not is_of_node


KEY = "node.kubernetes.io/unreachable"


@pytest.mark.parametrize(
    ("tolerations", "stay"),
    [
        ([], 0.0),
        (
            [{"key": KEY, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
            300.0,
        ),
        ([{"key": KEY, "operator": "Exists", "effect": "NoExecute"}], None),
        ([{"key": KEY, "operator": "Exists", "tolerationSeconds": 7}], 7.0),
        ([{"key": KEY, "operator": "Exists", "effect": "NoSchedule"}], 0.0),
        ([{"key": KEY, "effect": "NoExecute", "tolerationSeconds": 7}], 7.0),
        ([{"key": KEY, "operator": "Equal", "value": "x", "effect": "NoExecute"}], 0.0),
        ([{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}], 0.0),
        ([{"operator": "Exists"}], None),
        ([{"operator": "Equal"}], 0.0),
        ([{"key": KEY, "operator": "Exists", "tolerationSeconds": -5}], 0.0),
        (
            [{"operator": "Exists"}, {"key": KEY, "operator": "Exists", "tolerationSeconds": 7}],
            None,
        ),
        ([{"key": KEY, "operator": "Exists", "tolerationSeconds": 7}, {"operator": "Exists"}], 7.0),
    ],
)
def test_a_pod_stays_on_a_silent_node_as_long_as_its_first_toleration_says(
    tolerations: list[dict[str, Any]], stay: float | None
) -> None:
    body = a_pod()
    body["spec"]["tolerations"] = tolerations

    assert candidate(node(), [body]).pods[0].stay == stay

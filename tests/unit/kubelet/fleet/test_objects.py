from typing import Any

import msgspec

from kwokctl.fleet.allocations import Allocation
from kwokctl.fleet.devices import gpu_uuid
from kwokctl.fleet.tree import DeviceCounts
from kwokctl.kubelet.fleet.api_objects import NodeObject, PodObject, node_view, pod_view

POD = b"""{"metadata":{"name":"p","namespace":"a","uid":"u","labels":{"x":"y"},
"annotations":{"k":"v"},"creationTimestamp":"1970-01-01T00:01:00Z"},
"spec":{"nodeName":"n","initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}],
"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}},{"name":"d"}],
"ephemeralContainers":[{"name":"e"}]},
"status":{"phase":"Running","startTime":"1970-01-01T00:02:00Z",
"initContainerStatuses":[{"name":"i","state":{"terminated":{"startedAt":"1970-01-01T00:02:01Z",
"finishedAt":"1970-01-01T00:02:02Z"}}},{"name":"s","state":{"running":{"startedAt":null}}}],
"containerStatuses":[{"name":"c","restartCount":2,
"state":{"running":{"startedAt":"1970-01-01T00:03:00Z"}},
"lastState":{"terminated":{"startedAt":"1970-01-01T00:02:10Z",
"finishedAt":"1970-01-01T00:02:20Z"}}},
{"name":"d","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}"""


def test_of_a_pod_its_containers_and_their_times_are_kept() -> None:
    view = pod_view(msgspec.json.decode(POD, type=PodObject))

    assert (view.namespace, view.name, view.uid, view.node) == ("a", "p", "u", "n")
    assert (view.created, view.start_time, view.phase) == (60.0, 120.0, "Running")
    assert [each.name for each in view.containers] == ["i", "s", "c", "d", "e"]
    init, sidecar, main, waiting, debugger = view.containers
    assert (init.is_init, init.is_running, init.finished_at) == (True, False, 122.0)
    assert (sidecar.is_init, sidecar.is_sidecar, sidecar.is_running) == (True, True, True)
    assert (main.started_at, main.restarts, main.requests) == (180.0, 2, {"cpu": "1"})
    assert main.previous == (130.0, 140.0)
    assert (waiting.is_running, waiting.started_at, waiting.previous) == (False, 0.0, None)
    assert debugger.is_ephemeral


def test_a_pod_without_a_status_has_containers_that_do_not_run() -> None:
    raw = b'{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}'

    view = pod_view(msgspec.json.decode(raw, type=PodObject))

    assert [(each.name, each.is_running) for each in view.containers] == [("c", False)]


def allocated(container: str, *resources: tuple[str, str, str]) -> dict[str, Any]:
    listed = [
        {"name": resource, "resources": [{"resourceID": device, "health": health}]}
        for resource, device, health in resources
    ]
    return {"name": container, "allocatedResourcesStatus": listed}


def devices_of(pod: dict[str, Any]) -> tuple[Allocation, ...]:
    return pod_view(msgspec.json.decode(msgspec.json.encode(pod), type=PodObject)).devices


def test_of_a_pod_the_devices_of_all_containers_are_kept() -> None:
    status = {
        "initContainerStatuses": [allocated("i", ("nvidia.com/gpu", "GPU-0", "Healthy"))],
        "containerStatuses": [
            allocated("c", ("nvidia.com/gpu", "GPU-1", "Unhealthy"), ("claim:x", "y", "Healthy")),
            {"name": "d"},
        ],
    }

    found = devices_of({"metadata": {"name": "p"}, "status": status})

    assert found == (
        Allocation(container="i", resource="nvidia.com/gpu", device_id="GPU-0"),
        Allocation(container="c", resource="nvidia.com/gpu", device_id="GPU-1", health="Unhealthy"),
    )


def test_a_gpu_of_a_claim_is_kept_as_one_of_the_device_plugin() -> None:
    device = "gpu.nvidia.com/n/gpu-2"
    annotation = f'{{"c":{{"claim:x":["{device}"]}}}}'
    bodies: list[dict[str, Any]] = [
        {"metadata": {}, "status": {"containerStatuses": [allocated("c", ("claim:x", device, "Healthy"))]}},
        {"metadata": {"annotations": {"kwokctl.dev/devices": annotation}}, "status": {}},
    ]  # fmt: skip

    for body in bodies:
        assert devices_of({**body, "spec": {"nodeName": "n"}}) == (
            Allocation(container="c", resource="nvidia.com/gpu", device_id=gpu_uuid("n", 2)),
        )


def test_where_the_status_has_no_devices_the_annotation_has() -> None:
    annotation = '{"c":{"nvidia.com/gpu":["GPU-0"]}}'
    status = {"containerStatuses": [{"name": "c"}]}

    found = devices_of(
        {"metadata": {"annotations": {"kwokctl.dev/devices": annotation}}, "status": status}
    )

    assert found == (Allocation(container="c", resource="nvidia.com/gpu", device_id="GPU-0"),)


def test_a_pod_without_devices_has_none() -> None:
    claimed = {"containerStatuses": [allocated("c", ("claim:x", "y", "Healthy"))]}

    for status in ({}, {"containerStatuses": [{"name": "c"}]}, claimed):
        assert devices_of({"metadata": {"name": "p"}, "status": status}) == ()


def test_of_a_node_the_devices_are_counted_that_it_has_and_offers() -> None:
    raw = b"""{"metadata":{"name":"n"},"status":{
    "capacity":{"cpu":"4","nvidia.com/gpu":"8","rdma/ib":"1k","kubernetes.io/x":"3"},
    "allocatable":{"cpu":"3","nvidia.com/gpu":"7"}}}"""

    view = node_view(msgspec.json.decode(raw, type=NodeObject))

    assert view.device_counts == {
        "nvidia.com/gpu": DeviceCounts(capacity=8, allocatable=7),
        "rdma/ib": DeviceCounts(capacity=1000, allocatable=0),
    }


def test_of_a_node_its_capacity_and_addresses_are_kept() -> None:
    raw = b"""{"metadata":{"name":"n","uid":"u","annotations":{"k":"v"}},"status":{
    "capacity":{"cpu":"4"},"addresses":[{"type":"InternalIP","address":"127.0.0.9"}]}}"""

    view = node_view(msgspec.json.decode(raw, type=NodeObject))

    assert (view.capacity, view.addresses, view.annotations) == (
        {"cpu": "4"},
        ("127.0.0.9",),
        {"k": "v"},
    )

import pytest

from kwokctl.fleet.allocations import Allocation
from kwokctl.fleet.claimed_devices import claimed_gpus, device_id, gpu_index, is_unhealthy
from kwokctl.fleet.devices import GPU, gpu_uuid

GPU_3 = device_id("gpu.nvidia.com", "n-0", "gpu-3")


def test_a_device_of_the_gpu_driver_is_the_gpu_with_its_number() -> None:
    assert gpu_index(GPU_3, "n-0") == 3


@pytest.mark.parametrize(
    "words",
    [
        ("other.example", "n-0", "gpu-3"),
        ("gpu.nvidia.com", "n-1", "gpu-3"),
        ("gpu.nvidia.com", "n-0", "gpu-3-mig-1g"),
        ("gpu.nvidia.com", "n-0", "3"),
    ],
)
def test_other_devices_are_no_gpu_of_the_node(words: tuple[str, str, str]) -> None:
    assert gpu_index(device_id(*words), "n-0") is None


@pytest.mark.parametrize(
    ("health", "is_sick"),
    [
        ("unhealthy=3", True),
        (f"unhealthy={gpu_uuid('n-0', 3)}", True),
        (f"unhealthy={GPU_3}", True),
        ("unhealthy=2,4", False),
        ("missing=3", False),
        ("what is that", False),
    ],
)
def test_the_annotation_of_the_node_says_that_it_is_unhealthy(health: str, is_sick: bool) -> None:
    assert is_unhealthy(GPU_3, "n-0", health) is is_sick


def test_the_gpus_of_claims_are_as_those_of_the_device_plugin_each_once() -> None:
    resources = [{"resourceID": GPU_3}, {"resourceID": "other.example/n-0/nic-0"}]
    allocated = [
        {"name": "claim:a", "resources": resources},
        {"name": "claim:a/gpu", "resources": [{"resourceID": GPU_3}]},
        {"name": GPU, "resources": [{"resourceID": gpu_uuid("n-0", 1)}]},
    ]
    status = {"containerStatuses": [{"name": "c", "allocatedResourcesStatus": allocated}]}

    [found] = claimed_gpus({"metadata": {}, "status": status}, "n-0")

    assert found == Allocation(
        container="c", resource=GPU, device_id=gpu_uuid("n-0", 3), health="Unknown"
    )

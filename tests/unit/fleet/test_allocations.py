import pytest

from kwokctl.fleet.allocations import DEVICES, Allocation, allocations_of, claimed_in
from kwokctl.json_value import Json

HELD = Allocation(container="main", resource="nvidia.com/gpu", device_id="GPU-1")


def pod(statuses: list[Json], annotation: str | None = None) -> dict[str, Json]:
    annotations = {} if annotation is None else {DEVICES: annotation}
    return {"metadata": {"annotations": annotations}, "status": {"containerStatuses": statuses}}


def status(name: str, *ids: str, **words: str) -> Json:
    resources = [{"resourceID": each, **words} for each in ids]
    return {"name": "main", "allocatedResourcesStatus": [{"name": name, "resources": resources}]}


def test_the_status_says_which_devices_a_container_has() -> None:
    [found] = allocations_of(pod([status("nvidia.com/gpu", "GPU-1", health="Healthy")]))

    assert found == HELD


def test_a_device_without_health_is_unknown() -> None:
    [found] = allocations_of(pod([status("nvidia.com/gpu", "GPU-1")]))

    assert found.health == "Unknown"


def test_devices_of_claims_are_told_from_others() -> None:
    claimed = pod(
        [status("claim:mine/gpu", "gpu.nvidia.com/n/gpu-0"), status("nvidia.com/gpu", "GPU-1")]
    )

    assert [each.device_id for each in allocations_of(claimed)] == ["GPU-1"]
    assert [each.resource for each in claimed_in(claimed)] == ["claim:mine/gpu"]


def test_an_annotation_says_it_where_the_status_cannot() -> None:
    annotation = '{"main": {"nvidia.com/gpu": ["GPU-1"]}}'

    assert list(allocations_of(pod([{"name": "main"}], annotation))) == [HELD]


@pytest.mark.parametrize("annotation", ["{", "[]", "3", '{"main": 3}', '{"main": {"x": 3}}'])
def test_an_annotation_that_is_something_else_gives_nothing(annotation: str) -> None:
    assert list(allocations_of(pod([], annotation))) == []

"""The GPUs of a node as a DRA driver publishes them."""

from typing import Any

import pytest

from kwokctl.clusters.scaling.objects.companion_objects import CompanionRenderer
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.clusters.state.resource_templates import find_template, load_templates, shape_files
from kwokctl.fleet.devices import gpus
from kwokctl.fleet.slices import gpu_facts

DRA = ".dra = true"


def made(shape: str, *params: str) -> list[dict[str, Any]]:
    request = ScaleRequest(kind=shape, replicas=3, params=(DRA, *params))
    renderer = Renderer(find_template(load_templates([]), shape), request, lambda: 0.0)
    found: list[dict[str, Any]] = []
    for companion in renderer.companions:
        rendering = CompanionRenderer(companion, renderer)
        is_each = companion.made_for == "each"
        found += rendering.of_object(2, {}) if is_each else rendering.of_set(3)
    return found


def slices(shape: str, *params: str) -> list[dict[str, Any]]:
    return [each for each in made(shape, *params) if each["kind"] == "ResourceSlice"]


@pytest.mark.parametrize("shape", ["dgx-h100", "dgx-a100-40gb", "gb200-nvl72"])
def test_a_slice_has_the_devices_that_the_device_plugin_has(shape: str) -> None:
    parameters = find_template(load_templates([]), shape).parameters
    numbers = {"nvidia.com/gpu": parameters["allocatable"]["nvidia.com/gpu"]}

    (found,) = slices(shape)

    name = f"{shape}-000002"
    spec = found["spec"]
    assert spec["nodeName"] == spec["pool"]["name"] == name
    devices = {
        each["name"]: {key: next(iter(value.values())) for key, value in each["attributes"].items()}
        for each in spec["devices"]
    }
    wanted = gpus(name, parameters["labels"], numbers)
    assert {key: each["uuid"] for key, each in devices.items()} == {
        f"gpu-{gpu.index}": gpu.uuid for gpu in wanted
    }
    assert {each["productName"] for each in devices.values()} == {gpu.product for gpu in wanted}
    buses = [each["pcieBusID"] for each in devices.values()]
    assert buses == [gpu.pci_bus_id[4:].lower() for gpu in wanted]


def test_every_gpu_shape_has_slices_and_no_other_has() -> None:
    shapes = {name: made(name) for name in shape_files()}

    with_slices = {name for name, found in shapes.items() if found}

    assert shapes.keys() - with_slices == {"d16s-v5", "m6i-4xlarge", "n2-standard-16"}
    for name in with_slices:
        kinds = [each["kind"] for each in shapes[name]]
        assert kinds == ["DeviceClass", "ResourceSlice"]


def test_the_memory_is_that_of_the_label_or_left_out() -> None:
    (h100,), (unknown,) = slices("dgx-h100"), slices("dgx-a100-40gb")

    assert h100["spec"]["devices"][0]["capacity"] == {"memory": {"value": "81559Mi"}}
    assert "capacity" not in unknown["spec"]["devices"][0]


def test_the_devices_stay_where_the_plugin_offers_none() -> None:
    (found,) = slices("dgx-h100", 'del(.allocatable["nvidia.com/gpu"])')

    assert len(found["spec"]["devices"]) == 8


@pytest.mark.parametrize(
    ("count", "sizes"), [(1, [1]), (128, [128]), (129, [128, 1]), (300, [128, 128, 44])]
)
def test_a_pool_that_one_slice_cannot_hold_has_several(count: int, sizes: list[int]) -> None:
    found = slices("dgx-h100", f'.labels["nvidia.com/gpu.count"] = "{count}"')

    assert [len(each["spec"]["devices"]) for each in found] == sizes
    assert {each["spec"]["pool"]["resourceSliceCount"] for each in found} == {len(sizes)}
    assert len({each["metadata"]["name"] for each in found}) == len(sizes)


def test_labels_say_what_is_published() -> None:
    labels = {
        "nvidia.com/gpu.count": "1",
        "nvidia.com/gpu.family": "hopper",
        "nvidia.com/gpu.compute.major": "9",
        "nvidia.com/gpu.compute.minor": "1",
        "nvidia.com/cuda.driver-version.full": "580.1.2",
    }

    (found,) = gpu_facts(labels, {})

    assert (found["architecture"], found["cudaComputeCapability"]) == ("Hopper", "9.1.0")
    assert found["driverVersion"] == "580.1.2"

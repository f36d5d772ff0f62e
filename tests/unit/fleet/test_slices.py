"""The GPUs of a node as a DRA driver publishes them."""

from typing import Any

import pytest

from kwokctl.clusters.scaling.objects.companion_objects import CompanionRenderer
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.clusters.state.resource_templates import find_template, load_templates, shape_files
from kwokctl.errors import KwokctlError
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


def test_parts_of_gpus_come_in_slices_of_64_beside_one_with_the_counters() -> None:
    counters, *pages = slices("dgx-h100", ".mig = true")

    assert "devices" not in counters["spec"]
    known = {each["name"]: each["counters"] for each in counters["spec"]["sharedCounters"]}
    assert known.keys() == {f"gpu-{number}-counter-set" for number in range(8)}
    assert [len(each["spec"]["devices"]) for each in pages] == [52] * 4
    assert {each["spec"]["pool"]["resourceSliceCount"] for each in (counters, *pages)} == {5}
    devices = [device for each in pages for device in each["spec"]["devices"]]
    assert len({each["name"] for each in devices}) == len(devices)
    for device in devices:
        [taken] = device["consumesCounters"]
        assert taken["counters"].keys() <= known[taken["counterSet"]].keys()


def test_the_whole_gpu_takes_all_and_its_parts_name_their_parent() -> None:
    counters, first, *_ = slices("dgx-h100", ".mig = true")

    devices = {each["name"]: each for each in first["spec"]["devices"]}
    [whole] = devices["gpu-1"]["consumesCounters"]
    assert whole["counters"] == counters["spec"]["sharedCounters"][1]["counters"]
    part = devices["gpu-1-mig-3g40gb-9-4"]
    assert part["attributes"]["parentUUID"] == devices["gpu-1"]["attributes"]["uuid"]
    assert part["attributes"]["profile"] == {"string": "3g.40gb"}
    assert part["capacity"]["memory"] == {"value": "40448Mi"}
    [taken] = part["consumesCounters"]
    assert {name for name in taken["counters"] if "slice" in name} == {
        f"memory-slice-{number}" for number in (4, 5, 6, 7)
    }


def test_parts_of_an_unknown_gpu_are_refused_with_those_that_are_known() -> None:
    with pytest.raises(KwokctlError, match="mig: the parts of the GPU 'NVIDIA B200' are not known"):
        slices("dgx-b200", ".mig = true")


def test_a_class_of_the_parts_comes_with_them() -> None:
    classes = [each for each in made("dgx-h100", ".mig = true") if each["kind"] == "DeviceClass"]

    assert [each["metadata"]["name"] for each in classes] == ["gpu.nvidia.com", "mig.nvidia.com"]

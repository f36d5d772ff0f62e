"""The GPUs of a node as a DRA driver publishes them, and how a pool of several slices changes."""

from typing import Any

import pytest

from kwokctl.clusters.scaling.objects.companion_objects import CompanionRenderer
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.clusters.state.resource_templates import find_template, load_templates, shape_files
from kwokctl.fleet.devices import gpus
from kwokctl.fleet.slices import SliceWrite, Verb, gpu_facts, next_generation, pages

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


def test_a_pool_that_one_slice_cannot_hold_has_several() -> None:
    found = slices("dgx-h100", '.labels["nvidia.com/gpu.count"] = "130"')

    assert [len(each["spec"]["devices"]) for each in found] == [128, 2]
    assert {each["spec"]["pool"]["resourceSliceCount"] for each in found} == {2}
    assert len({each["metadata"]["name"] for each in found}) == 2


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


@pytest.mark.parametrize(
    ("number", "is_tainted", "sizes"),
    [
        (0, False, [0]),
        (128, False, [128]),
        (129, False, [128, 1]),
        (64, True, [64]),
        (65, True, [64, 1]),
    ],
)
def test_a_slice_is_not_larger_than_the_api_server_takes(
    number: int, is_tainted: bool, sizes: list[int]
) -> None:
    assert list(map(len, pages(range(number), is_tainted=is_tainted))) == sizes


def short_for(before: int, after: int) -> int:
    """Return after how many of the writes consumers have no complete pool."""
    there = dict.fromkeys(range(before), (1, before))
    short = 0
    for write in next_generation(before, after, 1):
        if write.verb is Verb.DELETE:
            there.pop(write.page)
        else:
            assert (write.verb is Verb.UPDATE) == (write.page in there)
            there[write.page] = (write.generation, after)
        highest = max(generation for generation, _ in there.values())
        counts = [count for generation, count in there.values() if generation == highest]
        short += len(counts) != counts[0]
    assert there == dict.fromkeys(range(after), (2, after))
    return short


@pytest.mark.parametrize(
    ("before", "after", "short"), [(1, 1, 0), (2, 1, 0), (1, 2, 1), (2, 2, 1), (3, 2, 1), (2, 3, 2)]
)
def test_a_pool_of_two_slices_is_short_of_devices_for_one_write(
    before: int, after: int, short: int
) -> None:
    assert short_for(before, after) == short


def test_slices_that_are_not_needed_any_more_go_last() -> None:
    assert next_generation(2, 1, 4) == [
        SliceWrite(Verb.UPDATE, 0, 5),
        SliceWrite(Verb.DELETE, 1, 0),
    ]

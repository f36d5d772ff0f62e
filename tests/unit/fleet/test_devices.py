from kwokctl.fleet.devices import GPU, device_ids, gpu_of, gpus, is_device

H100 = {
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "nvidia.com/gpu.memory": "81559",
    "nvidia.com/gpu.family": "hopper",
}
SHARED = {**H100, "nvidia.com/gpu.replicas": "4"}
SLICES = "nvidia.com/mig-1g.10gb"


def test_a_gpu_is_known_by_its_node_and_its_index() -> None:
    first, second = gpus("n-0", H100, {GPU: 8})[:2]

    assert (first.pci_bus_id, second.pci_bus_id) == ("00000000:1B:00.0", "00000000:43:00.0")
    assert (second.product, second.memory) == ("NVIDIA H100 80GB HBM3", 81559)
    assert second.peers == (0, 2, 3, 4, 5, 6, 7)
    assert gpus("n-0", H100, {GPU: 8})[0] == first
    uuids = {each.uuid for node in ("n-0", "n-1") for each in gpus(node, H100, {GPU: 8})}
    assert len(uuids) == 16


def test_the_identifiers_of_a_resource_are_those_of_its_gpus() -> None:
    assert device_ids("n-0", H100, {GPU: 8}, GPU) == tuple(
        each.uuid for each in gpus("n-0", H100, {GPU: 8})
    )
    assert device_ids("n-0", H100, {GPU: 8}, "rdma/ib") == ()


def test_replicas_of_a_shared_gpu_are_spread_over_all() -> None:
    ids = device_ids("n-0", SHARED, {GPU: 32}, GPU)

    assert len(set(ids)) == 32
    assert [gpu_of("n-0", SHARED, {GPU: 32}, each) for each in ids] == [*range(8)] * 4
    assert ids[8] == f"{gpus('n-0', SHARED, {GPU: 32})[0].uuid}::1"


def test_parts_of_a_gpu_are_known_by_the_gpu_that_they_are_of() -> None:
    resources = {SLICES: 56}
    ids = device_ids("n-0", H100, resources, SLICES)

    assert all(each.startswith("MIG-") for each in ids)
    assert [gpu_of("n-0", H100, resources, each) for each in (ids[0], ids[6], ids[7], ids[55])] == [
        0, 0, 1, 7,
    ]  # fmt: skip
    assert gpu_of("n-0", H100, resources, "MIG-of-another-node") is None


def test_a_whole_gpu_is_found_where_the_plugin_offers_parts_or_nothing() -> None:
    whole = gpus("n-0", H100, {})[5].uuid

    assert gpu_of("n-0", H100, {}, whole) == 5
    assert gpu_of("n-0", SHARED, {GPU: 32}, whole) == 5
    assert gpu_of("n-0", H100, {"nvidia.com/mig-1g.10gb": 56}, whole) == 5
    assert gpu_of("n-0", {}, {"rdma/ib": 8}, whole) is None


def test_a_node_without_labels_has_as_many_gpus_as_its_resource() -> None:
    assert [each.index for each in gpus("n-0", {}, {GPU: 2})] == [0, 1]
    assert gpus("n-0", {}, {"cpu": 4}) == ()


def test_extended_resources_of_vendors_are_devices() -> None:
    assert [each for each in (GPU, "rdma/ib", "cpu", "hugepages-2Mi") if is_device(each)] == [
        GPU, "rdma/ib",
    ]  # fmt: skip
    assert not is_device("attachable-volumes-csi.kubernetes.io/x")

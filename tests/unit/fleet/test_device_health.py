from kwokctl.fleet.device_health import (
    GRACE,
    MOST,
    DeviceHealth,
    Inventory,
    all_devices,
    devices_of,
    read_health,
    read_inventory,
    report_of,
)
from kwokctl.fleet.devices import device_ids
from kwokctl.json_value import Json

GPU, MIG, SHARED = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared"
BEGIN = 1_767_268_800.0
"""2026-01-01T12:00:00Z."""


def node(text: str | None, inventory: str | None = None, **labels: str) -> Json:
    found = {"kwokctl.dev/device-health": text, "kwokctl.dev/device-inventory": inventory}
    annotations = {name: each for name, each in found.items() if each is not None}
    return {
        "metadata": {
            "name": "n", "labels": labels, "annotations": annotations,
            "creationTimestamp": "2026-01-01T12:00:00Z",
        }
    }  # fmt: skip


def test_an_unhealthy_gpu_is_unhealthy_with_its_replicas_and_its_parts() -> None:
    shared = {f"{GPU}.count": "2", f"{GPU}.replicas": "3"}
    found = devices_of("n", shared, {SHARED: 6}, SHARED, read_health("unhealthy=1"))
    ids = device_ids("n", shared, {SHARED: 6}, SHARED)
    assert found.healthy == [ids[0], ids[2], ids[4]]

    parts = {f"{GPU}.count": "2"}
    found = devices_of("n", parts, {MIG: 14}, MIG, read_health("unhealthy=1"))
    assert found.healthy == list(device_ids("n", parts, {MIG: 14}, MIG)[:7])


def test_a_number_with_a_resource_or_an_identifier_is_one_device() -> None:
    ids = device_ids("n", {}, {"rdma/ib": 4}, "rdma/ib")
    for text in ("rdma/ib:1", ids[1]):
        found = devices_of("n", {}, {"rdma/ib": 4}, "rdma/ib", read_health(f"missing={text}"))
        assert found.listed == [ids[0], *ids[2:]]
        assert found.healthy == found.listed
    found = devices_of("n", {}, {"rdma/ib": 4}, "rdma/ib", DeviceHealth(unhealthy=("1", "None")))
    assert found.healthy == ids


def test_only_the_resources_whose_plugin_is_gone_are_counted_out() -> None:
    report = report_of(node(f"gone={GPU}"), {GPU: 8, "rdma/ib": 4, "cpu": 3}, BEGIN)
    assert report is not None
    assert report.capacity == {GPU: 8, "rdma/ib": 4}
    assert report.allocatable == {GPU: 0, "rdma/ib": 4}
    assert report.due == BEGIN + GRACE
    later = report_of(node(f"gone={GPU}", report.inventory), {GPU: 8, "rdma/ib": 4}, BEGIN + GRACE)
    assert later is not None
    assert (later.capacity[GPU], later.due) == (0, None)
    assert later.inventory == report.inventory


def test_a_delay_counts_from_the_creation() -> None:
    early = report_of(node("delay=30s"), {GPU: 8}, BEGIN + 29)
    late = report_of(node("delay=30s"), {GPU: 8}, BEGIN + 30)
    assert early is not None
    assert late is not None
    assert (early.capacity, early.allocatable, early.due) == ({GPU: 0}, {GPU: 0}, BEGIN + 30)
    assert (late.capacity, late.allocatable, late.due) == ({GPU: 8}, {GPU: 8}, None)


def test_without_an_annotation_nothing_is_reported_and_afterwards_all_that_there_was() -> None:
    assert report_of(node(None), {GPU: 8}, BEGIN) is None
    assert report_of(node(" "), {GPU: 8}, BEGIN) is None
    report = report_of(node(None, '{"devices":{"nvidia.com/gpu":8}}'), {GPU: 0}, BEGIN)
    assert report is not None
    assert report == ({GPU: 8}, {GPU: 8}, None, None)


def test_an_amount_is_no_devices() -> None:
    report = report_of(node("unhealthy=0"), {"example.com/licence": MOST + 1}, BEGIN)
    assert report is not None
    assert report.allocatable == {"example.com/licence": MOST + 1}


def test_an_inventory_counts_what_has_been_added_since_and_none_that_cannot_be_read() -> None:
    inventory = read_inventory('{"devices":{"nvidia.com/gpu":8}}')
    assert all_devices({GPU: 7, "rdma/ib": 2}, inventory) == {GPU: 8, "rdma/ib": 2}
    assert read_inventory("{") == read_inventory("[]") == Inventory()


def test_a_label_that_counts_no_gpu_does_not_hide_those_of_the_capacity() -> None:
    report = report_of(node("unhealthy=0", **{f"{GPU}.count": "0"}), {GPU: 1}, BEGIN)
    assert report is not None
    assert report.allocatable == {GPU: 0}

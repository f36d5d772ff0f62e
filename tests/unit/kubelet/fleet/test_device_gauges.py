from kwokctl.fleet.tree import DeviceCounts
from kwokctl.kubelet.fleet.device_gauges import device_gauges
from kwokctl.kubelet.fleet.views import NodeView


def node(name: str, shape: str, **counts: DeviceCounts) -> NodeView:
    labels = {"kwokctl.dev/shape": shape} if shape else {}
    return NodeView(name=name, uid=name, labels=labels, device_counts=counts)


def counts(capacity: int, allocatable: int) -> DeviceCounts:
    return DeviceCounts(capacity=capacity, allocatable=allocatable)


def test_devices_are_added_up_by_shape_and_resource() -> None:
    found = device_gauges(
        [
            node("a", "dgx", gpu=counts(8, 7), ib=counts(4, 4)),
            node("b", "dgx", gpu=counts(8, 8)),
            node("c", "", gpu=counts(1, 0)),
            node("d", "cpu-only"),
        ]
    )

    assert {tuple(value for _, value in labels): n for (_, labels), n in found.items()} == {
        ("dgx", "gpu", "capacity"): 16,
        ("dgx", "gpu", "allocatable"): 15,
        ("dgx", "ib", "capacity"): 4,
        ("dgx", "ib", "allocatable"): 4,
        ("", "gpu", "capacity"): 1,
        ("", "gpu", "allocatable"): 0,
    }
    assert {name for name, _ in found} == {"kwok_kubelet_devices"}

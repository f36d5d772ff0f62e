import pytest

from kwokctl.clusters.in_cluster.sizing import Size, size_for


def size(nodes: int, pods: int, *, lease_seconds: int = 40, living: bool = False) -> Size:
    return size_for(nodes, pods, lease_seconds=lease_seconds, has_kubelet_pods=living)


@pytest.mark.parametrize(
    ("nodes", "lease_seconds", "replicas"),
    [(1_000, 40, 2), (20_000, 40, 2), (100_000, 40, 4), (100_000, 200, 2), (100_000, 0, 1)],
)
def test_replicas_are_those_of_the_documented_plans(
    nodes: int, lease_seconds: int, replicas: int
) -> None:
    assert size(nodes, nodes * 10, lease_seconds=lease_seconds).replicas == replicas


def test_memory_is_that_of_the_documented_plans() -> None:
    assert size(20_000, 200_000).memory_limit == 1_088
    assert size(100_000, 1_000_000).memory_limit == 5_056


def test_a_small_fleet_has_the_usual_memory() -> None:
    found = size(1_000, 10_000)

    assert (found.memory_request, found.memory_limit) == (256, 1024)


def test_pods_that_live_as_on_a_kubelet_take_more() -> None:
    assert size(1_000, 10_000, living=True).memory_request == 512

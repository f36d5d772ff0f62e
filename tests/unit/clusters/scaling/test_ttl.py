import pytest

from kwokctl.clusters.scaling.ttl import seconds_for


@pytest.mark.parametrize(
    ("nodes", "seconds"),
    [
        (1, "0"),
        (100, "0"),
        (101, "15"),
        (500, "15"),
        (501, "30"),
        (1000, "30"),
        (1001, "60"),
        (2000, "60"),
        (2001, "300"),
        (10000, "300"),
        (10001, "600"),
    ],
)
def test_a_node_gets_what_the_size_of_the_cluster_asks_for(nodes: int, seconds: str) -> None:
    assert seconds_for(nodes) == seconds

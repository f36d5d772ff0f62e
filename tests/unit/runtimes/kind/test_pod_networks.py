from runtimes.kind.pod_networks import pod_networks


def test_every_node_has_a_network_of_its_own() -> None:
    assert pod_networks("10.244.0.0/16", ["b", "a"]) == {
        "a": ["10.244.0.0/24"],
        "b": ["10.244.1.0/24"],
    }


def test_with_two_versions_of_ip_a_node_has_a_network_of_each() -> None:
    found = pod_networks("10.244.0.0/16,fd00:10:244::/56", ["a", "b"])

    assert found["b"] == ["10.244.1.0/24", "fd00:10:244:1::/64"]


def test_what_cannot_be_parted_goes_to_the_first() -> None:
    assert pod_networks("10.1.1.0/26", ["a", "b"]) == {"a": ["10.1.1.0/26"]}

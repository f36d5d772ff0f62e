import logging

import pytest

from kwokctl.controller.nodes.address_pool import AddressPool, PodIPs
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry


def test_the_first_address_is_the_one_after_the_address_of_the_cidr() -> None:
    book = AddressPool()

    assert [book.allocate("10.0.3.0/24") for _ in range(2)] == ["10.0.3.1", "10.0.3.2"]
    assert book.allocate("10.0.4.7/24") == "10.0.4.8"
    assert book.allocate("fd00:0:0:2::/64") == "fd00:0:0:2::1"


def test_a_used_up_cidr_is_continued_with_shared_addresses_after_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    book = AddressPool()
    with caplog.at_level(logging.WARNING):
        first = [book.allocate("10.0.0.0/29") for _ in range(8)]
        second = [book.allocate("10.0.1.0/29") for _ in range(8)]

    assert first[:6] == [f"10.0.0.{n}" for n in range(1, 7)]
    assert first[6:] == ["100.64.0.1", "100.64.0.2"]
    assert second[6:] == ["100.64.0.3", "100.64.0.4"]
    assert len(caplog.records) == 1


def test_a_used_up_ipv6_cidr_is_continued_with_local_addresses() -> None:
    book = AddressPool()

    assert [book.allocate("fd00::/127") for _ in range(2)] == ["fd00::1", "fd00:64::1"]


def test_a_freed_address_is_used_again_lowest_first_and_only_once() -> None:
    book = AddressPool()
    given = [book.allocate("10.0.0.0/24") for _ in range(4)]
    book.release([given[2], given[0]])
    book.release([given[0]])

    again = [book.allocate("10.0.0.0/24") for _ in range(3)]

    assert again == ["10.0.0.1", "10.0.0.3", "10.0.0.5"]


def test_an_address_that_a_pod_has_is_not_handed_out() -> None:
    book = AddressPool()

    assert book.take("10.0.0.2", ("10.0.0.0/24",))
    assert not book.take("10.0.0.2", ("10.0.0.0/24",))
    assert [book.allocate("10.0.0.0/24") for _ in range(2)] == ["10.0.0.1", "10.0.0.3"]


def test_a_taken_address_comes_back_when_it_is_released() -> None:
    book = AddressPool()
    book.take("10.0.0.1", ("10.0.0.0/24",))
    assert book.allocate("10.0.0.0/24") == "10.0.0.2"

    book.release(["10.0.0.1"])

    assert book.allocate("10.0.0.0/24") == "10.0.0.1"


@pytest.mark.parametrize(
    ("cidr", "addresses"),
    [
        ("10.0.0.250/24", ["10.0.0.251", "10.0.0.252", "10.0.0.253", "10.0.0.254"]),
        ("10.0.0.250/255.255.255.0", ["10.0.0.251", "10.0.0.252", "10.0.0.253", "10.0.0.254"]),
        ("10.0.0.0/31", ["10.0.0.1"]),
        ("10.0.0.1", []),
        ("255.255.255.253/0", ["255.255.255.254"]),
        ("fd00::fffd/112", ["fd00::fffe", "fd00::ffff"]),
    ],
)
def test_a_cidr_ends_before_its_broadcast_address(cidr: str, addresses: list[str]) -> None:
    book = AddressPool()
    given = [book.allocate(cidr) for _ in range(len(addresses) + 1)]
    assert given[:-1] == addresses
    assert given[-1] in {"100.64.0.1", "fd00:64::1"}


def test_cidrs_that_overlap_never_give_the_same_address() -> None:
    book = AddressPool()
    cidrs = ("10.0.0.0/16", "10.0.0.0/24", "10.0.0.1/24", "10.0.0.0/28")

    given = [book.allocate(cidr) for _ in range(400) for cidr in cidrs]

    assert len(set(given)) == len(given)


def test_what_is_no_address_is_not_taken() -> None:
    book = AddressPool()

    assert not book.take("")
    assert not book.take("10.0.0.256")
    assert len(book) == 0


def test_a_pool_of_one_address_works() -> None:
    book = AddressPool()

    assert book.allocate("10.1.0.1/32") == "100.64.0.1"


def test_what_is_no_cidr_is_an_error() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        AddressPool().allocate("nonsense")


def test_controllers_with_different_shares_never_hand_out_the_same_address() -> None:
    given: list[str] = []
    for share in range(4):
        book = AddressPool()
        book.divide(share, 4)
        given += [book.allocate("10.0.0.0/28", is_common=True) for _ in range(20)]

    assert len(set(given)) == len(given) == 80
    assert sum(address.startswith("10.0.0.") for address in given) == 14


def test_an_address_of_another_share_is_not_handed_out_when_it_is_freed() -> None:
    book = AddressPool()
    book.divide(1, 4)
    first = book.allocate("10.0.0.0/28", is_common=True)
    assert book.take("10.0.0.1", ["10.0.0.0/28"])

    book.release(["10.0.0.1", first])

    given = [book.allocate("10.0.0.0/28", is_common=True) for _ in range(2)]
    assert given == [first, "10.0.0.6"]


def test_networks_of_single_nodes_are_not_divided() -> None:
    book = AddressPool()
    book.divide(3, 4)

    assert book.allocate("10.1.0.0/24") == "10.1.0.1"


def test_no_address_is_lost_when_a_network_becomes_common() -> None:
    book = AddressPool()
    book.divide(0, 2)
    alone = [book.allocate("10.0.0.0/29") for _ in range(3)]
    assert book.allocate("10.0.0.0/29", is_common=True) == "10.0.0.5"

    book.release(alone)

    given = [book.allocate("10.0.0.0/29", is_common=True) for _ in range(3)]
    assert given == ["10.0.0.1", "10.0.0.3", "100.64.0.1"]


def pod_addresses(share: int, *networks: str) -> tuple[NodeRegistry, PodIPs]:
    """Return what a controller with a share knows of nodes with these networks."""
    nodes = NodeRegistry()
    for number, network in enumerate(networks):
        nodes.put(ManagedNode(f"n{number}", f"uid{number}", (network,), ()))
    addresses = PodIPs(nodes, default_cidr="10.0.0.0/24", node_ip="")
    addresses.divide(share, 2)
    return nodes, addresses


def test_pods_of_nodes_with_one_network_have_different_addresses_from_two_controllers() -> None:
    given = []
    for share in range(2):
        _, addresses = pod_addresses(share, "10.9.0.0/24", "10.9.0.0/24")
        given += [
            addresses.of_pod(f"p{number}", f"n{share}", host_network=False) for number in range(10)
        ]

    assert len(set(given)) == 20
    assert all(address.startswith("10.9.0.") for (address,) in given)


def test_a_network_is_common_as_long_as_several_nodes_have_it() -> None:
    nodes, addresses = pod_addresses(1, "10.9.0.0/24", "10.9.0.0/24", "10.8.0.0/24")
    [first, other] = (nodes.get(name) for name in ("n0", "n2"))
    assert first is not None
    assert other is not None

    nodes.remove("n1")
    assert addresses.of_pod("p0", "n0", host_network=False) == ("10.9.0.1",)
    nodes.move(other, first.cidrs)
    assert addresses.of_pod("p1", "n0", host_network=False) == ("10.9.0.2",)
    nodes.put(ManagedNode("n2", "uid", ("10.7.0.0/24",), ()))
    assert addresses.of_pod("p2", "n0", host_network=False) == ("10.9.0.3",)
    assert not nodes.is_common("10.8.0.0/24")

from ipaddress import ip_address

import pytest

from kwokctl.clusters.scaling.addresses import add_cidr, add_ip
from kwokctl.errors import ExpressionError


@pytest.mark.parametrize(
    ("cidr", "count", "expected"),
    [
        ("10.0.0.0/24", 0, "10.0.0.0/24"),
        ("10.0.0.0/24", 1, "10.0.1.0/24"),
        ("10.0.0.0/24", 256, "10.1.0.0/24"),
        ("10.0.0.0/24", 65535, "10.255.255.0/24"),
        ("10.0.0.0/24", 65536, "11.0.0.0/24"),
        ("10.0.0.7/24", 1, "10.0.1.0/24"),
        ("10.0.0.0/26", 3, "10.0.0.192/26"),
        ("10.0.1.0/24", -1, "10.0.0.0/24"),
        ("fd00::/64", 1, "fd00:0:0:1::/64"),
        ("fd00::/64", 65536, "fd00:0:1::/64"),
    ],
)
def test_a_network_is_counted_on_by_its_size(cidr: str, count: int, expected: str) -> None:
    assert add_cidr(cidr, count) == expected


@pytest.mark.parametrize(
    ("address", "count", "expected"),
    [
        ("192.0.2.1", 0, "192.0.2.1"),
        ("192.0.2.1", 255, "192.0.3.0"),
        ("2001:db8::1", 65535, "2001:db8::1:0"),
    ],
)
def test_an_address_is_counted_on(address: str, count: int, expected: str) -> None:
    assert add_ip(address, count) == expected


def test_networks_never_start_over() -> None:
    with pytest.raises(ExpressionError, match="no 2 networks") as caught:
        add_cidr("255.255.254.0/24", 2)

    assert caught.value.hint is not None
    assert len({add_cidr("10.0.0.0/24", n) for n in range(0, 1 << 20, 4096)}) == 256


def test_addresses_never_start_over() -> None:
    with pytest.raises(ExpressionError, match="no 1 addresses"):
        add_ip("255.255.255.255", 1)


@pytest.mark.parametrize("text", ["", "ten", "10.0.0.0/40"])
def test_what_is_no_network_is_named(text: str) -> None:
    with pytest.raises(ExpressionError, match=f"AddCIDR: '{text}' is not a network"):
        add_cidr(text, 1)


def test_what_is_no_address_is_named() -> None:
    with pytest.raises(ExpressionError, match="AddIP: 'x' is not an address"):
        add_ip("x", 1)


def test_what_is_no_count_is_named() -> None:
    with pytest.raises(ExpressionError, match="AddIP: 'many' is not a whole number"):
        add_ip("10.0.0.1", "many")  # type: ignore[arg-type]  # templates pass what they like


@pytest.mark.parametrize(
    "address",
    [
        "2001:db8::1",
        "2001:0:0:1::",
        "2001:0:1:2:3:4:5:6",
        "::1",
        "::ffff:0:0",
        "::c000:201",
        "0.0.0.0",
    ],
)
def test_addresses_are_written_as_python_writes_them(address: str) -> None:
    first = ip_address(address)

    assert [add_ip(address, n) for n in range(300)] == [str(first + n) for n in range(300)]

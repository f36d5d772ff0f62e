from typing import Any

import pytest

from kwokctl.kube.statuses.leaves import (
    Address,
    AddressIfAny,
    Leaf,
    Quantity,
    Time,
    leaf_of,
)

RIGHT: dict[type[Leaf], list[Any]] = {
    Time: [
        "2024-02-29T23:59:59Z", "0001-01-01T00:00:00Z", "2024-01-01T00:00:00.5Z",
        "2024-01-01T00:00:00.123456789Z", "2024-01-01T00:00:00+01:00",
        "2024-01-01T00:00:00.1-14:59",
    ],
    Quantity: [
        "0", "1", "-1", "+1", "1.", ".5", "1.5", "100m", "5n", "5u", "1k", "1M", "1G", "1T", "1P",
        "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", "1e3", "1E3", "1e+3", "1e-3", "1.5Gi", 1, 0,
        -5, 1.5, 10**15,
    ],
    Address: ["10.0.0.1", "255.255.255.255", "::", "fd00::1", "2001:db8::ffff"],
    AddressIfAny: ["", "10.0.0.1"],
}  # fmt: skip

WRONG: dict[type[Leaf], list[Any]] = {
    Time: [
        "", "now", "2024-01-01", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z",
        "2024-01-01T24:00:00Z", "2024-01-01T00:00:60Z", "2024-01-01 00:00:00Z",
        "2024-01-01t00:00:00Z", "2024-01-01T00:00:00z", "2024-01-01T00:00:00",
        "2024-01-01T00:00:00,5Z", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00+0100",
        "2024-01-01T00:00:00+15:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00",
        " 2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z\n", "٢٠٢٤-01-01T00:00:00Z", 1704067200, True,
        None, [], {},
    ],
    Quantity: [
        "", ".", "1O", "m", "1K", "1ki", "1 Gi", " 1", "1\n", "1,5", "--1", "1e", "1e1000", "1mm",
        "0x1", "1_000", "٣", "1" * 19, "NaN", "Inf", True, None, [], {}, 10**16, float("nan"),
    ],
    Address: [
        "", "10.0.0", "10.0.0.256", "010.0.0.1", "10.0.0.1/32", "localhost", "fe80::1%eth0",
        "::ffff:10.0.0.1", " 10.0.0.1", "10.0.0.1\n", 1, None,
    ],
    AddressIfAny: ["x", 0],
}  # fmt: skip


@pytest.mark.parametrize(("leaf", "value"), [(t, v) for t, values in RIGHT.items() for v in values])
def test_what_the_api_server_reads_is_right(leaf: type[Leaf], value: Any) -> None:
    assert isinstance(leaf_of(leaf, value), leaf)


@pytest.mark.parametrize(("leaf", "value"), [(t, v) for t, values in WRONG.items() for v in values])
def test_any_other_value_is_reported_with_the_expected_type(leaf: type[Leaf], value: Any) -> None:
    with pytest.raises(ValueError, match=f"is not {leaf.article}$"):
        leaf_of(leaf, value)

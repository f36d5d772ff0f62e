import pytest

from kwokctl.host.ports import covers


@pytest.mark.parametrize(
    ("address", "other", "covered"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "172.18.0.1", False),
        ("0.0.0.0", "172.18.0.1", True),
        ("0.0.0.0", "::1", False),
        ("::", "::1", True),
        ("::", "172.18.0.1", False),
    ],
)
def test_who_listens_everywhere_is_reached_at_every_address_of_the_family(
    address: str, other: str, covered: bool
) -> None:
    assert covers(address, other) is covered

""""""

import pytest

from kwokctl.embedded.flag_parser import parse_address
from kwokctl.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:10247", ("127.0.0.1", 10247)),
        (":10247", ("0.0.0.0", 10247)),
        ("[::1]:1", ("::1", 1)),
    ],
)
def test_an_address_is_read(text: str, expected: tuple[str, int]) -> None:
    assert parse_address(text) == expected


@pytest.mark.parametrize("text", ["host", "host:", "host:99999", "host:http"])
def test_a_wrong_address_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=text):
        parse_address(text)

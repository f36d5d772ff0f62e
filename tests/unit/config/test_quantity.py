""""""

import pytest

from kwokctl.config.quantity import to_bytes
from kwokctl.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "size"),
    [("8Gi", 8 << 30), ("1.5Ki", 1536), ("2k", 2000), ("17", 17), (".5M", 500_000)],
)
def test_quantities_are_whole_bytes(text: str, size: int) -> None:
    assert to_bytes(text) == size


@pytest.mark.parametrize("text", ["", "8gi", "8 Gi", "-1", "Gi", "1e3"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a size"):
        to_bytes(text)

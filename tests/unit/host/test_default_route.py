""""""

from pathlib import Path

import pytest

from kwokctl.host.default_route import has_default_route

_HEAD = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
_DEFAULT = "eth0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
_LOCAL = "eth0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
_ZERO = "0" * 32
_SIX = f"{_ZERO} 00 {_ZERO} 00 fe80{'0' * 28} 00000400 00000001 00000000 00000003 "


@pytest.mark.parametrize(
    ("four", "six", "has_one"),
    [
        (_HEAD + _LOCAL + _DEFAULT, "", True),
        (_HEAD + _LOCAL, "", False),
        (_HEAD, f"{_SIX}    eth0\n", True),
        (_HEAD, f"{_SIX}      lo\n", False),
        ("", "", False),
    ],
)
def test_a_default_route_is_found_in_either_table(
    tmp_path: Path, four: str, six: str, has_one: bool
) -> None:
    (tmp_path / "route").write_text(four)
    (tmp_path / "ipv6_route").write_text(six)
    assert has_default_route(tmp_path) is has_one

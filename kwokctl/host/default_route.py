"""Says whether this machine has a way to others: a default route."""

from pathlib import Path

_NET = Path("/proc/net")
_LOOPBACK = "lo"


def has_default_route(folder: Path = _NET) -> bool:
    """Return whether packets to other machines have a route, over IPv4 or IPv6; true if unknown.

    Both tables are those of proc(5); IPv6 has entries of the loopback interface for what is
    unreachable.
    """
    try:
        four = [line.split() for line in _lines(folder / "route")[1:]]
        six = [line.split() for line in _lines(folder / "ipv6_route")]
    except OSError:
        return True
    is_four = any(int(row[1], 16) == int(row[7], 16) == 0 for row in four)
    return is_four or any(
        int(row[0], 16) == int(row[1], 16) == 0 and row[-1] != _LOOPBACK for row in six
    )


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="ascii").splitlines() if file.exists() else []

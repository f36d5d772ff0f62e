"""Addresses of this host: where programs listen, and where those are dialled then."""

LOOPBACK = "127.0.0.1"
_EVERYWHERE = {"0.0.0.0": LOOPBACK, "::": "::1"}  # noqa: S104 - asked for by the user


def dialled(address: str) -> str:
    """Return where a program that listens on an address of this host is dialled from here."""
    return _EVERYWHERE.get(address, address)


def covers(address: str, other: str) -> bool:
    """Tell whether who listens on an address of this host is reached at another one, too.

    All addresses of IPv6 are none of IPv4.
    """
    is_everywhere = _EVERYWHERE.get(address) == LOOPBACK and ":" not in other
    return is_everywhere or dialled(address) == other


def joined(address: str, port: int) -> str:
    """Return `host:port`, with an IPv6 address in brackets."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"

"""Addresses of this host: where programs listen, and where those are dialled then."""

import socket

from kwokctl.errors import UsageError

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


def check_local(address: str) -> None:
    """Raise UsageError unless programs can listen on an address here."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            probe.bind((address, 0))
    except OSError as e:
        raise UsageError(
            f"'{address}' is no address of this machine on which programs can listen",
            hint="give one that it has, or 0.0.0.0 for all",
            detail=e.strerror,
        ) from e

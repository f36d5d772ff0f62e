"""The loopback address at which each node answers: clients cannot dial its internal one.

Nodes have internal addresses of the network for measurements, 198.18.0.0/15 (RFC 2544, section C.2.2),
which leads nowhere. With 127 as its first number such an address is one of this machine.
"""

_INTERNAL, _LOOPBACK = "198.", ("127.18.", "127.19.")


def behind_loopback(address: str) -> str:
    """Return the internal address of the node that answers at a loopback address, if it is of one."""
    if not address.startswith(_LOOPBACK):
        return ""
    return _INTERNAL + address.partition(".")[2]

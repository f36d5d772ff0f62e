"""Under which name this process holds leases."""

import socket
import uuid


def own_identity() -> str:
    """Make a name like "hostname_uuid" that no other controller uses."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"

"""The name under which a controller holds leases."""

import os
import socket
import uuid
from collections.abc import Mapping

POD_UID = "POD_UID"
"""The variable in which a manifest gives a controller the uid of its pod."""


def own_identity(environ: Mapping[str, str] = os.environ) -> str:
    """Return a name that no other controller has: the uid of its pod, or one like "host_uuid".

    A container that is started again in its pod keeps its name, and with that its leases.
    """
    return environ.get(POD_UID, "") or f"{socket.gethostname()}_{uuid.uuid4()}"

"""Finds the service of Podman, which speaks as Docker's engine does.

The sockets are those of https://docs.podman.io/en/latest/markdown/podman-system-service.1.html.
"""

import os

from kwokctl.host.platforms import user_id
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine

NAMED_BY = "CONTAINER_HOST"
"""The variable that names another service, to Podman's own command too."""
_REMEDY = (
    "start Podman's service ('{start} podman.socket', or without systemd 'podman system service --time=0 &'), "
    f"or name another engine with {NAMED_BY}"
)


def podman_engine() -> Engine:
    """Return the service that the environment names, else the usual one of this user."""
    url = os.environ.get(NAMED_BY, "")
    if not url:
        folder = os.environ.get("XDG_RUNTIME_DIR") if user_id() else "/run"
        url = f"unix://{folder or f'/run/user/{user_id()}'}/podman/podman.sock"
    start = "systemctl --user start" if user_id() else "systemctl start"
    remedy = _REMEDY.format(start=start)
    return Engine(Endpoint(url=url), remedy=remedy, named_by=NAMED_BY, command="podman")

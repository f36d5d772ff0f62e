"""What kubectl speaks to the API server for exec, cp, attach and port-forward."""

import asyncio
import os
from pathlib import Path

import pytest

from kwokctl.errors import KwokctlError
from kwokctl.replacing import replace
from tests.support import store
from tests.support.installed import Installed, scripts

OLDER = "v1.30.14"
"""A kubectl of the last minor release that forwards ports over SPDY by itself, and before which exec and
attach did, too."""
WAYS = ("websocket", "spdy", "older")


def speaking(cluster: Installed, way: str) -> Installed:
    """Return the same for a kubectl that speaks in this way; skip the test if there is none."""
    names = ("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", "KUBECTL_PORT_FORWARD_WEBSOCKETS")
    settings = dict.fromkeys(names, str(way == "websocket").lower())
    if way == "older":
        settings["PATH"] = f"{_older()}:{scripts()}:{os.environ['PATH']}"
    return replace(cluster, settings=settings)


def _older() -> Path:
    """Return the folder of the older kubectl."""
    try:
        return Path(asyncio.run(store.program("kubectl", OLDER))).parent
    except KwokctlError:
        pytest.skip(f"there is no kubectl {OLDER} in the store")

"""Says where clusters run: what other platforms lack is looked for when it is used, not at a start."""

import os
import sys

from kwokctl.errors import UnavailableError

WAY = (
    "run a whole cluster in one container, from the image that 'make image-all' makes on Linux "
    "(docs/how-to/run-in-containers.md), or use kwokctl in a Linux virtual machine"
)
_NAMES = {"darwin": "macOS", "win32": "Windows"}


def is_linux() -> bool:
    """Return whether this machine runs Linux, where clusters can be made."""
    return sys.platform == "linux"


def machine_name() -> str:
    """Return what this machine calls its processor; empty where it does not say, as on Windows."""
    return os.uname().machine.lower() if hasattr(os, "uname") else ""


def check_platform() -> None:
    """Raise UnavailableError, with a way that works, where clusters cannot be made.

    On every runtime the controller is a process of this machine, which is followed through `/proc`.
    """
    if not is_linux():
        name = _NAMES.get(sys.platform, sys.platform)
        raise UnavailableError(f"clusters are made on Linux, and this is {name}", hint=WAY)

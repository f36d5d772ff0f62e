"""Says where clusters run: what other platforms lack is looked for when it is used, not at a start."""

import os
import sys

from kwokctl.errors import UnavailableError

_CONTAINER = (
    "run a whole cluster in one container, from the image that 'make image-all' makes on Linux "
    "(docs/how-to/run-in-containers.md)"
)
_MACHINE = "use kwokctl in a Linux virtual machine"
_OF_WINDOWS = "use kwokctl in WSL 2, which is Linux ('wsl --install')"
_NAMES = {"darwin": "macOS", "win32": "Windows"}
NO_USERS = 0
"""The number of all users, and of the owners of files, where users have no numbers, as on Windows."""


def is_linux() -> bool:
    """Return whether this machine runs Linux, where clusters can be made."""
    return sys.platform == "linux"


def platform_name() -> str:
    """Return what people call the system of this machine."""
    return _NAMES.get(sys.platform, sys.platform)


def machine_name() -> str:
    """Return what this machine calls its processor; the variable is that of Windows."""
    found = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE")
    return (found or "").lower()


def user_id() -> int:
    """Return the number of this user."""
    return os.getuid() if hasattr(os, "getuid") else NO_USERS


def way() -> str:
    """Return what to do where clusters cannot be made."""
    machine = _OF_WINDOWS if sys.platform == "win32" else _MACHINE
    return f"{machine}, or {_CONTAINER}"


def check_platform() -> None:
    """Raise UnavailableError, with a way that works, where clusters cannot be made.

    On every runtime the controller is a process of this machine, which is followed through `/proc`.
    """
    if not is_linux():
        raise UnavailableError(
            f"clusters are made on Linux, and this is {platform_name()}", hint=way()
        )

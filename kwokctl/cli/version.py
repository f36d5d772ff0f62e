"""Builds the line that `--version` prints; imports nothing that is slow to load."""

import os
import sys

from kwokctl import __version__

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def version_line() -> str:
    """Return the version of kwokctl and of what it runs on, as the original words it."""
    machine = os.uname().machine if hasattr(os, "uname") else ""
    python = ".".join(str(part) for part in sys.version_info[:3])
    platform = f"{sys.platform}/{_ARCHITECTURES.get(machine, machine)}"
    return f"kwokctl version v{__version__} python{python} ({platform})"

"""Raises limits of the kernel that the programs of all lanes together would reach."""

import sys
from pathlib import Path

_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
_NEEDED = 1_024
"""An API server takes six, a node of kind thirty, and several of each run at a time. The default of 128 was reached:
containerd then starts without what the kubelet needs, and a node of kind never becomes ready."""


def raise_limits() -> None:
    """Allow as many inotify instances as the tests need, where the kernel lets this user."""
    try:
        now = int(_INSTANCES.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return
    if now >= _NEEDED:
        return
    try:
        _INSTANCES.write_text(f"{_NEEDED}\n", encoding="ascii")
    except OSError as e:
        print(f"limits: {now} inotify instances may be too few for all lanes: {e}", file=sys.stderr)
    else:
        print(f"limits: fs.inotify.max_user_instances is {_NEEDED} now; it was {now}")

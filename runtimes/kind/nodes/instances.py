"""Refuses nodes for which the kernel has no inotify instances left, and names that cause of a failure.

containerd without one starts without its service for the kubelet, which then never starts: kind would wait for
minutes, and its output would name the API server.
"""

from pathlib import Path

from kwokctl.errors import KwokctlError, UnavailableError
from kwokctl.host import inotify
from runtimes.engine.client import Engine

_NEEDED = 16
"""Instances that systemd, containerd and the kubelet of a node take; the control plane works without its own."""
_REFUSAL = "too many open files"
"""The text of EMFILE (inotify_init(2)), which programs write about it."""


def demand_instances(engine: Engine, root: Path = Path("/")) -> None:
    """Raise UnavailableError if the kernel would refuse the programs of one node, as far as this user sees."""
    now = inotify.limits(root)
    if engine.endpoint.shares_this_kernel and now.instances and now.left < _NEEDED:
        raise UnavailableError(
            f"a node of kind takes {_NEEDED} inotify instances to start, and only {max(now.left, 0)} are available "
            f"({inotify.SETTING}instances={now.instances})",
            hint=f"raise the limit: '{inotify.remedy('instances')}'; or stop other clusters",
        )


def explained(error: KwokctlError) -> UnavailableError | None:
    """Return an error with the remedy if a node's programs have written that they had too few."""
    if _REFUSAL not in (error.detail or ""):
        return None
    return UnavailableError(
        f"{error}: programs of its node may watch too few files",
        hint=f"raise the limit: '{inotify.remedy('instances')}', then repeat the command",
        detail=error.detail,
    )

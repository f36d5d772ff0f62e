"""Handles clusters that the original kwokctl has made in the same folder."""

import os
import signal
from pathlib import Path

import msgspec

from kwokctl.errors import ConflictError
from kwokctl.expr import yaml
from kwokctl.host.paths import ClusterPaths
from kwokctl.host.platforms import is_linux
from kwokctl.model import ClusterName


async def take_down(paths: ClusterPaths, name: ClusterName, *, force: bool) -> None:
    """Stop the processes of an original's cluster of the binary runtime, as it does itself.

    Raises ConflictError without `force`, and for a cluster in containers or on another platform than
    Linux, which only the original knows how to remove.
    """
    if not force:
        raise ConflictError(
            f"the cluster '{name}' was made by the original kwokctl",
            hint=f"delete it with that program, or with: kwokctl delete cluster --force --name {name}",
        )
    runtime = original(paths.saved).runtime
    if runtime != "binary" or not is_linux():
        raise ConflictError(
            f"the cluster '{name}' was made by the original kwokctl on the runtime '{runtime}'",
            hint="delete it with that program",
        )
    for file in paths.pids.glob("*.pid"):
        _kill(file, paths.root)


class Original(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster of the original, as its state file describes it; fields that the file lacks are empty."""

    runtime: str
    kube_version: str
    maker_version: str


def original(saved: Path) -> Original:
    """Read the file in which the original keeps a cluster's state."""
    head = yaml.load_all(saved.read_text(encoding="utf-8"))[0]
    options, status = head.get("options") or {}, head.get("status") or {}
    return Original(
        runtime=str(options.get("runtime", "")),
        kube_version=str(options.get("kubeVersion", "")),
        maker_version=str(status.get("version", "")),
    )


def _kill(pid_file: Path, root: Path) -> None:
    """Kill the process of a pid file if it still is one of this cluster's.

    The original records a bare number, so the process must show the cluster's folder, as its
    working directory or in its arguments, before it is believed to be the one.
    """
    text = pid_file.read_text(encoding="ascii", errors="replace").strip()
    if not text.isdigit():
        return
    proc = Path("/proc") / text
    try:
        descriptor = os.pidfd_open(int(text))
    except OSError:
        return
    try:
        words = (proc / "cmdline").read_bytes()
        if (proc / "cwd").resolve() == root.resolve() or os.fsencode(root) in words:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except OSError:
        return
    finally:
        os.close(descriptor)

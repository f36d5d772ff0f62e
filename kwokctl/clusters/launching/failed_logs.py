"""Keeps the log of a component that has ended while a cluster was created, when all else is removed."""

import asyncio
from contextlib import suppress

from kwokctl.errors import ComponentError
from kwokctl.host.files import write_atomic
from kwokctl.host.paths import WorkDir
from kwokctl.model import ClusterName, ComponentName
from kwokctl.runtime import Runtime

_IF_NOT_KEPT = "to keep its whole log, repeat this with --keep-on-failure"


async def log_of(runtime: Runtime, cluster: ClusterName, error: BaseException) -> bytes:
    """Return the whole log of the component that an error is about; empty if it is about none."""
    if not (isinstance(error, ComponentError) and error.component):
        return b""
    name = ComponentName(error.component)
    with suppress(OSError):
        return b"".join([part async for part in runtime.logs(cluster, name)])
    return b""


async def keep_log(
    workdir: WorkDir, cluster: ClusterName, error: BaseException, log: bytes
) -> None:
    """Write such a log to where its cluster is not, and let the hint of the error name the file."""
    if not (isinstance(error, ComponentError) and error.component):
        return
    where = _IF_NOT_KEPT
    if log:
        path = workdir.failed_log(cluster, error.component)
        # The disk may be full still.
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            await asyncio.to_thread(write_atomic, path, log, mode=0o600)
            where = f"its whole log: {path}"
    error.hint = "; ".join(filter(None, (error.remedy, where)))


def forget_failed_logs(workdir: WorkDir, cluster: ClusterName) -> None:
    """Remove what is kept of former failures of a cluster."""
    for path in workdir.failed.glob(f"{cluster}.*.log"):
        path.unlink(missing_ok=True)
    with suppress(OSError):
        workdir.failed.rmdir()

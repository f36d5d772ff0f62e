"""Locks a kubeconfig, so that kubectl and kwokctl do not change it at the same time.

As in client-go it is a file beside the kubeconfig, `<file>.lock`, that exists while a program
changes it. Those of kwokctl name their process, so one left by a kwokctl that was killed is removed.
"""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path

from kwokctl.errors import BusyError

_WAIT = 30.0
"""Seconds: a lock is held for milliseconds, and one whose process is gone is taken away at once."""
_POLL = 0.02


@contextlib.asynccontextmanager
async def locked(kubeconfig: Path, *, wait: float = _WAIT) -> AsyncIterator[None]:
    """Hold the lock of a kubeconfig; BusyError after `wait` seconds."""
    lock = Path(f"{kubeconfig}.lock")
    deadline = time.monotonic() + wait
    while not _take(lock):
        if _clear_away(lock):
            continue
        if time.monotonic() >= deadline:
            raise BusyError(
                f"another program is changing the kubeconfig '{kubeconfig}'",
                hint=f"if there is none, remove '{lock}' and repeat",
            )
        await asyncio.sleep(_POLL)
    try:
        yield
    finally:
        _release(lock)


def _take(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    try:
        # On a full disk the lock is held nevertheless.
        with contextlib.suppress(OSError):
            os.write(descriptor, f"{_signature()} {os.getpid()}".encode())
    finally:
        os.close(descriptor)
    return True


def _release(lock: Path) -> None:
    lock.unlink(missing_ok=True)


def _signature() -> str:
    return f"kwokctl on {socket.gethostname()}, process"


def _clear_away(lock: Path) -> bool:
    """Remove a lock of a kwokctl that is dead.

    Another process may do the same just now and take the lock: so it is moved aside, which only
    one can do, and moved back if it turns out to be a new one.
    """
    if not _is_abandoned(lock):
        return False
    aside = lock.with_name(f"{lock.name}.{os.getpid()}")
    try:
        lock.rename(aside)
    except FileNotFoundError:
        return True
    if not _is_abandoned(aside):
        with contextlib.suppress(FileExistsError):
            os.link(aside, lock)
    aside.unlink()
    return True


def _is_abandoned(lock: Path) -> bool:
    try:
        owner, _, pid = lock.read_text(encoding="utf-8", errors="replace").rpartition(" ")
    except FileNotFoundError:
        return False
    if owner != _signature() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False

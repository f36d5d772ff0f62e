"""Locks files that are open; the kernel releases a lock when its process ends (flock(2))."""

from kwokctl.errors import UnavailableError
from kwokctl.host.platforms import platform_name, way

try:
    import fcntl
except ImportError:  # as on Windows
    HAS_LOCKS = False
else:
    HAS_LOCKS = True


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock a file that is open, if no other process holds it, and return whether it is locked.

    Raises UnavailableError where there are no such locks.
    """
    _check()
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock(descriptor: int, *, shared: bool = False) -> None:
    """Lock a file that is open as soon as no other process holds it; `shared`, none alone."""
    _check()
    fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def _check() -> None:
    if not HAS_LOCKS:
        raise UnavailableError(
            f"clusters and programs are kept under locks that {platform_name()} does not have",
            hint=way(),
        )

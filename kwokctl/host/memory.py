"""Reads this machine's memory, returns free memory to it, and limits a user's expressions.

An expression can ask for more memory and time than any machine has, in a few characters. Python
itself cannot stop that; the limits are the kernel's.
"""

import gc
import mmap
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from kwokctl.host.platforms import is_linux

_LIMITS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")
"""The files with a container's limit: of cgroup v2, and of v1."""
MEMORY = 1 << 30
SECONDS = 3.0


def machine_memory(root: Path = Path("/")) -> int:
    """Return the bytes of the machine, or of the container if that has fewer; 0 if unknown."""
    found = [_of_machine(root, "MemTotal"), *(_limit(root / file) for file in _LIMITS)]
    return min((size for size in found if size), default=0)


def available_memory(root: Path = Path("/")) -> int:
    """Return the bytes that programs may take now without others being moved out; 0 if unknown."""
    whole, now = machine_memory(root), _of_machine(root, "MemAvailable")
    return min(whole, now) if whole and now else whole


def _of_machine(root: Path, wanted: str) -> int:
    """Return a line of the kernel's account of memory, in bytes (proc_meminfo(5))."""
    for line in _text(root / "proc/meminfo").splitlines():
        name, _, size = line.partition(":")
        if name == wanted:
            return int(size.split()[0]) * 1024
    return 0


def _limit(file: Path) -> int:
    text = _text(file).strip()
    return int(text) if text.isdigit() else 0


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except OSError:
        return ""


def give_back() -> None:
    """Return free memory of the heap to the kernel, where the C library can do that.

    It keeps free memory between blocks in use (malloc_trim(3)): a process that makes and frees many
    objects would grow for hours.
    """
    import ctypes  # slow, and only needed by processes that run for long

    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def bounded(*, memory: int = MEMORY, seconds: float = SECONDS) -> Iterator[None]:
    """Raise MemoryError or TimeoutError inside when more is taken.

    Must be entered on the main thread, since it uses a timer's signal. Garbage is not collected
    inside: finalizers of other objects would fail at the limit. Nothing is bounded on other platforms
    than Linux, which do not say how large a process is.
    """
    if not is_linux():
        yield
        return
    import resource  # not on Windows

    collects = gc.isenabled()
    gc.disable()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_least(_size() + memory, before), before[1]))
    handler = signal.signal(signal.SIGVTALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)
        if collects:
            gc.enable()


def _time_is_up(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def _least(wanted: int, before: tuple[int, int]) -> int:
    """Return the limit that is wanted, or a lower one that holds; -1 is none (RLIM_INFINITY)."""
    return min((wanted, *(limit for limit in before if limit >= 0)))


def _size() -> int:
    """Return the bytes of this process's address space (proc(5))."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * mmap.PAGESIZE

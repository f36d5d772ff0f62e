"""Reads this machine's memory, returns free memory to it, and limits a user's expressions.

An expression can ask for more memory and time than any machine has, in a few characters. Python
itself cannot stop that; the limits are the kernel's.
"""

import gc
import mmap
import signal
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from kwokctl.host.cgroups import groups, number, text_of
from kwokctl.host.platforms import is_linux

_GROUPS = (
    ("memory.max", "memory.current", ("inactive_file", "active_file")),
    (
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        ("total_inactive_file", "total_active_file"),
    ),
)
"""The files of a group, of cgroup v2 and of v1: with its limit, and with what it has; and which figures of
`memory.stat` are of contents of files, which the kernel drops when it needs the memory."""
MEMORY = 1 << 30
SECONDS = 3.0


def machine_memory(root: Path = Path("/")) -> int:
    """Return the bytes of the machine, or of the container or session if that has fewer; 0 if unknown."""
    found = [_of_machine(root, "MemTotal"), *(limit for limit, _ in _limits(root))]
    return min((size for size in found if size), default=0)


def is_limited(root: Path = Path("/")) -> bool:
    """Return whether a container or session has less memory than the machine."""
    return machine_memory(root) < _of_machine(root, "MemTotal")


def available_memory(root: Path = Path("/")) -> int:
    """Return the bytes that programs may take now without others being moved out; 0 if unknown."""
    whole, now = machine_memory(root), _of_machine(root, "MemAvailable")
    left = [max(limit - taken, 1) for limit, taken in _limits(root)]
    return min((size for size in (whole, now, *left) if size), default=0)


def _of_machine(root: Path, wanted: str) -> int:
    """Return a line of the kernel's account of memory, in bytes (proc_meminfo(5))."""
    for line in text_of(root / "proc/meminfo").splitlines():
        name, _, size = line.partition(":")
        if name == wanted:
            return int(size.split()[0]) * 1024
    return 0


def _limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield the limit of each group of this process, and what the group has of it."""
    for group in groups("memory", root):
        for limit, usage, files in _GROUPS:
            if most := number(group / limit):
                yield most, (number(group / usage) or 0) - _dropped(group, files)


def _dropped(group: Path, wanted: Collection[str]) -> int:
    lines = map(str.split, text_of(group / "memory.stat").splitlines())
    return sum(int(words[1]) for words in lines if words[0] in wanted)


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

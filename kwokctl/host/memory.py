"""Reads this machine's memory, and returns free memory to it."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from kwokctl.host.cgroups import groups, number, text_of

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


def oom_kills(root: Path = Path("/")) -> int:
    """Return how many processes the kernel has killed since boot because there was no memory left (proc_vmstat(5))."""
    lines = map(str.split, text_of(root / "proc/vmstat").splitlines())
    return next((int(words[1]) for words in lines if words[0] == "oom_kill"), 0)


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

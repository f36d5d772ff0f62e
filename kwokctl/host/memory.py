"""How much memory this machine lets us have, and how it gets back what we do not need."""

from contextlib import suppress
from pathlib import Path

_LIMITS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where a container's limit stands: in the second version of control groups, and in the first."""


def machine_memory(root: Path = Path("/")) -> int:
    """Return the bytes of the machine, or of the container if that has fewer; 0 if neither is told."""
    found = [_installed(root), *(_limit(root / file) for file in _LIMITS)]
    return min((size for size in found if size), default=0)


def give_back() -> None:
    """Give the machine back what lies free between what is used, where the C library can do that.

    It keeps such gaps (malloc_trim(3)): a process in which objects come and go would grow for hours.
    """
    import ctypes  # noqa: PLC0415 - most commands live too short to need it

    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _installed(root: Path) -> int:
    for line in _text(root / "proc/meminfo").splitlines():
        name, _, size = line.partition(":")
        if name == "MemTotal":
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

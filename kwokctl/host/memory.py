"""How much memory this machine lets us have."""

from pathlib import Path

_LIMITS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where a container's limit stands: in the second version of control groups, and in the first."""


def machine_memory(root: Path = Path("/")) -> int:
    """Return the bytes of the machine, or of the container if that has fewer; 0 if neither is told."""
    found = [_installed(root), *(_limit(root / file) for file in _LIMITS)]
    return min((size for size in found if size), default=0)


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

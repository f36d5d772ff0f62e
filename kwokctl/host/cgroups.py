"""Finds the control groups that this process is in, whose limits hold for what it starts, too.

In a container the kernel shows its group as the top of the hierarchy. A service or a session is further down,
and the limit may be one of any group above it (cgroups(7)).
"""

from collections.abc import Iterator
from pathlib import Path

_TOP = "sys/fs/cgroup"
_UNNAMED = ""
"""The name that the kernel writes in place of controllers for cgroup v2."""


def groups(controller: str, root: Path = Path("/")) -> Iterator[Path]:
    """Yield the folder of this process's group and those of the groups above it, of cgroup v2 and of v1."""
    for top, name in (root / _TOP, _UNNAMED), (root / _TOP / controller, controller):
        own = top / _path(name, root).lstrip("/")
        above = (each for each in (own, *own.parents) if each.is_relative_to(top))
        # A container of v1 may see the path that its group has outside, which is not there inside.
        yield from filter(Path.is_dir, above)


def _path(name: str, root: Path) -> str:
    for line in text_of(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        # The path of a process outside of what this one may see begins with '/..'.
        if name in controllers.split(",") and ".." not in path:
            return path
    return ""


def number(file: Path) -> int | None:
    """Return the number that a file of the kernel holds; None if there is none, as without a limit."""
    text = text_of(file).strip()
    return int(text) if text.isdigit() else None


def text_of(file: Path) -> str:
    """Return the text of a file of the kernel; empty if it cannot be read."""
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""

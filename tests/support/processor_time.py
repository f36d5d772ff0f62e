"""How much processor time each lane takes.

A control group counts every process of a lane, also servers that outlive the process that has started them. Where no
group can be made, only those count that a parent has waited for.
"""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from kwokctl.host.cgroups import groups

_MEMBERS = "cgroup.procs"
_HIERARCHIES = (Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup"))
"""Where the control groups begin, of cgroup v1 and of v2."""
_OF_ENGINES = ("docker", "libpod_parent")
"""Groups of the containers that engines run: they are beside those of the lanes."""


@dataclass(frozen=True, slots=True)
class Groups:
    """A control group for each lane, below one of this run."""

    folder: Path
    containers_before: float

    def entered(self, lane: str, command: Sequence[str]) -> Sequence[str]:
        """Make the group of a lane, and return the words that run a command in it."""
        own = self._of(lane)
        own.mkdir()
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(own / _MEMBERS), *command]

    def seconds(self, lane: str) -> float:
        """Return how much processor time a lane has taken; 0 before it begins."""
        return _seconds(self._of(lane))

    def of_containers(self) -> float:
        """Return how much the containers of all engines have taken since this run began."""
        return _of_containers() - self.containers_before

    def _of(self, lane: str) -> Path:
        return self.folder / lane.replace(" ", "-")


@contextmanager
def counted(root: Path = Path("/")) -> Iterator[Groups | None]:
    """Have a control group for each lane meanwhile; yield None where none can be made."""
    folder = next(filter(_is_made, _candidates(root)), None)
    try:
        yield Groups(folder, _of_containers()) if folder else None
    finally:
        if folder:
            _remove(folder)


def _candidates(root: Path) -> Iterator[Path]:
    name = f"kwokctl-lanes-{uuid4().hex[:8]}"
    return (above / name for above in groups("cpuacct", root) if (above / _MEMBERS).exists())


def _is_made(folder: Path) -> bool:
    """Make a group; return False, and leave none, where no process may enter it."""
    try:
        folder.mkdir()
    except OSError:
        return False
    enter = ["sh", "-c", 'echo $$ > "$0"', str(folder / _MEMBERS)]
    if subprocess.run(enter, capture_output=True, check=False).returncode == 0:
        return True
    folder.rmdir()
    return False


def _remove(folder: Path) -> None:
    """Remove the groups of a run; a process that is left in one goes on in the group above."""
    for group in (*filter(Path.is_dir, folder.iterdir()), folder):
        for process in (group / _MEMBERS).read_text(encoding="ascii").split():
            with suppress(OSError):  # it has ended meanwhile
                (folder.parent / _MEMBERS).write_text(process, encoding="ascii")
        with suppress(OSError):
            group.rmdir()


def _of_containers() -> float:
    return sum(_seconds(top / name) for top in _HIERARCHIES for name in _OF_ENGINES)


def _seconds(group: Path) -> float:
    """Return the processor time of a group and of those below it; 0 if there is no such group."""
    for file, unit in (("cpuacct.usage", 1e9), ("cpu.stat", 1e6)):
        with suppress(FileNotFoundError):
            # The one file is a number, the other begins with `usage_usec` and a number.
            text = (group / file).read_text(encoding="ascii")
            return int(text.splitlines()[0].split()[-1]) / unit
    return 0.0

"""The machine that the checks of `doctor` examine."""

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.config.options import ClusterOptions


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The machine, as a new cluster would find it."""

    home: Home
    options: ClusterOptions
    """Those that `create cluster` would begin with."""
    root: Path = Path("/")
    """The root of the kernel's files."""
    wall: Callable[[], float] = time.time  # noqa: TID251 - the clock itself: tests pass another
    asks_sites: bool = False
    """Whether sites on other machines may be asked."""

    @property
    def folders(self) -> dict[str, Path]:
        """The folders that clusters need, each by the variable that chooses it."""
        return {"KWOK_WORKDIR": self.home.workdir.root, "XDG_CACHE_HOME": self.home.cache}

    def number(self, file: str) -> int:
        """Return the number that a file of the kernel holds; 0 if there is none."""
        words = self.text(file).split()
        return int(words[0]) if words and words[0].isdigit() else 0

    def text(self, file: str) -> str:
        """Return the text of a file of the kernel; empty if it cannot be read."""
        try:
            return (self.root / file).read_text(encoding="ascii", errors="replace")
        except OSError:
            return ""


def existing(folder: Path) -> Path:
    """Return a folder, or the one in which it would be made."""
    return next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())

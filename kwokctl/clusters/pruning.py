"""Takes out of the cache folder what neither clusters nor processes need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kwokctl.artifacts import maintenance
from kwokctl.artifacts.maintenance import Unused
from kwokctl.clusters.programs.store_users import store_users
from kwokctl.clusters.state.home import Home


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What can be removed, and what stays."""

    unused: tuple[Unused, ...]
    kept: Mapping[str, Sequence[str]]
    """The programs that stay, by the reason why."""

    @property
    def size(self) -> int:
        """How many bytes removing it all would free."""
        return sum(each.size for each in self.unused)


def survey(home: Home, *, everything: bool) -> Survey:
    """Find what can be removed; `everything` includes what is in use.

    Raises ConfigError when it is unknown what the clusters of a work folder use.
    """
    users = {} if everything else store_users(home)
    kept: dict[str, list[str]] = {}
    for entry in maintenance.entries(home.cache):
        if reason := users.get(entry.path):
            kept.setdefault(reason, []).append(f"{entry.name} {entry.version}")
    return Survey(unused=tuple(maintenance.unused(home.cache, keep=users)), kept=kept)


def prune(home: Home, shown: Survey, *, everything: bool) -> int:
    """Remove what was shown, unless it has come into use since; return how many bytes that frees."""
    still = survey(home, everything=everything).unused
    paths = {each.path for each in still}
    return maintenance.prune(home.cache, [each for each in shown.unused if each.path in paths])

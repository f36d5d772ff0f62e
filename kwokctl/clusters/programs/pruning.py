"""Removes from the cache folder what neither clusters nor processes use."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from kwokctl.artifacts import store_maintenance
from kwokctl.artifacts.locations import Order, place
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.artifacts.store import Entry
from kwokctl.artifacts.store_maintenance import Unused
from kwokctl.artifacts.workdirs import remembered
from kwokctl.clusters.programs.needed import TOOLS, has_file, prefixes, wanted_program
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, is_foreign, load
from kwokctl.errors import ConfigError, KwokctlError
from kwokctl.host.paths import WorkDir
from kwokctl.model import ClusterName
from kwokctl.runtime import BringsKubernetes

RECENTLY = 24 * 3600.0
"""Seconds for which a program that was used is kept, whether or not a user of it is found: a
cluster may be about to be made, or an older kwokctl may have made one in a folder of its own."""
_PROC = Path("/proc")


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """The files that can be removed, and those that stay."""

    unused: tuple[Unused, ...]
    kept: Mapping[str, Sequence[str]]
    """The programs that stay, by the reason why."""

    @property
    def size(self) -> int:
        """The bytes that removing all of it would free."""
        return sum(each.size for each in self.unused)


def survey(home: Home, *, everything: bool) -> Survey:
    """Find what can be removed; `everything` includes what is in use.

    Raises ConfigError when it is unknown what the clusters of a work folder use.
    """
    users = {} if everything else store_users(home)
    kept: dict[str, list[str]] = {}
    for entry in store_maintenance.entries(home.cache):
        if reason := users.get(entry.path):
            kept.setdefault(reason, []).append(f"{entry.name} {entry.version}")
    return Survey(unused=tuple(store_maintenance.unused(home.cache, keep=users)), kept=kept)


def prune(home: Home, shown: Survey, *, everything: bool) -> int:
    """Remove what was shown, unless it has come into use since; return how many bytes that frees."""
    still = survey(home, everything=everything).unused
    paths = {each.path for each in still}
    return store_maintenance.prune(
        home.cache, [each for each in shown.unused if each.path in paths]
    )


def store_users(
    home: Home,
    *,
    wall: Callable[[], float] = time.time,  # noqa: TID251 - the clock itself: tests pass another
    proc: Path = _PROC,
) -> dict[Path, str]:
    """Return why each program of the store that may be in use is kept, by its path.

    Raises ConfigError when the clusters of a work folder cannot be read, so that it is unknown
    what they use.
    """
    store = store_of(home.cache, here())
    entries = {(entry.name, entry.version): entry for entry in store.entries()}
    folders: dict[Path, dict[str, None]] = {}
    for workdir in {home.workdir.root: None, **dict.fromkeys(remembered(home.cache))}:
        for saved in _clusters(WorkDir(workdir)):
            for path in _needed(home, saved, entries):
                folders.setdefault(path, {})[f"'{workdir}'"] = None
    found = {path: f"used by clusters in {', '.join(those)}" for path, those in folders.items()}
    for path in _executed(store.root, proc):
        found.setdefault(path, "running now")
    for entry in entries.values():
        if wall() - entry.last_use < RECENTLY:
            found.setdefault(entry.path, "used within the last 24 hours")
    return found


def _clusters(workdir: WorkDir) -> Iterator[Saved]:
    """Yield the clusters of this kwokctl that a work folder has."""
    try:
        # Not a glob: it finds nothing, without a word, in what it may not read.
        folders = list(workdir.clusters.iterdir()) if workdir.clusters.is_dir() else []
        for name in (ClusterName(folder.name) for folder in folders):
            paths = workdir.cluster(name)
            if paths.saved.is_file() and not is_foreign(paths):
                yield load(paths, name)
    except OSError as e:
        raise ConfigError(
            f"'{e.filename or workdir.root}' cannot be read ({e.strerror}), so it is unknown which "
            "programs its clusters use",
            hint="run this as the user whose clusters they are",
        ) from e


def _needed(home: Home, saved: Saved, entries: Mapping[tuple[str, str], Entry]) -> Iterator[Path]:
    """Yield the stored programs that a cluster runs, and those with which it is looked after."""
    for artifact in saved.artifacts.values():
        yield from map(Path, artifact.command[:1])
    for name in {*saved.names, *TOOLS, *_maker(home, saved)}:
        if not has_file(saved.options, name):
            continue
        at = place(wanted_program(saved.options, name), here(), prefixes(saved.options))
        if isinstance(at, Order) and (entry := entries.get((at.name, at.key))):
            yield entry.path


def _maker(home: Home, saved: Saved) -> tuple[str, ...]:
    """Name the program that makes the nodes of a cluster, if its runtime has one."""
    with suppress(KwokctlError):
        runtime = home.runtime(saved.options.runtime)
        if isinstance(runtime, BringsKubernetes):
            return (runtime.maker,)
    return ()


def _executed(root: Path, proc: Path) -> Iterator[Path]:
    """Yield the programs below a folder that processes of this machine execute.

    Those of other users are visible to root only.
    """
    real = root.resolve()
    for link in proc.glob("[0-9]*/exe"):
        with suppress(OSError):
            program = link.readlink()
            if program.is_relative_to(real):
                yield root / program.relative_to(real)

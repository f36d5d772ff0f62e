"""Lists, verifies and repairs the store, fills it by building, and finds what is unused."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import msgspec

from kwokctl.artifacts import versions
from kwokctl.artifacts.build_lock import lock_file
from kwokctl.artifacts.locations import GIVEN
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.programs import (
    ETCD,
    FOR_NODES,
    KIND,
    METRICS_SERVER,
    ON_REQUEST,
    PROGRAMS,
    PROMETHEUS,
    named,
)
from kwokctl.artifacts.resolve_programs import ArtifactSource, WantedProgram, resolve, store_of
from kwokctl.artifacts.store import Entry, digest
from kwokctl.artifacts.workdirs import forget_removed
from kwokctl.errors import ArtifactError, BusyError
from kwokctl.host.files import remove_tree
from kwokctl.host.noted_locks import locked
from kwokctl.model import Artifact
from kwokctl.progress import Progress

_USUAL = tuple(name for name in PROGRAMS if name not in FOR_NODES | ON_REQUEST)


class Unused(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that can be removed."""

    path: Path
    size: int
    """In bytes."""


class DamagedProgramsError(ArtifactError):
    """Programs have changed since they were stored."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        super().__init__(
            "a program has changed since it was stored"
            if len(entries) == 1
            else f"{len(entries)} programs have changed since they were stored",
            hint="'kwokctl artifacts verify --repair' replaces them",
            detail="\n".join(str(entry.path) for entry in entries),
        )
        self.entries = tuple(entries)


def entries(cache: Path) -> list[Entry]:
    """Return all programs in the store, by name and version."""
    return list(store_of(cache, here()).entries())


def verify(cache: Path, progress: Progress) -> None:
    """Read every program in the store in full; DamagedProgramsError if any is not what was stored."""
    stored = entries(cache)
    bad = []
    with progress.step("Verifying the store", total=sum(e.size for e in stored), unit="B") as step:
        for entry in stored:
            step.say(f"{entry.name} {entry.version}")
            if digest(entry.path) != entry.sha256:
                bad.append(entry)
            step.advance(entry.size)
        if bad:
            raise DamagedProgramsError(bad)


async def repair(
    damaged: Sequence[Entry], *, source: ArtifactSource, cache: Path, progress: Progress
) -> None:
    """Get programs again whose content has changed; a damaged one is removed first.

    Raises ArtifactError for those that cannot be fetched or built again: they are missing from then on, as a
    damaged one is not used either.
    """
    store = store_of(cache, here())
    lost = [entry for entry in damaged if GIVEN in entry.version]
    again = [entry for entry in damaged if entry not in lost]
    for entry in again:
        store.remove(entry)
    wanted = [WantedProgram(name=entry.name, version=entry.version) for entry in again]
    for _, same in groupby(wanted, key=lambda one: (named(one.name).group.name, one.version)):
        await resolve(list(same), source=source, cache=cache, progress=progress)
    if lost:
        raise ArtifactError(
            "only the options that named their addresses can get these programs again",
            hint="remove their folders, then repeat the command that fetched them",
            detail="\n".join(f"{entry.path}, from {entry.origin}" for entry in lost),
        )


def wanted(kube: str, names: Collection[str] = _USUAL, *, etcd: str = "") -> list[WantedProgram]:
    """Return what a cluster of a Kubernetes version needs: those of `names`, in our versions.

    `etcd` is its version, where that does not follow from the one of Kubernetes.
    """
    kube = versions.kube_version(kube)
    of_group = {
        ETCD: versions.etcd_release(etcd or versions.etcd_version(kube)),
        KIND: versions.DEFAULT_KIND_VERSION,
        METRICS_SERVER: versions.DEFAULT_METRICS_SERVER_VERSION,
        PROMETHEUS: versions.DEFAULT_PROMETHEUS_VERSION,
    }
    return [
        WantedProgram(name=name, version=of_group.get(PROGRAMS[name].group, kube)) for name in names
    ]


def missing(kube: str, cache: Path, *, etcd: str = "") -> list[WantedProgram]:
    """Return the programs for a Kubernetes version that are not in the store."""
    store = store_of(cache, here())
    return [each for each in wanted(kube, etcd=etcd) if not store.seen(each.name, each.version)]


async def build(
    kube: str, *, etcd: str = "", cache: Path, progress: Progress
) -> dict[str, Artifact]:
    """Put all programs for a Kubernetes version into the store, building those that are missing."""
    needed = wanted(kube, etcd=etcd)
    return await resolve(needed, source=ArtifactSource.BUILD, cache=cache, progress=progress)


def unused(cache: Path, *, keep: Collection[Path] = ()) -> list[Unused]:
    """List all programs but those in `keep`, and the remains of killed runs.

    What another process is fetching or building now is not in the list.
    """
    store = store_of(cache, here())
    found = [e.path.parent for e in store.entries() if e.path not in keep]
    found += store.broken()
    busy = False
    for folder in [*_children(cache / "tmp"), *_children(cache / "go")]:
        with _unclaimed(cache, folder) as free:
            busy |= not free
            # A build that is under way may use a toolchain.
            if free and not (busy and folder.parent.name == "go"):
                found.append(folder)
    return [Unused(path=folder, size=_size(folder)) for folder in found]


def prune(cache: Path, chosen: Collection[Unused]) -> int:
    """Remove what `unused` has listed, and return how many bytes are free again.

    Programs that run keep running. What another process has begun to work in meanwhile stays.
    """
    still = {each.path for each in unused(cache)}
    going = [each for each in chosen if each.path in still]
    for each in going:
        remove_tree(each.path)
    forget_removed(cache)
    return sum(each.size for each in going)


@contextmanager
def _unclaimed(cache: Path, folder: Path) -> Iterator[bool]:
    """Hold the lock of a working folder; false if another process holds it."""
    try:
        with locked(lock_file(cache, folder.name), what=f"'{folder}'"):
            yield True
    except BusyError:
        yield False


def _size(folder: Path) -> int:
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir())


def _children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []

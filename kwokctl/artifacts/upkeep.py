"""What can be asked of the store as a whole: list, verify, prune, and fill it by building."""

import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kwokctl.artifacts import versions
from kwokctl.artifacts.programs import ETCD, FOR_NODES, KIND, PROGRAMS
from kwokctl.artifacts.resolve import Source, Wanted, resolve, store_of
from kwokctl.artifacts.store import Entry, digest
from kwokctl.artifacts.target import here
from kwokctl.artifacts.turns import lock_file
from kwokctl.errors import BusyError
from kwokctl.host.files import locked
from kwokctl.model import Artifact
from kwokctl.progress import Progress

_USUAL = tuple(name for name in PROGRAMS if name not in FOR_NODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What has been removed."""

    paths: tuple[Path, ...]
    size: int
    """In bytes."""


def entries(cache: Path) -> list[Entry]:
    """Return all programs in the store, by name and version."""
    return list(store_of(cache, here()).entries())


def verify(cache: Path, progress: Progress) -> list[Entry]:
    """Read every program in the store in full and return those that are not what was stored."""
    stored = entries(cache)
    bad = []
    with progress.step("Verifying the store", total=sum(e.size for e in stored), unit="B") as step:
        for entry in stored:
            step.say(f"{entry.name} {entry.version}")
            if digest(entry.path) != entry.sha256:
                bad.append(entry)
            step.advance(entry.size)
    return bad


def wanted(kube: str, names: Collection[str] = _USUAL) -> list[Wanted]:
    """Return what a cluster of a Kubernetes version needs: those of `names`, in our versions."""
    kube = versions.kube_version(kube)
    of_group = {ETCD: versions.etcd_version(kube), KIND: versions.DEFAULT_KIND_VERSION}
    return [Wanted(name=name, version=of_group.get(PROGRAMS[name].group, kube)) for name in names]


async def build(kube: str, *, cache: Path, progress: Progress) -> dict[str, Artifact]:
    """Put all programs for a Kubernetes version into the store, building those that are missing."""
    return await resolve(wanted(kube), source=Source.BUILD, cache=cache, progress=progress)


def prune(cache: Path, *, keep: Collection[tuple[str, str]] = ()) -> Pruned:
    """Remove all that is not in `keep`, names with versions, and what dead runs have left.

    Programs that run keep running. What somebody is getting right now is left alone.
    """
    store = store_of(cache, here())
    removed = [e.path.parent for e in store.entries() if (e.name, e.version) not in keep]
    removed += store.broken()
    size = sum(map(_remove, removed))
    busy = False
    for folder in [*_children(cache / "tmp"), *_children(cache / "go")]:
        with _unclaimed(cache, folder) as free:
            busy |= not free
            # A build that is under way may use a toolchain.
            if free and not (busy and folder.parent.name == "go"):
                size += _remove(folder)
                removed.append(folder)
    return Pruned(paths=tuple(removed), size=size)


@contextmanager
def _unclaimed(cache: Path, folder: Path) -> Iterator[bool]:
    """Hold the lock of a working folder; false if somebody else holds it."""
    try:
        with locked(lock_file(cache, folder.name), what=f"'{folder}'"):
            yield True
    except BusyError:
        yield False


def _remove(folder: Path) -> int:
    size = sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir())
    shutil.rmtree(folder)
    return size


def _children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []

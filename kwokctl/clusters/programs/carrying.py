"""Prepares machines without a network: everything for clusters in a folder, and back out of it.

The folder holds a store of programs, as the cache folder does, and a file of images for each runtime
that starts components from some.
"""

import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from kwokctl.artifacts.locations import Order, WantedProgram, place
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import resolve, store_of
from kwokctl.artifacts.store import Entry, ProgramStore, changed, digest
from kwokctl.clusters.programs.image_transfer import load_images, stock_images
from kwokctl.clusters.programs.needed import (
    TOOLS,
    components,
    given_program,
    is_embedded,
    manifest_names,
    prefixes,
    source_of,
    version_of,
)
from kwokctl.clusters.state.home import Home
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError
from kwokctl.host.files import scratch_folder
from kwokctl.host.noted_locks import locked
from kwokctl.progress import Progress
from kwokctl.replacing import replace
from kwokctl.runtime import BringsKubernetes, RunsImages, Runtime

_IMAGES = "images-"
_FILE = ".tar"


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """The programs and images in a folder for another machine, or those that were copied out of it."""

    folder: Path | None
    programs: tuple[str, ...]
    """Name and version."""
    images: tuple[str, ...]


async def fetch(home: Home, options: ClusterOptions) -> list[Entry]:
    """Get the programs of the clusters that the options describe into the store; return them.

    Those that are given by path are left where they are.
    """
    wanted = _wanted(home, options)
    source, mirrors = source_of(options.programs.source), prefixes(options)
    await resolve(wanted, source=source, cache=home.cache, progress=home.progress, prefixes=mirrors)
    store = store_of(home.cache, here())
    places = [place(each, here(), mirrors) for each in wanted]
    keys = [(each.name, each.key) for each in places if isinstance(each, Order)]
    for each in places:
        if not isinstance(each, Order):
            home.progress.warn(f"'{each.value}', given for {each.name}, is not copied")
    found = [store.find(name, key) for name, key in keys]
    return [entry for entry in found if entry is not None]


def missing(home: Home, options: ClusterOptions) -> tuple[str, ...]:
    """Name the programs, with versions, that `fetch` would download or build."""
    store, mirrors = store_of(home.cache, here()), prefixes(options)
    places = [place(each, here(), mirrors) for each in _wanted(home, options)]
    orders = [each for each in places if isinstance(each, Order)]
    return tuple(f"{o.name} {o.version}" for o in orders if not store.seen(o.name, o.key))


async def carry(
    home: Home, options: ClusterOptions, folder: Path, *, is_exact: bool = False
) -> Carried:
    """Write the programs and images of the clusters that the options describe into a folder.

    `is_exact` says that the user chose the version of Kubernetes.
    """
    components(options)
    runtime = _runtime(home, options)
    options = _on(options, runtime.name)
    await runtime.check()
    entries = await fetch(home, options)
    with locked(folder / "lock", what=f"'{folder}'"):
        copy_entries(entries, _store(folder), scratch=folder / "tmp", progress=home.progress)
        images: Sequence[str] = ()
        if isinstance(runtime, RunsImages | BringsKubernetes):
            file = folder / f"{_IMAGES}{options.runtime}{_FILE}"
            images = await stock_images(home, options, file, is_exact=is_exact)
    return Carried(folder=folder, programs=titles(entries), images=tuple(images))


async def take_in(home: Home, options: ClusterOptions, folder: Path) -> Carried:
    """Copy what `carry` has written into this user's store and container engines.

    Raises UsageError for a folder that holds nothing for this machine, ArtifactError for a program
    that has changed on the way.
    """
    entries, files = _content(folder)
    store = store_of(home.cache, here())
    scratch = home.cache / "tmp" / "carried"
    with locked(home.cache / "locks" / "carried.lock", what=f"'{home.cache}'"):
        copied = copy_entries(entries, store, scratch=scratch, progress=home.progress)
    images: list[str] = []
    for file in files:
        runtime = file.name.removeprefix(_IMAGES).removesuffix(_FILE)
        images += await load_images(home, _on(options, runtime), file)
    return Carried(folder=folder, programs=titles(copied), images=tuple(images))


def carried_in(folder: Path) -> Carried:
    """Return what `take_in` would copy, with the files of images; UsageError as there."""
    entries, files = _content(folder)
    return Carried(
        folder=folder, programs=titles(entries), images=tuple(file.name for file in files)
    )


def _content(folder: Path) -> tuple[list[Entry], list[Path]]:
    """Return the programs and the files of images in a folder."""
    entries = list(_store(folder).entries())
    files = sorted(folder.glob(f"{_IMAGES}*{_FILE}"))
    if entries or files:
        return entries, files
    raise UsageError(
        f"'{folder}' holds no programs for {here()}",
        hint="fill it with 'kwokctl artifacts pull --to DIR' on a machine of the same kind",
    )


def _wanted(home: Home, options: ClusterOptions) -> list[WantedProgram]:
    return [
        WantedProgram(
            name=name,
            version=version_of(options, name),
            explicit=given_program(options, name) or None,
        )
        for name in _names(_runtime(home, options), options)
    ]


def _names(runtime: Runtime, options: ClusterOptions) -> list[str]:
    """Name the programs that a cluster needs in the store: components, tools, what the runtime runs."""
    files = [*manifest_names(options), *TOOLS]
    if isinstance(runtime, RunsImages):
        return files
    own = [name for name in components(options) if not is_embedded(options, name)]
    if isinstance(runtime, BringsKubernetes):
        return [*(name for name in own if name not in runtime.brings), runtime.maker, *files]
    return [*own, *files]


def _runtime(home: Home, options: ClusterOptions) -> Runtime:
    return home.runtime(options.runtime or next(iter(options.runtimes), ""))


def _on(options: ClusterOptions, runtime: str) -> ClusterOptions:
    return replace(options, runtime=runtime)


def _store(folder: Path) -> ProgramStore:
    return store_of(folder, here())


def titles(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Name programs with their versions."""
    return tuple(f"{entry.name} {entry.version}" for entry in entries)


def copy_entries(
    entries: Collection[Entry], target: ProgramStore, *, scratch: Path, progress: Progress
) -> list[Entry]:
    """Copy programs into a store unless it has them; return those that were copied.

    `scratch` is a folder on the file system of the target. Raises ArtifactError for a program that
    is not what its record says: nothing of it gets into the target.
    """
    copied = []
    missing = [entry for entry in entries if not _has(target, entry)]
    with (
        scratch_folder(scratch) as folder,
        progress.step("Copying programs", total=sum(e.size for e in missing), unit="B") as step,
    ):
        for entry in missing:
            step.say(f"{entry.name} {entry.version}")
            copied.append(_copy(entry, target, folder))
            step.advance(entry.size)
    return copied


def _has(target: ProgramStore, entry: Entry) -> bool:
    found = target.find(entry.name, entry.version)
    return found is not None and found.sha256 == entry.sha256


def _copy(entry: Entry, target: ProgramStore, folder: Path) -> Entry:
    file = Path(shutil.copyfile(entry.path, folder / entry.name))
    if digest(file) != entry.sha256:
        raise changed(entry)
    return target.publish(
        file,
        name=entry.name,
        version=entry.version,
        source=entry.source,
        origin=entry.origin,
        checksum=entry.checksum,
    )

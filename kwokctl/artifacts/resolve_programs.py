"""Finds every program that is wanted: given by the user, in the store, downloaded or built."""

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kwokctl.artifacts.build_lock import LockedPlace, in_turn
from kwokctl.artifacts.locations import Local, Order, WantedProgram, local_artifact, place
from kwokctl.artifacts.program_platform import Platform, here
from kwokctl.artifacts.store import ProgramStore
from kwokctl.errors import ArtifactError
from kwokctl.model import Artifact
from kwokctl.progress import Progress

if TYPE_CHECKING:
    from kwokctl.artifacts.downloads.http_failures import Trouble

__all__ = ["ArtifactSource", "WantedProgram", "resolve", "store_of", "stored"]


class ArtifactSource(StrEnum):
    """The sources of programs that the user has not given; the store comes first."""

    AUTO = "auto"
    """Download them, and build those that cannot be downloaded."""
    DOWNLOAD = "download"
    BUILD = "build"
    OFFLINE = "offline"
    """Only what is in the store."""


async def resolve(
    wanted: Sequence[WantedProgram], *, source: ArtifactSource, cache: Path, progress: Progress,
    prefixes: Mapping[str, str] | None = None,
) -> dict[str, Artifact]:  # fmt: skip
    """Return every wanted program, by name, as a command that can be run here.

    `cache` is kwokctl's own cache folder. `prefixes` names, by group (`kubernetes`, `etcd`), an
    address or a folder to take a release's files from in place of the project's own. What the
    user has given by path, address or prefix is used whatever `source` says; only `offline` wants
    what has an address to be in the store. Raises ArtifactError, and UnavailableError on a
    machine that no program runs on.
    """
    target = here()
    store = store_of(cache, target)
    found, missing = await asyncio.to_thread(_look, wanted, target, prefixes, store)
    if missing:
        _check_open(store, missing, to_add=source is not ArtifactSource.OFFLINE)
    if missing and source is ArtifactSource.OFFLINE:
        raise not_stored(missing)
    if missing:
        fetch = _Fetch(source, cache, store, target, progress)
        try:
            found |= await fetch.run(missing)
        except OSError as e:
            raise ArtifactError(
                f"'{e.filename or cache}' cannot be used: {e.strerror or e}",
                hint="free some space or correct the permissions, or choose another cache folder "
                "with XDG_CACHE_HOME",
            ) from e
    return {one.name: found[one.name] for one in wanted}


async def stored(
    wanted: Sequence[WantedProgram], *, cache: Path, prefixes: Mapping[str, str] | None = None
) -> dict[str, Artifact]:
    """Return those of the wanted programs, by name, that are on this machine already."""
    target = here()
    found, _ = await asyncio.to_thread(_look, wanted, target, prefixes, store_of(cache, target))
    return found


def store_of(cache: Path, target: Platform) -> ProgramStore:
    """Return the store in kwokctl's cache folder for one kind of machine."""
    return ProgramStore(cache.absolute() / "store" / str(target))


class _Fetch(msgspec.Struct, frozen=True):
    """Fetches or builds what is not in the store."""

    source: ArtifactSource
    cache: Path
    store: ProgramStore
    target: Platform
    progress: Progress

    async def run(self, orders: Sequence[Order]) -> dict[str, Artifact]:
        """Lock each batch, look again, and get what is still missing."""
        async with AsyncExitStack() as turns:
            places = {}
            for batch, same in _batches(orders):
                turn = in_turn(self.cache, batch, f"fetching {_names(same)}", self.progress)
                places[batch] = await turns.enter_async_context(turn)
            await self._build(await self._download(orders, places), places)
        found, missing = await asyncio.to_thread(_stored, orders, self.store)
        if missing:
            raise not_stored(missing)
        return found

    async def _download(
        self, orders: Sequence[Order], places: Mapping[str, LockedPlace]
    ) -> list[Order]:
        """Download what may be downloaded, and return what has to be built."""
        from kwokctl.artifacts.downloads.download import download  # loads tarfile and zipfile

        troubles: list[Trouble] = []
        for batch, same in _batches(await self._missing(orders)):
            if same[0].part or (self.source is ArtifactSource.BUILD and same[0].official):
                continue
            places[batch].doing(f"downloading {_names(same)}")
            folder = places[batch].folder / "download"
            trouble = await download(same, store=self.store, folder=folder, progress=self.progress)
            if trouble and (self.source is ArtifactSource.DOWNLOAD or not same[0].official):
                raise _not_downloaded(same, trouble)
            if trouble:
                troubles.append(trouble)
        if troubles:
            self.progress.note(f"{_why(troubles)}: building from Go modules instead")
        return await self._missing(orders)

    async def _build(self, orders: Sequence[Order], places: Mapping[str, LockedPlace]) -> None:
        from kwokctl.artifacts.builds.build import Build  # not on the way to a full store
        from kwokctl.artifacts.builds.module_build import ModuleBuild

        builds = [
            (ModuleBuild if same[0].part else Build)(
                orders=same,
                target=self.target,
                cache=self.cache,
                place=places[batch],
                progress=self.progress,
            )
            for batch, same in _batches(orders)
        ]
        # What cannot be built is found out before minutes are spent on the others; of Kubernetes
        # first, which comes last by name, since etcd's version follows from its version.
        for build in reversed(builds):
            build.check_age()
        for build in builds:
            build.place.doing(f"building {_names(build.orders)}")
            await build.run(self.store)

    async def _missing(self, orders: Sequence[Order]) -> list[Order]:
        _, missing = await asyncio.to_thread(_stored, orders, self.store)
        return missing


def _look(
    wanted: Sequence[WantedProgram],
    target: Platform,
    prefixes: Mapping[str, str] | None,
    store: ProgramStore,
) -> tuple[dict[str, Artifact], list[Order]]:
    """Return what is on this machine, and the orders for what is not."""
    places = [place(one, target, prefixes) for one in wanted]
    found, missing = _stored([one for one in places if isinstance(one, Order)], store)
    found |= {one.name: local_artifact(one) for one in places if isinstance(one, Local)}
    return found, missing


def _stored(
    orders: Iterable[Order], store: ProgramStore
) -> tuple[dict[str, Artifact], list[Order]]:
    found, missing = {}, []
    for order in orders:
        if entry := store.find(order.name, order.key):
            command = (str(entry.path),)
            found[order.name] = Artifact(name=order.name, version=order.version, command=command)
        else:
            missing.append(order)
    return found, missing


def _batches(orders: Iterable[Order]) -> Iterator[tuple[str, list[Order]]]:
    """Yield orders that belong together; always in the same order, to prevent deadlocks."""
    by_batch = attrgetter("batch")
    for batch, same in groupby(sorted(orders, key=by_batch), by_batch):
        yield batch, list(same)


def _names(orders: Sequence[Order]) -> str:
    return f"{', '.join(order.name for order in orders)} {orders[0].version}"


def _why(troubles: Iterable["Trouble"]) -> str:
    """Explain what went wrong, naming hosts with the same failure together."""
    hosts: dict[str, dict[str, None]] = {}
    for trouble in troubles:
        hosts.setdefault(trouble.cause, {})[trouble.host] = None
    return "; ".join(f"{' and '.join(names)} {cause}" for cause, names in hosts.items())


def not_stored(orders: Sequence[Order]) -> ArtifactError:
    """Return the error for programs that are not in the store and may not be fetched."""
    names = " and ".join(_names(same) for _, same in _batches(orders))
    return ArtifactError(
        f"{names} are not in the store" if len(orders) > 1 else f"{names} is not in the store",
        hint="run 'kwokctl artifacts build' where there is a network, or give their paths with "
        "the '--…-binary' options",
    )


def _check_open(store: ProgramStore, orders: Sequence[Order], *, to_add: bool) -> None:
    """Raise ArtifactError where this user may not read the store or add to it, before minutes are spent on a program."""
    own = "choose a store of your own with XDG_CACHE_HOME"
    for order in orders:
        if folder := store.closed(order.name, os.R_OK):
            raise ArtifactError(
                f"the store in '{folder}' cannot be read by this user",
                hint=f"its owner gives access with 'chmod -R go+rX {folder}'; or {own}",
            )
        if to_add and (folder := store.closed(order.name, os.W_OK)):
            raise ArtifactError(
                f"{_names([order])} is not in the store, and this user may not write to '{folder}'",
                hint=f"its owner adds what is missing with 'kwokctl artifacts pull'; or {own}",
            )


def _not_downloaded(orders: Sequence[Order], trouble: "Trouble") -> ArtifactError:
    hint = (
        "'--artifact-source build' builds from Go modules"
        if orders[0].official
        else "check the address and the network"
    )
    if trouble.passing:
        hint = f"repeat the command, which continues the downloads; or {hint}"
    return ArtifactError(f"{_names(orders)} cannot be downloaded: {trouble}", hint=hint)
